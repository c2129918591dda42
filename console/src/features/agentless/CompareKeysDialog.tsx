import { Button, Group, Modal, Stack, Textarea } from '@mantine/core'
import { useState } from 'react'
import { ErrorState } from '../../ui/ErrorState.tsx'
import classes from './agentless.module.css'
import { useConnectionActions } from './connection-actions.ts'

type Compared = Awaited<ReturnType<ReturnType<typeof useConnectionActions>['compareKeys']>>

const shown = (names: readonly string[]): string =>
  names.slice(0, 10).join(', ') + (names.length > 10 ? ` and ${names.length - 10} more` : '')

const Outcome = ({ outcome }: { outcome: Compared }) => (
  <div className={classes.text} role="status">
    <p>
      {outcome.confirmed.length.toLocaleString('en')} confirmed
      {outcome.confirmed.length > 0 ? `: ${shown(outcome.confirmed)}` : ''}.
    </p>
    {outcome.different.length === 0 ? null : (
      <p>
        Not confirmed, because the key differs from the list:{' '}
        {shown(outcome.different.map(({ computerName }) => computerName))}. Someone may be intercepting the connection.
      </p>
    )}
    {outcome.notShown.length === 0 ? null : <p>Not contacted yet: {shown(outcome.notShown)}.</p>}
    {outcome.unknown === 0 ? null : (
      <p>{outcome.unknown.toLocaleString('en')} listed names match no connection that waits for confirmation.</p>
    )}
    {outcome.unreadableLines.length === 0 ? null : (
      <p>Lines that cannot be read: {outcome.unreadableLines.join(', ')}. Hashed names cannot be compared.</p>
    )}
  </div>
)

const Body = ({ close }: { close: () => void }) => {
  const [list, setList] = useState('')
  const [outcome, setOutcome] = useState<Compared | null>(null)
  const [failure, setFailure] = useState<unknown>(null)
  const [busy, setBusy] = useState(false)
  const actions = useConnectionActions(() => undefined)
  const compare = async () => {
    setBusy(true)
    setFailure(null)
    try {
      setOutcome(await actions.compareKeys(list))
    } catch (reason) {
      setFailure(reason)
    } finally {
      setBusy(false)
    }
  }
  return (
    <Stack gap="md">
      <Textarea
        label="Host keys"
        description="Lines of known_hosts, output of ssh-keygen -l, or lines of the form: name SHA256:…"
        autosize
        minRows={6}
        maxRows={16}
        value={list}
        onChange={(event) => setList(event.currentTarget.value)}
      />
      {outcome === null ? null : <Outcome outcome={outcome} />}
      {failure === null ? null : <ErrorState failure={failure} inline />}
      <Group gap="sm">
        <Button variant="default" data-autofocus onClick={close}>
          {outcome === null ? 'Cancel' : 'Close'}
        </Button>
        <Button loading={busy} disabled={list.trim() === ''} onClick={() => void compare()}>
          Confirm matching computers
        </Button>
      </Group>
    </Stack>
  )
}

/** Confirms the host keys of many computers from a trusted list. */
export const CompareKeysDialog = ({ opened, close }: { opened: boolean; close: () => void }) => (
  <Modal opened={opened} onClose={close} title="Compare host keys" size="lg">
    {opened ? <Body close={close} /> : null}
  </Modal>
)
