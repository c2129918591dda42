import { Button, Group, NativeSelect, PasswordInput, Stack, Switch, TextInput } from '@mantine/core'
import { useForm } from '@mantine/form'
import { type AccountView, addUser, profileNames, type UserProfile, updateUser } from '@portcullis/contract'
import { useState } from 'react'
import { passwordFault, passwordRules } from '../../lib/password-rules.ts'
import { fieldMessage, isStoredRequest } from '../../lib/problem.ts'
import { useServices } from '../../lib/services.tsx'
import { CopyField } from '../../ui/CopyField.tsx'
import { ErrorState } from '../../ui/ErrorState.tsx'
import { Time } from '../../ui/Time.tsx'
import { tell } from '../../ui/tell.ts'

export interface AccountFormProps {
  /** The account to change; null makes a new one. */
  account: AccountView | null
  /** Profile of who edits: nobody grants more than his own. */
  own: UserProfile
  isMe: boolean
  close: () => void
  onSaved: () => void
}

/** Makes or changes an account. Without a password the answer is a link by which its owner sets one. */
export const AccountForm = ({ account, own, isMe, close, onSaved }: AccountFormProps) => {
  const { api } = useServices()
  const [failure, setFailure] = useState<unknown>(null)
  const [busy, setBusy] = useState(false)
  const [link, setLink] = useState<{ url: string; expiresAt: string | null } | null>(null)
  const form = useForm({
    initialValues: {
      userName: account?.userName ?? '',
      userProfile: String(account?.userProfile ?? 30),
      firstName: account?.firstName ?? '',
      lastName: account?.lastName ?? '',
      email: account?.email ?? '',
      phone: account?.phone ?? '',
      isEnabled: account?.isEnabled ?? true,
      password: '',
      mustChangePassword: account?.mustChangePassword ?? false,
    },
    validate: {
      userName: (value) => (value.trim() === '' ? 'A user name is needed.' : null),
      password: (value, values) => (value === '' ? null : passwordFault(value, values.userName)),
    },
  })
  const field = (name: 'userName' | 'firstName' | 'lastName' | 'email' | 'phone' | 'password') => ({
    ...form.getInputProps(name),
    error: form.errors[name] ?? fieldMessage(failure, name),
  })

  const isStored = isStoredRequest(failure)

  if (link !== null) {
    return (
      <Stack gap="md">
        <p style={{ margin: 0 }}>
          Give this link to the owner of the account: it sets the password, once
          {link.expiresAt === null ? '' : ', and ends '}
          {link.expiresAt === null ? '' : <Time value={link.expiresAt} form="local" />}. It is shown only now.
        </p>
        <CopyField value={link.url} what="Link" />
        <Group justify="flex-end">
          <Button onClick={close}>Done</Button>
        </Group>
      </Stack>
    )
  }
  return (
    <form
      onSubmit={form.onSubmit(async ({ password, phone, userProfile, userName, ...rest }) => {
        if (isStored) return
        setBusy(true)
        setFailure(null)
        const body = {
          ...rest,
          userName: account?.userName ?? userName.trim(),
          userProfile: Number(userProfile) as UserProfile,
          phone: phone === '' ? null : phone,
          password: password === '' ? null : password,
        }
        try {
          if (account === null) {
            const made = await api.call(addUser, { body })
            onSaved()
            if (made.setPasswordUrl !== null) {
              setLink({ url: made.setPasswordUrl, expiresAt: made.setPasswordExpiresAt })
              return
            }
          } else {
            await api.call(updateUser, { body })
            onSaved()
          }
          tell(account === null ? 'Account made.' : 'Account changed.')
          close()
        } catch (reason) {
          setFailure(reason)
        } finally {
          setBusy(false)
        }
      })}
    >
      <Stack gap="md">
        <TextInput
          label="User name"
          maxLength={254}
          disabled={account !== null}
          data-autofocus
          autoComplete="off"
          {...field('userName')}
        />
        <NativeSelect
          label="Profile"
          disabled={isMe}
          data={([30, 20, 10] as const)
            .filter((profile) => (own === 10 ? true : profile === 30))
            .map((profile) => ({ value: String(profile), label: profileNames[profile] }))}
          {...form.getInputProps('userProfile')}
        />
        <Group grow gap="md" align="flex-start">
          <TextInput label="First name" maxLength={254} {...field('firstName')} />
          <TextInput label="Last name" maxLength={254} {...field('lastName')} />
        </Group>
        <Group grow gap="md" align="flex-start">
          <TextInput label="E-mail" type="email" maxLength={254} {...field('email')} />
          <TextInput label="Phone" maxLength={64} {...field('phone')} />
        </Group>
        {account === null || account.authSource === 'Local' ? (
          <PasswordInput
            label={
              account === null ? 'Password (leave empty for a set-password link)' : 'New password (leave empty to keep)'
            }
            description={passwordRules.text}
            autoComplete="new-password"
            {...field('password')}
          />
        ) : null}
        <Switch
          label="Must change the password at the next sign-in"
          {...form.getInputProps('mustChangePassword', { type: 'checkbox' })}
        />
        <Switch label="Enabled" disabled={isMe} {...form.getInputProps('isEnabled', { type: 'checkbox' })} />
        {failure === null ? null : <ErrorState failure={failure} inline />}
        <Group justify="flex-end" gap="sm">
          <Button variant="default" onClick={close}>
            {isStored ? 'Close' : 'Cancel'}
          </Button>
          {isStored ? null : (
            <Button type="submit" loading={busy}>
              {account === null ? 'Make the account' : 'Save'}
            </Button>
          )}
        </Group>
      </Stack>
    </form>
  )
}
