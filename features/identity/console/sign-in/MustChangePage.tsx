import { Alert, Button, PasswordInput } from '@mantine/core'
import { useForm } from '@mantine/form'
import { messageOf } from '@portcullis/platform/console/lib/problem.ts'
import { useServices, useSession } from '@portcullis/platform/console/lib/services.tsx'
import { Stack, Text } from '@portcullis/platform/console/ui/layout/layout.tsx'
import { tellFailure } from '@portcullis/platform/console/ui/tell.ts'
import { useTitle } from '@portcullis/platform/console/ui/useTitle.ts'
import { useState } from 'react'
import { updateUserDetails } from '#features/contract.ts'
import { NewPasswordFields } from '../shared/NewPasswordFields.tsx'
import { passwordFault } from '../shared/password-rules.ts'
import { RevokeTokens } from '../shared/RevokeTokens.tsx'
import { Card } from './Card.tsx'
import { strings } from './strings.ts'

/** The only page that an account with a temporary password can open. */
export const MustChangePage = () => {
  useTitle(strings.changePassword)
  const { api, session } = useServices()
  const state = useSession()
  const [refusal, setRefusal] = useState<string | null>(null)
  const [busy, setBusy] = useState(false)
  const userName = state.phase === 'in' ? state.profile.account.userName : ''
  const form = useForm({
    initialValues: { oldPassword: '', newPassword: '', again: '', revokeApiTokens: false },
    validate: {
      newPassword: (value) => passwordFault(value, userName),
      again: (value, values) => (value === values.newPassword ? null : strings.passwordsDiffer),
    },
  })
  return (
    <Card title={strings.chooseOwnTitle}>
      <Text as="p" style={{ margin: '0 0 16px' }}>
        {strings.chooseOwnText({ name: <strong>{userName}</strong> })}
      </Text>
      {refusal === null ? null : (
        <Alert color="red" mb="lg" role="alert">
          {refusal}
        </Alert>
      )}
      <Stack
        as="form"
        gap={16}
        onSubmit={form.onSubmit(async ({ oldPassword, newPassword, revokeApiTokens }) => {
          setBusy(true)
          setRefusal(null)
          try {
            await api.call(updateUserDetails, { body: { oldPassword, newPassword, revokeApiTokens } })
            await session.reload()
          } catch (failure) {
            const { detail, cure } = messageOf(failure)
            setRefusal(`${detail} ${cure}`)
            setBusy(false)
          }
        })}
      >
        <PasswordInput
          label={strings.currentPassword}
          name="password"
          autoComplete="current-password"
          required
          withAsterisk={false}
          autoFocus
          {...form.getInputProps('oldPassword')}
        />
        <NewPasswordFields form={form} required />
        <RevokeTokens
          count={null}
          checked={form.values.revokeApiTokens}
          onChange={(checked) => form.setFieldValue('revokeApiTokens', checked)}
        />
        <Button type="submit" loading={busy} fullWidth>
          {strings.changePassword}
        </Button>
        <Button variant="default" fullWidth onClick={() => void session.signOut().catch(tellFailure)}>
          {strings.signOut}
        </Button>
      </Stack>
    </Card>
  )
}
