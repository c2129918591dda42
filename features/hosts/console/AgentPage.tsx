import { useRead } from '@portcullis/platform/console/lib/useRead.ts'
import { FullPage } from '@portcullis/platform/console/ui/FullPage.tsx'
import { useTitle } from '@portcullis/platform/console/ui/useTitle.ts'
import { Link, useNavigate, useParams, useSearch } from '@tanstack/react-router'
import { getAgent } from '#features/contract.ts'
import { AgentDetail } from './AgentDetail.tsx'
import { strings } from './strings.ts'

/** The full page of a host. */
export const AgentPage = () => {
  const { agentId } = useParams({ from: '/inside/agents/$agentId' })
  const { tab } = useSearch({ from: '/inside/agents/$agentId' })
  const navigate = useNavigate()
  // The content reads the same.
  const name = useRead(['agent', agentId], getAgent, { params: { agentId } }).data?.hostIdentifier
  useTitle(name ?? strings.hostName)
  return (
    <FullPage title={strings.hostName} back={<Link to="/agents">{strings.hosts}</Link>}>
      <AgentDetail
        agentId={agentId}
        tab={tab ?? null}
        setTab={(next) => void navigate({ to: '.', search: { tab: next ?? undefined }, replace: true })}
      />
    </FullPage>
  )
}
