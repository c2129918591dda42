import { Button } from '@mantine/core'
import { curlOf } from '@portcullis/platform/console/lib/curl.ts'
import { plainText } from '@portcullis/platform/console/lib/device-text.ts'
import { useServices } from '@portcullis/platform/console/lib/services.tsx'
import { useRead } from '@portcullis/platform/console/lib/useRead.ts'
import { DeviceText } from '@portcullis/platform/console/ui/DeviceText.tsx'
import { ErrorState } from '@portcullis/platform/console/ui/ErrorState.tsx'
import { MoreMenu } from '@portcullis/platform/console/ui/MoreMenu.tsx'
import { SettingsPage } from '@portcullis/platform/console/ui/SettingsPage.tsx'
import { right, SmallTable } from '@portcullis/platform/console/ui/SmallTable.tsx'
import { Time } from '@portcullis/platform/console/ui/Time.tsx'
import { tell, tellFailure } from '@portcullis/platform/console/ui/tell.ts'
import { useTitle } from '@portcullis/platform/console/ui/useTitle.ts'
import { deleteSession, listSessions } from '#features/contract.ts'
import { clientName } from './client-name.ts'
import { strings } from './strings.ts'

const Client = ({ userAgent }: { userAgent: string }) => {
  const name = clientName(userAgent)
  return name === undefined ? (
    <DeviceText value={userAgent} absent={strings.unknown} />
  ) : (
    <span title={plainText(userAgent)}>{name}</span>
  )
}

/** The sessions of the signed-in user. */
export const SessionsPage = () => {
  useTitle(strings.sessions)
  const { api } = useServices()
  const sessions = useRead(['sessions'], listSessions)
  const end = async (id: string) => {
    try {
      await api.call(deleteSession, { params: { id } })
      tell(strings.sessionEnded)
    } catch (failure) {
      tellFailure(failure)
    }
    void sessions.refetch()
  }
  return (
    <SettingsPage
      title={strings.sessions}
      intro={strings.sessionsIntro}
      actions={<MoreMenu curl={() => curlOf(listSessions)} />}
    >
      <ErrorState query={sessions} inline />
      <SmallTable
        label={strings.sessions}
        head={[strings.ipAddress, strings.browser, strings.signedIn, strings.lastUsed, right('')]}
        rows={sessions.data?.map((one) => ({
          key: one.id,
          cells: [
            <code key="ip">{one.ipAddress}</code>,
            <Client key="with" userAgent={one.userAgent} />,
            <Time key="opened" value={one.createdAt} />,
            <Time key="used" value={one.lastUsedAt} />,
            one.isCurrent ? (
              strings.thisSession
            ) : (
              <Button key="end" size="compact-xs" variant="default" onClick={() => void end(one.id)}>
                {strings.end}
              </Button>
            ),
          ],
        }))}
        empty={strings.noSessions}
      />
    </SettingsPage>
  )
}
