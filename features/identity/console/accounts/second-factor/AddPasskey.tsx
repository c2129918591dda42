import { Alert, TextInput } from '@mantine/core'
import { CallFailure } from '@portcullis/platform/console/lib/problem.ts'
import { useServices } from '@portcullis/platform/console/lib/services.tsx'
import { DialogActions } from '@portcullis/platform/console/ui/form/DialogActions.tsx'
import { useChange } from '@portcullis/platform/console/ui/form/useChange.ts'
import { Stack } from '@portcullis/platform/console/ui/layout/layout.tsx'
import { useEffect, useState } from 'react'
import { finishPasskey, startPasskey } from '#features/contract.ts'
import { endPasskeyQuestion, makePasskey, passkeyRefusal } from '../../shared/passkeys.ts'
import { strings } from '../strings.ts'
import type { AddProps } from './AddApp.tsx'
import { CurrentPassword } from './CurrentPassword.tsx'

/** Creates a passkey in the browser and registers it. */
export const AddPasskey = ({ close, onAdded }: AddProps) => {
  const { api } = useServices()
  const [name, setName] = useState('')
  const [password, setPassword] = useState('')
  const { busy, failure, run } = useChange()
  useEffect(() => endPasskeyQuestion, [])
  const isOfBrowser = failure !== null && (!(failure instanceof CallFailure) || failure.code === 'mfa_code_wrong')
  const refusal = isOfBrowser ? passkeyRefusal(failure) : null
  return (
    <form
      onSubmit={async (event) => {
        event.preventDefault()
        await run(async () => {
          const { options } = await api.call(startPasskey, { body: { password } })
          const response = await makePasskey(options)
          onAdded((await api.call(finishPasskey, { body: { name: name.trim(), response } })).recoveryCodes)
        })
      }}
    >
      <Stack>
        <p style={{ margin: 0 }}>{strings.passkeyText}</p>
        <TextInput
          label={strings.passkeyName}
          placeholder={strings.passkeyExample}
          maxLength={64}
          required
          withAsterisk={false}
          data-autofocus
          // A name of spaces only is not a name.
          pattern=".*\S.*"
          title={strings.passkeyNameHelp}
          value={name}
          onChange={(event) => setName(event.currentTarget.value)}
        />
        <CurrentPassword value={password} onChange={setPassword} failure={isOfBrowser ? null : failure} />
        {refusal === null ? null : (
          <Alert color="red" role="alert">
            {refusal}
          </Alert>
        )}
        <DialogActions close={close} action={strings.addPasskey} busy={busy} startsAt="form" />
      </Stack>
    </form>
  )
}
