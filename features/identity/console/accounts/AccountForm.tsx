import { Button, NativeSelect, PasswordInput, Switch, TextInput } from '@mantine/core'
import { CopyField } from '@portcullis/platform/console/ui/CopyField.tsx'
import { ErrorState } from '@portcullis/platform/console/ui/ErrorState.tsx'
import { DialogActions } from '@portcullis/platform/console/ui/form/DialogActions.tsx'
import { Row, Stack } from '@portcullis/platform/console/ui/layout/layout.tsx'
import { Time } from '@portcullis/platform/console/ui/Time.tsx'
import { type AccountView, profileNames, type UserProfile } from '#features/contract.ts'
import { passwordRules } from '../shared/password-rules.ts'
import { RevokeTokens } from '../shared/RevokeTokens.tsx'
import { strings } from './strings.ts'
import { type SetPasswordLink, useAccountForm } from './useAccountForm.ts'

export interface AccountFormProps {
  /** The account to edit, or null to create one. */
  account: AccountView | null
  /** Profile of the signed-in user: nobody can grant a higher one. */
  own: UserProfile
  isMe: boolean
  close: () => void
  onSaved: () => void
}

const LinkToGive = ({ link, close }: { link: SetPasswordLink; close: () => void }) => (
  <Stack>
    <p style={{ margin: 0 }}>
      {link.expiresAt === null
        ? strings.linkText
        : strings.linkTextExpires({ time: <Time value={link.expiresAt} form="local" /> })}
    </p>
    <CopyField value={link.url} what={strings.link} />
    <Row gap={16} justify="end" wrap>
      <Button onClick={close}>{strings.done}</Button>
    </Row>
  </Stack>
)

/** Creates or edits an account. Without a password, the server returns a link with which the owner sets one. */
export const AccountForm = ({ account, own, isMe, close, onSaved }: AccountFormProps) => {
  const { form, field, save, busy, failure, isStored, link, tokens } = useAccountForm(account, close, onSaved)
  if (link !== null) return <LinkToGive link={link} close={close} />
  return (
    <form onSubmit={save}>
      <Stack>
        <TextInput
          label={strings.userName}
          maxLength={254}
          disabled={account !== null}
          data-autofocus
          autoComplete="off"
          {...field('userName')}
        />
        <NativeSelect
          label={strings.profile}
          disabled={isMe}
          data={([30, 20, 10] as const)
            .filter((profile) => (own === 10 ? true : profile === 30))
            .map((profile) => ({ value: String(profile), label: profileNames[profile] }))}
          {...form.getInputProps('userProfile')}
        />
        <Row equal gap={12} align="start" wrap>
          <TextInput label={strings.firstName} maxLength={254} {...field('firstName')} />
          <TextInput label={strings.lastName} maxLength={254} {...field('lastName')} />
        </Row>
        <Row equal gap={12} align="start" wrap>
          <TextInput label={strings.email} type="email" maxLength={254} {...field('email')} />
          <TextInput label={strings.phone} maxLength={64} {...field('phone')} />
        </Row>
        {account === null || account.authSource === 'Local' ? (
          <PasswordInput
            label={account === null ? strings.passwordOrLink : strings.passwordOrKeep}
            description={passwordRules.text}
            autoComplete="new-password"
            {...field('password')}
          />
        ) : null}
        {account === null || form.values.password === '' ? null : (
          <RevokeTokens
            count={tokens.count}
            checked={form.values.revokeApiTokens}
            onChange={(checked) => form.setFieldValue('revokeApiTokens', checked)}
          />
        )}
        <Switch
          label={strings.mustChangePassword}
          {...form.getInputProps('mustChangePassword', { type: 'checkbox' })}
        />
        <Switch label={strings.enabled} disabled={isMe} {...form.getInputProps('isEnabled', { type: 'checkbox' })} />
        <ErrorState failure={failure} inline />
        <DialogActions
          action={account === null ? strings.createAccount : strings.save}
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
