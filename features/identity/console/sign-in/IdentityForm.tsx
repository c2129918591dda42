import { Alert, Button, PasswordInput, TextInput } from '@mantine/core'
import type { Profile } from '@portcullis/platform/console/lib/session.ts'
import { DialogActions } from '@portcullis/platform/console/ui/form/DialogActions.tsx'
import { Stack, Text } from '@portcullis/platform/console/ui/layout/layout.tsx'
import { ProviderConfirmation } from './ProviderConfirmation.tsx'
import { strings } from './strings.ts'
import { useIdentity, type Way } from './useIdentity.ts'

const offers: Readonly<Record<Way, string>> = {
  password: strings.usePassword,
  code: strings.useCode,
  passkey: strings.usePasskey,
  recoveryCode: strings.useRecoveryCode,
}

export interface IdentityFormProps {
  account: Profile['account']
  settle: (confirmed: boolean) => void
}

const WayField = ({ identity, isDirectory }: { identity: ReturnType<typeof useIdentity>; isDirectory: boolean }) => {
  const input = {
    ref: identity.field,
    value: identity.text,
    required: true,
    withAsterisk: false,
    // The dialog moves the focus after a form that is already loaded has focused itself.
    'data-autofocus': true,
    onChange: (event: { currentTarget: HTMLInputElement }) => identity.setText(event.currentTarget.value),
  }
  switch (identity.way) {
    case 'password':
      return (
        <PasswordInput
          {...input}
          key="password"
          autoFocus
          label={isDirectory ? strings.directoryPassword : strings.password}
          name="password"
          autoComplete="current-password"
          maxLength={1024}
        />
      )
    case 'code':
      return (
        <TextInput
          {...input}
          key="code"
          autoFocus
          label={strings.code}
          name="one-time-code"
          autoComplete="one-time-code"
          inputMode="numeric"
          maxLength={16}
          minLength={6}
        />
      )
    case 'recoveryCode':
      return (
        <TextInput
          {...input}
          key="recovery"
          autoFocus
          label={strings.recoveryCode}
          placeholder="xxxx-xxxx-xxxx-xxxx"
          name="recovery-code"
          autoComplete="off"
          autoCapitalize="none"
          spellCheck={false}
          maxLength={64}
        />
      )
    case 'passkey':
      return null
  }
}

/** Asks for one proof of identity: the password, a second factor, or the identity provider. */
export const IdentityForm = ({ account, settle }: IdentityFormProps) => {
  const identity = useIdentity(account, settle)
  const { way, others, choose, refusal, busy, send } = identity
  if (account.authSource === 'OIDC') return <ProviderConfirmation settle={settle} />
  return (
    <Stack
      as="form"
      gap={16}
      onSubmit={(event) => {
        event.preventDefault()
        // In React, the form below is the parent of this dialog and would be submitted, too.
        event.stopPropagation()
        send()
      }}
    >
      <Text as="p" style={{ margin: '0 0 16px' }}>
        {strings.confirmText({ name: <strong>{account.userName}</strong> })}
      </Text>
      {refusal === null ? null : (
        <Alert color="red" role="alert">
          {refusal}
        </Alert>
      )}
      {/* Tells password managers which account this is. */}
      <input type="text" name="username" autoComplete="username" value={account.userName} readOnly hidden />
      <WayField identity={identity} isDirectory={account.authSource === 'LDAP'} />
      {(['password', ...others] as const)
        .filter((other) => other !== way && others.length > 0)
        .map((other) => (
          <Button key={other} variant="default" fullWidth onClick={() => choose(other)}>
            {offers[other]}
          </Button>
        ))}
      <DialogActions close={() => settle(false)} action={strings.confirm} busy={busy} startsAt="form" />
    </Stack>
  )
}
