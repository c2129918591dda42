import { Alert, Button } from '@mantine/core'
import { useForm } from '@mantine/form'
import { messageOf } from '@portcullis/platform/console/lib/problem.ts'
import { useServices } from '@portcullis/platform/console/lib/services.tsx'
import { LinkButton } from '@portcullis/platform/console/ui/LinkButton.tsx'
import { Stack } from '@portcullis/platform/console/ui/layout/layout.tsx'
import { useTitle } from '@portcullis/platform/console/ui/useTitle.ts'
import { useState } from 'react'
import { type ResponseOf, setPassword } from '#features/contract.ts'
import { NewPasswordFields } from '../shared/NewPasswordFields.tsx'
import { passwordFault } from '../shared/password-rules.ts'
import { RevokeTokens } from '../shared/RevokeTokens.tsx'
import { Card } from './Card.tsx'
import { strings } from './strings.ts'

// Browsers never send the text after `#`. The token leaves the address at once, so that no history keeps it.
const takeToken = (): string => {
  const token = new URLSearchParams(window.location.hash.slice(1)).get('token') ?? ''
  if (token !== '') window.history.replaceState(window.history.state, '', window.location.pathname)
  return token
}

/** Sets a first or forgotten password by a one-time link. */
export const SetPasswordPage = () => {
  useTitle(strings.setPasswordTitle)
  const { api } = useServices()
  const [token] = useState(takeToken)
  const [done, setDone] = useState<ResponseOf<typeof setPassword> | null>(null)
  const [refusal, setRefusal] = useState<string | null>(null)
  const [busy, setBusy] = useState(false)
  const form = useForm({
    initialValues: { newPassword: '', again: '', revokeApiTokens: false },
    validate: {
      newPassword: (value) => passwordFault(value),
      again: (value, values) => (value === values.newPassword ? null : strings.passwordsDiffer),
    },
  })
  if (done !== null) {
    return (
      <Card title={strings.passwordSet}>
        <p>{strings.passwordSetText({ name: <strong>{done.userName}</strong> })}</p>
        {done.apiTokensLeft === 0 ? null : <p>{strings.tokensLeft({ count: done.apiTokensLeft })}</p>}
        <LinkButton to="/sign-in" fullWidth>
          {strings.signIn}
        </LinkButton>
      </Card>
    )
  }
  if (token === '') {
    return (
      <Card title={strings.incompleteLink}>
        <p>{strings.incompleteLinkCure}</p>
      </Card>
    )
  }
  return (
    <Card title={strings.setPasswordTitle}>
      {refusal === null ? null : (
        <Alert color="red" mb="lg" role="alert">
          {refusal}
        </Alert>
      )}
      <Stack
        as="form"
        gap={16}
        onSubmit={form.onSubmit(async ({ newPassword, revokeApiTokens }) => {
          setBusy(true)
          setRefusal(null)
          try {
            setDone(await api.call(setPassword, { body: { token, newPassword, revokeApiTokens } }))
          } catch (failure) {
            const { detail, cure } = messageOf(failure)
            setRefusal(`${detail} ${cure}`)
          } finally {
            setBusy(false)
          }
        })}
      >
        <NewPasswordFields form={form} required />
        <RevokeTokens
          count={null}
          checked={form.values.revokeApiTokens}
          onChange={(checked) => form.setFieldValue('revokeApiTokens', checked)}
        />
        <Button type="submit" loading={busy} fullWidth>
          {strings.setPassword}
        </Button>
      </Stack>
    </Card>
  )
}
