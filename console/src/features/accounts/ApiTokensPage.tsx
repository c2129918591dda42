import { Alert, Button, Modal } from '@mantine/core'
import { type ApiTokenView, deleteApiToken, listApiTokens, permissionTexts, profileNames } from '@portcullis/contract'
import { useQuery } from '@tanstack/react-query'
import { useState } from 'react'
import { curlOf } from '../../lib/curl.ts'
import { useServices } from '../../lib/services.tsx'
import { confirm } from '../../ui/confirm.ts'
import { DeviceText } from '../../ui/DeviceText.tsx'
import { ErrorState } from '../../ui/ErrorState.tsx'
import { Icon } from '../../ui/icons.tsx'
import { MoreMenu } from '../../ui/MoreMenu.tsx'
import { SettingsPage } from '../../ui/SettingsPage.tsx'
import { SmallTable } from '../../ui/SmallTable.tsx'
import { Time } from '../../ui/Time.tsx'
import { tell } from '../../ui/tell.ts'
import { useTitle } from '../../ui/useTitle.ts'
import classes from './AccountsPage.module.css'
import { NewToken } from './NewToken.tsx'

const stateWords: Readonly<Record<ApiTokenView['state'], string>> = {
  Active: 'active',
  ExpiresSoon: 'expires soon',
  Expired: 'expired',
  NeedsReplacement: 'needs replacement',
  Suspended: 'suspended',
}

/** The scopes of a token; for one created before scopes existed, also what it lost. */
const ScopesOf = ({ scopes, userProfile }: ApiTokenView) => {
  if (scopes === null)
    return (
      <>
        all of {profileNames[userProfile]}
        <div className={classes.quiet}>
          created before scopes{userProfile < 30 ? '; no operations that need fresh authentication' : ''}
        </div>
      </>
    )
  return (
    <span title={scopes.map((scope) => `${scope}: ${permissionTexts[scope]}`).join('\n')}>
      {scopes.length <= 3 ? scopes.join(', ') : `${scopes.slice(0, 2).join(', ')} and ${scopes.length - 2} more`}
    </span>
  )
}

/** Tokens of scripts and connectors. */
export const ApiTokensPage = () => {
  useTitle('API tokens')
  const { api } = useServices()
  const [making, setMaking] = useState(false)
  const tokens = useQuery({ queryKey: ['api-tokens'], queryFn: ({ signal }) => api.call(listApiTokens, { signal }) })
  const legacy = tokens.data?.filter(({ isLegacy, state }) => isLegacy && state !== 'Expired') ?? []
  const revoke = (token: ApiTokenView) =>
    confirm({
      title: 'Revoke token',
      names: [token.name],
      kind: ['token', 'tokens'],
      consequence: 'scripts and connectors that use it are refused from now on.',
      action: 'Revoke token',
      run: async () => {
        await api.call(deleteApiToken, { params: { id: token.id } })
        tell('Token revoked.')
        await tokens.refetch()
      },
    })
  return (
    <SettingsPage
      title="API tokens"
      intro="For scripts, SIEM and SOAR connectors. A token can do what its scopes allow, and never more than its account. It expires after 90 days unless you choose another date, at most one year ahead. You are notified 14 and 3 days before it expires."
      actions={
        <>
          <Button size="compact-sm" leftSection={<Icon name="plus" size={14} />} onClick={() => setMaking(true)}>
            Create token
          </Button>
          <MoreMenu label="More" curl={() => curlOf(window.location.origin, listApiTokens)} />
        </>
      }
    >
      {tokens.error === null ? null : <ErrorState failure={tokens.error} retry={() => void tokens.refetch()} inline />}
      {legacy.length === 0 ? null : (
        <Alert
          color="yellow"
          title={`${legacy.length} ${legacy.length === 1 ? 'token needs' : 'tokens need'} replacement`}
        >
          These tokens were created before scopes existed. Those of Administrators and Managers can no longer perform
          operations that need fresh authentication, such as publishing packages or changing sign-in settings. All other
          permissions remain until the tokens expire, at most 90 days after the upgrade. Create tokens with scopes and
          revoke these.
        </Alert>
      )}
      <SmallTable
        label="API tokens"
        head={['Name', 'Account', 'Profile', 'Scopes', 'State', 'Expires', 'Last used', { title: '', align: 'right' }]}
        rows={tokens.data?.map((token) => ({
          key: token.id,
          quiet: token.state === 'Expired',
          cells: [
            <div key="name">
              <DeviceText value={token.name} />
              <div className={classes.quiet}>
                created by <DeviceText value={token.createdBy} />, <Time value={token.createdAt} />
              </div>
            </div>,
            <DeviceText key="user" value={token.userName} />,
            profileNames[token.userProfile],
            <ScopesOf key="scopes" {...token} />,
            token.state === 'Active' ? stateWords.Active : <strong key="state">{stateWords[token.state]}</strong>,
            <Time key="ends" value={token.expiresAt} form="local" absent="never" />,
            <div key="used">
              <Time value={token.lastUsedAt} absent="never" />
              {token.lastUsedAddress === null ? null : (
                <div className={classes.quiet}>
                  from <DeviceText value={token.lastUsedAddress} />
                </div>
              )}
            </div>,
            <Button key="revoke" size="compact-xs" variant="default" onClick={() => revoke(token)}>
              Revoke…
            </Button>,
          ],
        }))}
        empty="No API tokens. Create one for each script or connector."
      />
      <Modal opened={making} onClose={() => setMaking(false)} title="Create API token">
        {making ? <NewToken close={() => setMaking(false)} onMade={() => void tokens.refetch()} /> : null}
      </Modal>
    </SettingsPage>
  )
}
