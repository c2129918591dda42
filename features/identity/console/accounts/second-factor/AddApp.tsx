import { TextInput } from '@mantine/core'
import { CallFailure } from '@portcullis/platform/console/lib/problem.ts'
import { useServices } from '@portcullis/platform/console/lib/services.tsx'
import { CopyField } from '@portcullis/platform/console/ui/CopyField.tsx'
import { ErrorState } from '@portcullis/platform/console/ui/ErrorState.tsx'
import { DialogActions } from '@portcullis/platform/console/ui/form/DialogActions.tsx'
import { useChange } from '@portcullis/platform/console/ui/form/useChange.ts'
import { Stack, Text } from '@portcullis/platform/console/ui/layout/layout.tsx'
import { useState } from 'react'
import { confirmTotp, type ResponseOf, startTotp } from '#features/contract.ts'
import { strings } from '../strings.ts'
import { ByPassword } from './ByPassword.tsx'
import { QrCode } from './QrCode.tsx'

export interface AddProps {
  close: () => void
  /** Called when the factor is added; with the recovery codes if it is the first one. */
  onAdded: (recoveryCodes: string[]) => void
}

/** Shows a secret in groups of four for people who type it; copying leaves out the gaps. */
const inFours = (secret: string) =>
  (secret.match(/.{1,4}/g) ?? []).map((four, index) => (
    // biome-ignore lint/suspicious/noArrayIndexKey: the text is constant, and groups may repeat
    <Text key={index} style={{ marginRight: 8 }}>
      {four}
    </Text>
  ))

const Confirm = ({ secret, uri, close, onAdded }: ResponseOf<typeof startTotp> & AddProps) => {
  const { api } = useServices()
  const [code, setCode] = useState('')
  const { busy, failure, run } = useChange()
  const isWrong = failure instanceof CallFailure && failure.code === 'mfa_code_wrong'
  return (
    <form
      onSubmit={async (event) => {
        event.preventDefault()
        await run(async () => {
          onAdded((await api.call(confirmTotp, { body: { code } })).recoveryCodes)
        })
      }}
    >
      <Stack>
        <p style={{ margin: 0 }}>{strings.scanCode}</p>
        <QrCode text={uri} label={strings.qrCode} />
        <CopyField value={secret} what={strings.key} shown={inFours(secret)} />
        <TextInput
          label={strings.currentCode}
          autoComplete="one-time-code"
          inputMode="numeric"
          minLength={6}
          maxLength={16}
          required
          withAsterisk={false}
          autoFocus
          value={code}
          onChange={(event) => setCode(event.currentTarget.value)}
          error={isWrong ? strings.codeRefused : undefined}
        />
        {failure === null || isWrong ? null : <ErrorState failure={failure} inline />}
        <DialogActions close={close} action={strings.confirm} busy={busy} startsAt="form" />
      </Stack>
    </form>
  )
}

/** Sets up an authenticator app. The app counts once one of its codes was correct. */
export const AddApp = (props: AddProps) => {
  const { api } = useServices()
  const [started, setStarted] = useState<ResponseOf<typeof startTotp> | null>(null)
  if (started !== null) return <Confirm {...started} {...props} />
  return (
    <ByPassword
      action={strings.continue}
      close={props.close}
      run={async (password) => setStarted(await api.call(startTotp, { body: { password } }))}
    >
      {strings.appText}
    </ByPassword>
  )
}
