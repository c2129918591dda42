import { FullPage } from '@portcullis/platform/console/ui/FullPage.tsx'
import { useTitle } from '@portcullis/platform/console/ui/useTitle.ts'
import { Link, useNavigate, useParams, useSearch } from '@tanstack/react-router'
import { AgentDetail } from './AgentDetail.tsx'
import { strings } from './strings.ts'

/** The full page of a host. */
export const AgentPage = () => {
  const { agentId } = useParams({ from: '/inside/agents/$agentId' })
  const { tab } = useSearch({ from: '/inside/agents/$agentId' })
  const navigate = useNavigate()
  useTitle(strings.host)
  return (
    <FullPage title={strings.host} back={<Link to="/agents">{strings.title}</Link>}>
      <AgentDetail
        agentId={agentId}
        tab={tab ?? null}
        setTab={(next) => void navigate({ to: '.', search: { tab: next ?? undefined }, replace: true })}
      />
    </FullPage>
  )
}
