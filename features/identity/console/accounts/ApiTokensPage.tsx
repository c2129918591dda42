import { Alert, Button, Modal } from '@mantine/core'
import { curlOf } from '@portcullis/platform/console/lib/curl.ts'
import { useServices } from '@portcullis/platform/console/lib/services.tsx'
import { useRead } from '@portcullis/platform/console/lib/useRead.ts'
import { confirm } from '@portcullis/platform/console/ui/confirm.ts'
import { DeviceText } from '@portcullis/platform/console/ui/DeviceText.tsx'
import { ErrorState } from '@portcullis/platform/console/ui/ErrorState.tsx'
import { Icon } from '@portcullis/platform/console/ui/icons.tsx'
import { Text } from '@portcullis/platform/console/ui/layout/layout.tsx'
import { MoreMenu } from '@portcullis/platform/console/ui/MoreMenu.tsx'
import { SettingsPage } from '@portcullis/platform/console/ui/SettingsPage.tsx'
import { right, SmallTable } from '@portcullis/platform/console/ui/SmallTable.tsx'
import { Time } from '@portcullis/platform/console/ui/Time.tsx'
import { useTitle } from '@portcullis/platform/console/ui/useTitle.ts'
import { useState } from 'react'
import { type ApiTokenView, deleteApiToken, listApiTokens, permissionTexts, profileNames } from '#features/contract.ts'
import { NewToken } from './NewToken.tsx'
import { strings } from './strings.ts'

const stateLabels: Readonly<Record<ApiTokenView['state'], string>> = {
  Active: strings.active,
  ExpiresSoon: strings.expiresSoon,
  Expired: strings.expired,
  NeedsReplacement: strings.needsReplacement,
  Suspended: strings.suspended,
}

/** Shows the scopes of a token. For a token created before scopes existed, shows what it lost. */
const ScopesOf = ({ scopes, userProfile }: ApiTokenView) => {
  if (scopes === null)
    return (
      <>
        {strings.allOf} {profileNames[userProfile]}
        <Text as="div" quiet tiny style={{ lineHeight: '16px' }}>
          {userProfile < 30 ? strings.createdBeforeScopesLimited : strings.createdBeforeScopes}
        </Text>
      </>
    )
  return (
    <span title={scopes.map((scope) => `${scope}: ${permissionTexts[scope]}`).join('\n')}>
      {scopes.length <= 3
        ? scopes.join(', ')
        : strings.scopesAndMore({ scopes: scopes.slice(0, 2).join(', '), count: scopes.length - 2 })}
    </span>
  )
}

/** The API tokens. */
export const ApiTokensPage = () => {
  useTitle(strings.apiTokens)
  const { api } = useServices()
  const [making, setMaking] = useState(false)
  const tokens = useRead(['api-tokens'], listApiTokens)
  const legacy = tokens.data?.filter(({ isLegacy, state }) => isLegacy && state !== 'Expired') ?? []
  const revoke = (token: ApiTokenView) =>
    confirm({
      title: strings.revokeToken,
      names: [token.name],
      kind: strings.tokenCount,
      consequence: strings.revokeConsequence,
      run: () => api.call(deleteApiToken, { params: { id: token.id } }),
      done: strings.tokenRevoked,
      reread: tokens.refetch,
    })
  return (
    <SettingsPage
      title={strings.apiTokens}
      intro={strings.tokensIntro}
      actions={
        <>
          <Button size="compact-sm" leftSection={<Icon name="plus" size={14} />} onClick={() => setMaking(true)}>
            {strings.createToken}
          </Button>
          <MoreMenu curl={() => curlOf(listApiTokens)} />
        </>
      }
    >
      <ErrorState query={tokens} inline />
      {legacy.length === 0 ? null : (
        <Alert color="yellow" title={strings.legacyTitle({ legacy: legacy.length })}>
          {strings.legacyText}
        </Alert>
      )}
      <SmallTable
        label={strings.apiTokens}
        head={[
          strings.name,
          strings.account,
          strings.profile,
          strings.scopes,
          strings.state,
          strings.expires,
          strings.lastUsed,
          right(''),
        ]}
        rows={tokens.data?.map((token) => ({
          key: token.id,
          quiet: token.state === 'Expired',
          cells: [
            <div key="name">
              <DeviceText value={token.name} />
              <Text as="div" quiet tiny style={{ lineHeight: '16px' }}>
                {strings.createdBy({
                  name: <DeviceText value={token.createdBy} />,
                  time: <Time value={token.createdAt} form="ago" />,
                })}
              </Text>
            </div>,
            <DeviceText key="user" value={token.userName} />,
            profileNames[token.userProfile],
            <ScopesOf key="scopes" {...token} />,
            token.state === 'Active' ? stateLabels.Active : <strong key="state">{stateLabels[token.state]}</strong>,
            <Time key="ends" value={token.expiresAt} form="local" absent={strings.never} />,
            <div key="used">
              <Time value={token.lastUsedAt} absent={strings.never} />
              {token.lastUsedAddress === null ? null : (
                <Text as="div" quiet tiny style={{ lineHeight: '16px' }}>
                  {strings.fromAddress({ address: <DeviceText value={token.lastUsedAddress} /> })}
                </Text>
              )}
            </div>,
            <Button key="revoke" size="compact-xs" variant="default" onClick={() => revoke(token)}>
              {strings.revokeMenu}
            </Button>,
          ],
        }))}
        empty={strings.noTokens}
      />
      <Modal opened={making} onClose={() => setMaking(false)} title={strings.createApiToken}>
        {making ? <NewToken close={() => setMaking(false)} onMade={() => void tokens.refetch()} /> : null}
      </Modal>
    </SettingsPage>
  )
}
