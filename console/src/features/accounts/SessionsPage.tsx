import { Button } from '@mantine/core'
import { deleteSession, listSessions } from '@portcullis/contract'
import { useQuery } from '@tanstack/react-query'
import { curlOf } from '../../lib/curl.ts'
import { useServices } from '../../lib/services.tsx'
import { DeviceText } from '../../ui/DeviceText.tsx'
import { ErrorState } from '../../ui/ErrorState.tsx'
import { MoreMenu } from '../../ui/MoreMenu.tsx'
import { SettingsPage } from '../../ui/SettingsPage.tsx'
import { SmallTable } from '../../ui/SmallTable.tsx'
import { Time } from '../../ui/Time.tsx'
import { tell, tellFailure } from '../../ui/tell.ts'
import { useTitle } from '../../ui/useTitle.ts'

/** The own sessions. */
export const SessionsPage = () => {
  useTitle('Sessions')
  const { api } = useServices()
  const sessions = useQuery({ queryKey: ['sessions'], queryFn: ({ signal }) => api.call(listSessions, { signal }) })
  const end = async (id: string) => {
    try {
      await api.call(deleteSession, { params: { id } })
      tell('Session ended.')
    } catch (failure) {
      tellFailure(failure)
    }
    void sessions.refetch()
  }
  return (
    <SettingsPage
      title="Sessions"
      intro="Where you are signed in. A session ends after 30 minutes without use, and after 12 hours at the latest."
      actions={<MoreMenu label="More" curl={() => curlOf(window.location.origin, listSessions)} />}
    >
      {sessions.error === null ? null : (
        <ErrorState failure={sessions.error} retry={() => void sessions.refetch()} inline />
      )}
      <SmallTable
        label="Sessions"
        head={['From', 'With', 'Opened', 'Last used', { title: '', align: 'right' }]}
        rows={sessions.data?.map((one) => ({
          key: one.id,
          cells: [
            <code key="ip">{one.ipAddress}</code>,
            <DeviceText key="with" value={one.userAgent} absent="unknown" />,
            <Time key="opened" value={one.createdAt} />,
            <Time key="used" value={one.lastUsedAt} />,
            one.isCurrent ? (
              'this one'
            ) : (
              <Button key="end" size="compact-xs" variant="default" onClick={() => void end(one.id)}>
                End
              </Button>
            ),
          ],
        }))}
        empty="No other session."
      />
    </SettingsPage>
  )
}
