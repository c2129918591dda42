import { Button } from '@mantine/core'
import { curlOf } from '@portcullis/platform/console/lib/curl.ts'
import { useServices } from '@portcullis/platform/console/lib/services.tsx'
import { useRead } from '@portcullis/platform/console/lib/useRead.ts'
import { confirm } from '@portcullis/platform/console/ui/confirm.ts'
import { DeviceText } from '@portcullis/platform/console/ui/DeviceText.tsx'
import { ErrorState } from '@portcullis/platform/console/ui/ErrorState.tsx'
import { MoreMenu } from '@portcullis/platform/console/ui/MoreMenu.tsx'
import { SettingsPage } from '@portcullis/platform/console/ui/SettingsPage.tsx'
import { right, SmallTable } from '@portcullis/platform/console/ui/SmallTable.tsx'
import { TagList } from '@portcullis/platform/console/ui/TagList.tsx'
import { Time } from '@portcullis/platform/console/ui/Time.tsx'
import { useLiveRefresh } from '@portcullis/platform/console/ui/useLive.ts'
import { useTitle } from '@portcullis/platform/console/ui/useTitle.ts'
import { ReleaseKeyNotice } from '#features/builds/console/shared/ReleaseKeyNotice.tsx'
import { deleteEnrollmentToken, type EnrollmentToken, listEnrollmentTokens } from '#features/contract.ts'
import { CommandKeys } from './CommandKeys.tsx'
import { MissingHosts } from './MissingHosts.tsx'
import { NewTokenForm } from './NewTokenForm.tsx'
import { strings } from './strings.ts'

// Milliseconds between refreshes while the person who adds a host is waiting.
const refreshGap = 500

/** Creates and lists enrolment tokens. */
export const EnrolmentPage = () => {
  useTitle(strings.addAHost)
  const { api } = useServices()
  const tokens = useRead(['enrolment-tokens'], listEnrollmentTokens)
  useLiveRefresh(['agents', 'summary'], refreshGap, () => void tokens.refetch())
  const revoke = (token: EnrollmentToken) =>
    confirm({
      title: strings.revokeTitle,
      names: [token.name],
      kind: strings.tokenCount,
      consequence: strings.revokeConsequence,
      run: () => api.call(deleteEnrollmentToken, { params: { id: token.id } }),
      done: strings.tokenRevoked,
      reread: tokens.refetch,
    })
  return (
    <SettingsPage
      title={strings.addAHost}
      intro={strings.intro}
      actions={<MoreMenu curl={() => curlOf(listEnrollmentTokens)} />}
    >
      <ReleaseKeyNotice />
      <NewTokenForm onMade={() => void tokens.refetch()} />
      <h2>{strings.tokens}</h2>
      <ErrorState query={tokens} inline />
      <SmallTable
        label={strings.enrolmentTokens}
        head={[
          strings.name,
          strings.state,
          right(strings.hosts),
          strings.tags,
          strings.created,
          strings.expires,
          right(''),
        ]}
        rows={tokens.data?.data.map((token) => ({
          key: token.id,
          quiet: token.status !== 'Active',
          cells: [
            <span key="name">
              <DeviceText value={token.name} />
              {token.status === 'Active' && token.list !== undefined && token.list.missing > 0 ? (
                <>
                  <br />
                  <MissingHosts list={token.list} />
                </>
              ) : null}
            </span>,
            token.status,
            <span key="hosts">{strings.usesOf({ uses: token.uses, maxUses: token.maxUses })}</span>,
            <TagList key="tags" tags={token.hashtags.join(',')} />,
            <span key="made">
              {strings.createdBy({
                time: <Time value={token.createdAt} form="ago" />,
                name: <DeviceText value={token.createdBy} />,
              })}
            </span>,
            <Time key="ends" value={token.expiresAt} form="until" />,
            token.status === 'Active' ? (
              <Button key="revoke" size="compact-xs" variant="default" onClick={() => revoke(token)}>
                {strings.revokeMenu}
              </Button>
            ) : null,
          ],
        }))}
        empty={strings.noEnrolmentTokensYet}
      />
      <CommandKeys />
    </SettingsPage>
  )
}
