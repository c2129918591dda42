import { useForm } from '@mantine/form'
import { fieldMessage } from '@portcullis/platform/console/lib/problem.ts'
import { useServices } from '@portcullis/platform/console/lib/services.tsx'
import { useChange } from '@portcullis/platform/console/ui/form/useChange.ts'
import { tell } from '@portcullis/platform/console/ui/tell.ts'
import { useState } from 'react'
import { type AccountView, addUser, type UserProfile, updateUser } from '#features/contract.ts'
import { passwordFault } from '../shared/password-rules.ts'
import { useTokenCount } from '../shared/useTokenCount.ts'
import { strings } from './strings.ts'

export interface SetPasswordLink {
  url: string
  expiresAt: string | null
}

/** State and request of the account form. */
export const useAccountForm = (account: AccountView | null, close: () => void, onSaved: () => void) => {
  const { api } = useServices()
  const { busy, failure, isStored, run } = useChange()
  const tokens = useTokenCount(account?.userName ?? '')
  const [link, setLink] = useState<SetPasswordLink | null>(null)
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
      revokeApiTokens: false,
    },
    validate: {
      userName: (value) => (value.trim() === '' ? strings.userNameMissing : null),
      password: (value, values) => (value === '' ? null : passwordFault(value, values.userName)),
    },
  })
  const field = (name: 'userName' | 'firstName' | 'lastName' | 'email' | 'phone' | 'password') => ({
    ...form.getInputProps(name),
    error: form.errors[name] ?? fieldMessage(failure, name),
  })
  const save = form.onSubmit(async ({ password, phone, userProfile, userName, revokeApiTokens, ...rest }) => {
    if (isStored) return
    const body = {
      ...rest,
      userName: account?.userName ?? userName.trim(),
      userProfile: Number(userProfile) as UserProfile,
      phone: phone === '' ? null : phone,
      password: password === '' ? null : password,
    }
    await run(async () => {
      if (account === null) {
        const made = await api.call(addUser, { body })
        onSaved()
        if (made.setPasswordUrl !== null) {
          setLink({ url: made.setPasswordUrl, expiresAt: made.setPasswordExpiresAt })
          return
        }
      } else {
        await api.call(updateUser, { body: { ...body, revokeApiTokens: revokeApiTokens && password !== '' } })
        onSaved()
      }
      tell(account === null ? strings.accountCreated : strings.accountSaved)
      close()
    })
  })
  return { form, field, save, busy, failure, isStored, link, tokens }
}
