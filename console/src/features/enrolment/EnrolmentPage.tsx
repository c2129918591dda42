import { Button } from '@mantine/core'
import { deleteEnrollmentToken, type EnrollmentToken, listEnrollmentTokens } from '@portcullis/contract'
import { useQuery } from '@tanstack/react-query'
import { curlOf } from '../../lib/curl.ts'
import { useServices } from '../../lib/services.tsx'
import { confirm } from '../../ui/confirm.ts'
import { DeviceText } from '../../ui/DeviceText.tsx'
import { ErrorState } from '../../ui/ErrorState.tsx'
import { MoreMenu } from '../../ui/MoreMenu.tsx'
import { ReleaseKeyNotice } from '../../ui/ReleaseKeyNotice.tsx'
import { SettingsPage } from '../../ui/SettingsPage.tsx'
import { SmallTable } from '../../ui/SmallTable.tsx'
import { TagList } from '../../ui/TagList.tsx'
import { Time } from '../../ui/Time.tsx'
import { tell } from '../../ui/tell.ts'
import { useLiveRefresh } from '../../ui/useLive.ts'
import { useTitle } from '../../ui/useTitle.ts'
import { CommandKeys } from './CommandKeys.tsx'
import { NewTokenForm } from './NewTokenForm.tsx'

// The person adding a host is watching for it to appear.
const refreshGap = 500

/** Adds hosts: makes enrolment tokens and lists those that were made. */
export const EnrolmentPage = () => {
  useTitle('Add a host')
  const { api } = useServices()
  const tokens = useQuery({
    queryKey: ['enrolment-tokens'],
    queryFn: ({ signal }) => api.call(listEnrollmentTokens, { signal }),
  })
  useLiveRefresh(['agents', 'summary'], refreshGap, () => void tokens.refetch())
  const revoke = (token: EnrollmentToken) =>
    confirm({
      title: 'Revoke an enrolment token',
      names: [token.name],
      kind: ['token', 'tokens'],
      consequence: 'no further host can enrol with it. Hosts that did stay.',
      action: 'Revoke',
      run: async () => {
        await api.call(deleteEnrollmentToken, { params: { id: token.id } })
        tell('Token revoked.')
        await tokens.refetch()
      },
    })
  return (
    <SettingsPage
      title="Add a host"
      intro="One command installs the agent on a Linux host and enrols it. The command prompts for a token, which is valid for a limited time and number of hosts."
      actions={<MoreMenu label="More" curl={() => curlOf(window.location.origin, listEnrollmentTokens)} />}
    >
      <ReleaseKeyNotice />
      <NewTokenForm onMade={() => void tokens.refetch()} />
      <h2>Tokens</h2>
      {tokens.error === null ? null : <ErrorState failure={tokens.error} retry={() => void tokens.refetch()} inline />}
      <SmallTable
        label="Enrolment tokens"
        head={[
          'Name',
          'State',
          { title: 'Hosts', align: 'right' },
          'Tags',
          'Created',
          'Expires',
          { title: '', align: 'right' },
        ]}
        rows={tokens.data?.data.map((token) => ({
          key: token.id,
          quiet: token.status !== 'Active',
          cells: [
            <DeviceText key="name" value={token.name} />,
            token.status,
            <span key="hosts">
              {token.uses.toLocaleString('en')} of {token.maxUses.toLocaleString('en')}
            </span>,
            <TagList key="tags" tags={token.hashtags.join(',')} />,
            <span key="made">
              <Time value={token.createdAt} /> by <DeviceText value={token.createdBy} />
            </span>,
            <Time key="ends" value={token.expiresAt} />,
            token.status === 'Active' ? (
              <Button key="revoke" size="compact-xs" variant="default" onClick={() => revoke(token)}>
                Revoke…
              </Button>
            ) : null,
          ],
        }))}
        empty="No enrolment tokens yet."
      />
      <CommandKeys />
    </SettingsPage>
  )
}
