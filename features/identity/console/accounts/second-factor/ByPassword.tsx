import { DialogActions } from '@portcullis/platform/console/ui/form/DialogActions.tsx'
import { submits } from '@portcullis/platform/console/ui/form/submits.ts'
import { useChange } from '@portcullis/platform/console/ui/form/useChange.ts'
import { Stack } from '@portcullis/platform/console/ui/layout/layout.tsx'
import { type ReactNode, useState } from 'react'
import { CurrentPassword } from './CurrentPassword.tsx'

export interface ByPasswordProps {
  children: ReactNode
  /** Text of the button. */
  action: string
  hurts?: boolean
  run: (password: string) => Promise<void>
  close: () => void
}

/** Asks for the password again before a change. */
export const ByPassword = ({ children, action, hurts = false, run, close }: ByPasswordProps) => {
  const [password, setPassword] = useState('')
  const { busy, failure, run: send } = useChange()
  return (
    <form onSubmit={submits(() => send(() => run(password)))}>
      <Stack>
        <p style={{ margin: 0 }}>{children}</p>
        <CurrentPassword value={password} onChange={setPassword} failure={failure} isFirst />
        <DialogActions close={close} action={action} busy={busy} isDangerous={hurts} startsAt="form" />
      </Stack>
    </form>
  )
}
