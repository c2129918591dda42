import { Avatar, Button, FileButton, PasswordInput, TextInput } from '@mantine/core'
import { useForm } from '@mantine/form'
import { fieldMessage } from '@portcullis/platform/console/lib/problem.ts'
import { useServices, useSession } from '@portcullis/platform/console/lib/services.tsx'
import type { Profile } from '@portcullis/platform/console/lib/session.ts'
import { ErrorState } from '@portcullis/platform/console/ui/ErrorState.tsx'
import { useChange } from '@portcullis/platform/console/ui/form/useChange.ts'
import { Note, Panel, Row, Stack } from '@portcullis/platform/console/ui/layout/layout.tsx'
import { SettingsPage } from '@portcullis/platform/console/ui/SettingsPage.tsx'
import { tell, tellFailure, tellWithUndo } from '@portcullis/platform/console/ui/tell.ts'
import { useTitle } from '@portcullis/platform/console/ui/useTitle.ts'
import { useState } from 'react'
import { profileNames, updateUserDetails } from '#features/contract.ts'
import { NewPasswordFields } from '../shared/NewPasswordFields.tsx'
import { passwordFault } from '../shared/password-rules.ts'
import { RevokeTokens } from '../shared/RevokeTokens.tsx'
import { useTokenCount } from '../shared/useTokenCount.ts'
import { pictureOf } from './picture.ts'
import { SecondFactor } from './second-factor/SecondFactor.tsx'
import { strings } from './strings.ts'

type Account = Profile['account']

const Picture = ({ account }: { account: Account }) => {
  const { api, session } = useServices()
  const [busy, setBusy] = useState(false)
  const save = async (image: string) => {
    await api.call(updateUserDetails, { body: { image } })
    await session.reload()
  }
  const change = async (image: Promise<string>) => {
    setBusy(true)
    const before = account.image
    try {
      await save(await image)
      tellWithUndo(strings.pictureChanged, () => save(before))
    } catch (failure) {
      tellFailure(failure)
    } finally {
      setBusy(false)
    }
  }
  return (
    <Row gap={12} wrap>
      <Avatar src={account.image || null} size={56} name={account.userName} />
      <FileButton
        accept="image/png,image/jpeg,image/webp"
        onChange={(file) => void (file !== null && change(pictureOf(file)))}
      >
        {(props) => (
          <Button {...props} size="xs" variant="default" loading={busy}>
            {strings.choosePicture}
          </Button>
        )}
      </FileButton>
      {account.image === '' ? null : (
        <Button size="xs" variant="subtle" onClick={() => void change(Promise.resolve(''))}>
          {strings.remove}
        </Button>
      )}
    </Row>
  )
}

const Details = ({ account }: { account: Account }) => {
  const { api, session } = useServices()
  const { busy, failure, run } = useChange({ closes: false })
  const form = useForm({
    initialValues: {
      firstName: account.firstName,
      lastName: account.lastName,
      email: account.email,
      phone: account.phone ?? '',
    },
  })
  const field = (name: 'firstName' | 'lastName' | 'email' | 'phone') => ({
    ...form.getInputProps(name),
    error: fieldMessage(failure, name),
  })
  return (
    <form
      onSubmit={form.onSubmit((values) =>
        run(async () => {
          await api.call(updateUserDetails, { body: { ...values, phone: values.phone === '' ? null : values.phone } })
          await session.reload()
          form.resetDirty(values)
          tell(strings.profileSaved)
        }),
      )}
    >
      <Stack>
        <Row equal gap={12} align="start" wrap>
          <TextInput label={strings.firstName} autoComplete="given-name" maxLength={254} {...field('firstName')} />
          <TextInput label={strings.lastName} autoComplete="family-name" maxLength={254} {...field('lastName')} />
        </Row>
        <Row equal gap={12} align="start" wrap>
          <TextInput label={strings.email} type="email" autoComplete="email" maxLength={254} {...field('email')} />
          <TextInput label={strings.phone} type="tel" autoComplete="tel" maxLength={64} {...field('phone')} />
        </Row>
        <ErrorState failure={failure} inline />
        <Row wrap gap={16}>
          <Button type="submit" loading={busy} disabled={!form.isDirty()}>
            {strings.save}
          </Button>
        </Row>
      </Stack>
    </form>
  )
}

const Password = ({ account }: { account: Account }) => {
  const { api, session } = useServices()
  const { busy, failure, run } = useChange({ closes: false })
  const tokens = useTokenCount(account.userName)
  const form = useForm({
    initialValues: { oldPassword: '', newPassword: '', again: '', revokeApiTokens: false },
    validate: {
      oldPassword: (value) => (value === '' ? strings.currentPasswordMissing : null),
      newPassword: (value) => passwordFault(value, account.userName),
      again: (value, values) => (value === values.newPassword ? null : strings.passwordsDiffer),
    },
  })
  if (account.authSource !== 'Local') {
    return <Note>{strings.passwordElsewhere({ authSource: account.authSource })}</Note>
  }
  return (
    <form
      onSubmit={form.onSubmit(({ oldPassword, newPassword, revokeApiTokens }) =>
        run(async () => {
          await api.call(updateUserDetails, { body: { oldPassword, newPassword, revokeApiTokens } })
          await session.reload()
          form.reset()
          await tokens.reread()
          tell(strings.passwordChanged)
        }),
      )}
    >
      <Stack max={360}>
        <input type="hidden" autoComplete="username" value={account.userName} readOnly />
        <PasswordInput
          label={strings.currentPassword}
          autoComplete="current-password"
          {...form.getInputProps('oldPassword')}
        />
        <NewPasswordFields form={form} />
        <RevokeTokens
          count={tokens.count}
          checked={form.values.revokeApiTokens}
          onChange={(checked) => form.setFieldValue('revokeApiTokens', checked)}
        />
        <ErrorState failure={failure} inline />
        <Row wrap gap={16}>
          <Button type="submit" loading={busy} disabled={!form.isDirty()}>
            {strings.changePassword}
          </Button>
        </Row>
      </Stack>
    </form>
  )
}

/** The profile of the signed-in user: picture, name, password and second factor. */
export const ProfilePage = () => {
  useTitle(strings.myProfile)
  const state = useSession()
  if (state.phase !== 'in') return null
  const { account } = state.profile
  return (
    <SettingsPage title={strings.myProfile} intro={`${account.userName}, ${profileNames[account.userProfile]}`}>
      <Panel gap={16} max={720}>
        <Picture account={account} />
        <Details account={account} />
      </Panel>
      <Panel gap={16} max={720}>
        <h2>{strings.password}</h2>
        <Password account={account} />
      </Panel>
      <Panel gap={16} max={720} aria-label={strings.secondFactor}>
        <h2>{strings.secondFactor}</h2>
        <SecondFactor />
      </Panel>
    </SettingsPage>
  )
}
