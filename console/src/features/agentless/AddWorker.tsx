import { Button, Group, Modal, Stack } from '@mantine/core'
import { createWorkerToken, type ResponseOf } from '@portcullis/contract'
import { useState } from 'react'
import { useServices } from '../../lib/services.tsx'
import { CopyField } from '../../ui/CopyField.tsx'
import { ErrorState } from '../../ui/ErrorState.tsx'
import { Time } from '../../ui/Time.tsx'
import classes from './agentless.module.css'

const Body = ({ close }: { close: () => void }) => {
  const { api } = useServices()
  const [made, setMade] = useState<ResponseOf<typeof createWorkerToken> | null>(null)
  const [failure, setFailure] = useState<unknown>(null)
  const [busy, setBusy] = useState(false)
  const make = async () => {
    setBusy(true)
    setFailure(null)
    try {
      setMade(await api.call(createWorkerToken))
    } catch (reason) {
      setFailure(reason)
    } finally {
      setBusy(false)
    }
  }
  if (made !== null)
    return (
      <Stack gap="md">
        <p className={classes.text}>
          Run this on the other machine. It is for one process, until <Time value={made.expiresAt} form="local" />, and
          shown only now.
        </p>
        <CopyField value={made.command} what="Command" />
        <p className={classes.text}>The token alone:</p>
        <CopyField value={made.token} what="Token" />
        <Group justify="flex-end">
          <Button onClick={close}>Done</Button>
        </Group>
      </Stack>
    )
  return (
    <Stack gap="md">
      <p className={classes.text}>
        A worker on another machine polls what this server does not reach, or shares the work. It signs in with a token
        of its own; credentials of computers come to it only while the worker is activated.
      </p>
      {failure === null ? null : <ErrorState failure={failure} inline />}
      <Group justify="flex-end" gap="sm">
        <Button variant="default" onClick={close}>
          Cancel
        </Button>
        <Button loading={busy} onClick={() => void make()} data-autofocus>
          Make the token
        </Button>
      </Group>
    </Stack>
  )
}

/** Makes the token of one more worker process and shows it once. */
export const AddWorker = ({ opened, close }: { opened: boolean; close: () => void }) => (
  <Modal opened={opened} onClose={close} title="Add a worker" size="lg">
    {opened ? <Body close={close} /> : null}
  </Modal>
)
