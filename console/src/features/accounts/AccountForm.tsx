import { Button, Group, NativeSelect, PasswordInput, Stack, Switch, TextInput } from '@mantine/core'
import { type AccountView, profileNames, type UserProfile } from '@portcullis/contract'
import { passwordRules } from '../../lib/password-rules.ts'
import { CopyField } from '../../ui/CopyField.tsx'
import { ErrorState } from '../../ui/ErrorState.tsx'
import { AskFoot } from '../../ui/form/AskFoot.tsx'
import { Time } from '../../ui/Time.tsx'
import { type SetPasswordLink, useAccountForm } from './useAccountForm.ts'

export interface AccountFormProps {
  /** The account to change; null makes a new one. */
  account: AccountView | null
  /** Profile of who edits: nobody grants more than his own. */
  own: UserProfile
  isMe: boolean
  close: () => void
  onSaved: () => void
}

const LinkToGive = ({ link, close }: { link: SetPasswordLink; close: () => void }) => (
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

/** Makes or changes an account. Without a password the answer is a link by which its owner sets one. */
export const AccountForm = ({ account, own, isMe, close, onSaved }: AccountFormProps) => {
  const { form, field, save, busy, failure, isStored, link } = useAccountForm(account, close, onSaved)
  if (link !== null) return <LinkToGive link={link} close={close} />
  return (
    <form onSubmit={save}>
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
        <AskFoot
          action={account === null ? 'Make the account' : 'Save'}
          busy={busy}
          isReady
          isStored={isStored}
          close={close}
          startsAt="form"
        />
      </Stack>
    </form>
  )
}
