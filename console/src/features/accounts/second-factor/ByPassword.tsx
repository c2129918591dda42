import { Button, Group, Stack } from '@mantine/core'
import { type ReactNode, useState } from 'react'
import { strings } from '../strings.ts'
import { PresentPassword } from './PresentPassword.tsx'

export interface ByPasswordProps {
  /** What will happen. */
  children: ReactNode
  /** Words of the button. */
  action: string
  hurts?: boolean
  run: (password: string) => Promise<void>
  close: () => void
}

/** Something that the password has to be given for once more. */
export const ByPassword = ({ children, action, hurts = false, run, close }: ByPasswordProps) => {
  const [password, setPassword] = useState('')
  const [busy, setBusy] = useState(false)
  const [failure, setFailure] = useState<unknown>(null)
  return (
    <form
      onSubmit={(event) => {
        event.preventDefault()
        setBusy(true)
        setFailure(null)
        run(password).catch((reason: unknown) => {
          setFailure(reason)
          setBusy(false)
        })
      }}
    >
      <Stack gap="md">
        <p style={{ margin: 0 }}>{children}</p>
        <PresentPassword value={password} onChange={setPassword} failure={failure} isFirst />
        <Group justify="flex-end" gap="sm">
          <Button variant="default" onClick={close}>
            {strings.cancel}
          </Button>
          <Button type="submit" loading={busy} {...(hurts ? { color: 'red' } : {})}>
            {action}
          </Button>
        </Group>
      </Stack>
    </form>
  )
}
