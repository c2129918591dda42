import { Alert, Button, Group, PasswordInput, TextInput } from '@mantine/core'
import { type BodyOf, getMfa, reauthenticate, startReauthentication } from '@portcullis/contract'
import { useEffect, useRef, useState } from 'react'
import { endPasskeyQuestion, passkeyRefusal, passkeysWork, provePasskey } from '../../lib/passkeys.ts'
import { CallFailure } from '../../lib/problem.ts'
import { useServices } from '../../lib/services.tsx'
import type { Profile } from '../../lib/session.ts'
import { ProviderConfirmation } from './ProviderConfirmation.tsx'
import { refusalText } from './refusal.ts'
import classes from './sign-in.module.css'

type Proof = BodyOf<typeof reauthenticate>
type Way = 'password' | 'code' | 'recoveryCode' | 'passkey'

const offers: Readonly<Record<Way, string>> = {
  password: 'Use your password',
  code: 'Use a code from the authenticator app',
  passkey: 'Use a passkey',
  recoveryCode: 'Use a recovery code',
}

const refusals: Readonly<Record<Way, string>> = {
  password: 'The password is incorrect.',
  code: 'The code is incorrect or was already used. Wait for the next one.',
  passkey: 'This passkey does not belong to your account.',
  recoveryCode: 'The recovery code is incorrect or was already used.',
}

export interface IdentityFormProps {
  account: Profile['account']
  settle: (confirmed: boolean) => void
}

/** Asks for one proof of identity: the password, a second factor, or the identity provider. */
export const IdentityForm = ({ account, settle }: IdentityFormProps) => {
  const { api } = useServices()
  const [way, setWay] = useState<Way>('password')
  const [others, setOthers] = useState<Way[]>([])
  const [text, setText] = useState('')
  const [refusal, setRefusal] = useState<string | null>(null)
  const [busy, setBusy] = useState(false)
  const field = useRef<HTMLInputElement>(null)
  useEffect(() => {
    if (!account.mfaEnabled) return
    let isShown = true
    api.call(getMfa).then(
      ({ totp, passkeys, recoveryCodesLeft }) => {
        if (!isShown) return
        setOthers([
          ...(totp ? (['code'] as const) : []),
          ...(passkeys.length > 0 && passkeysWork() ? (['passkey'] as const) : []),
          ...(recoveryCodesLeft > 0 ? (['recoveryCode'] as const) : []),
        ])
      },
      // The password is always offered.
      () => {},
    )
    return () => {
      isShown = false
      endPasskeyQuestion()
    }
  }, [api, account.mfaEnabled])

  const prove = async (proof: () => Promise<Proof>) => {
    setBusy(true)
    setRefusal(null)
    try {
      await api.call(reauthenticate, { body: await proof() })
      settle(true)
    } catch (failure) {
      if (failure instanceof CallFailure && failure.code === 'reauthentication_failed') setRefusal(refusals[way])
      else setRefusal(failure instanceof CallFailure ? refusalText(failure) : passkeyRefusal(failure))
      setBusy(false)
      field.current?.focus()
      field.current?.select()
    }
  }
  const send = () => {
    if (way === 'passkey')
      void prove(async () => ({ response: await provePasskey((await api.call(startReauthentication)).options) }))
    else void prove(async () => ({ [way]: way === 'recoveryCode' ? text.trim() : text }))
  }
  const choose = (next: Way) => {
    setWay(next)
    setText('')
    setRefusal(null)
  }

  if (account.authSource === 'OIDC') return <ProviderConfirmation settle={settle} />
  const input = {
    ref: field,
    value: text,
    required: true,
    withAsterisk: false,
    // The dialog sets the focus after a form that is already loaded has set it.
    'data-autofocus': true,
    onChange: (event: { currentTarget: HTMLInputElement }) => setText(event.currentTarget.value),
  }
  return (
    <form
      className={classes.form}
      onSubmit={(event) => {
        event.preventDefault()
        // In React the form below is the parent of this dialog and would be submitted, too.
        event.stopPropagation()
        send()
      }}
    >
      <p className={classes.message}>
        This action affects hosts, accounts or sign-in. Confirm that you are <strong>{account.userName}</strong> to
        continue. Your input is kept.
      </p>
      {refusal === null ? null : (
        <Alert color="red" role="alert">
          {refusal}
        </Alert>
      )}
      {/* Tells password managers which account this is. */}
      <input type="text" name="username" autoComplete="username" value={account.userName} readOnly hidden />
      {way === 'password' ? (
        <PasswordInput
          {...input}
          key="password"
          autoFocus
          label={account.authSource === 'LDAP' ? 'Directory password' : 'Password'}
          name="password"
          autoComplete="current-password"
          maxLength={1024}
        />
      ) : null}
      {way === 'code' ? (
        <TextInput
          {...input}
          key="code"
          autoFocus
          label="Code from your authenticator app"
          name="one-time-code"
          autoComplete="one-time-code"
          inputMode="numeric"
          maxLength={16}
          minLength={6}
        />
      ) : null}
      {way === 'recoveryCode' ? (
        <TextInput
          {...input}
          key="recovery"
          autoFocus
          label="Recovery code"
          placeholder="xxxx-xxxx-xxxx-xxxx"
          name="recovery-code"
          autoComplete="off"
          autoCapitalize="none"
          spellCheck={false}
          maxLength={64}
        />
      ) : null}
      {(['password', ...others] as const)
        .filter((other) => other !== way && others.length > 0)
        .map((other) => (
          <Button key={other} variant="default" fullWidth onClick={() => choose(other)}>
            {offers[other]}
          </Button>
        ))}
      <Group justify="flex-end" gap="sm">
        <Button variant="default" onClick={() => settle(false)}>
          Cancel
        </Button>
        <Button type="submit" loading={busy}>
          Confirm
        </Button>
      </Group>
    </form>
  )
}
