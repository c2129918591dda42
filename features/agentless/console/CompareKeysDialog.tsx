import { Button, FileButton, Modal, Textarea } from '@mantine/core'
import { ErrorState } from '@portcullis/platform/console/ui/ErrorState.tsx'
import { DialogActions } from '@portcullis/platform/console/ui/form/DialogActions.tsx'
import { useChange } from '@portcullis/platform/console/ui/form/useChange.ts'
import { Row, Stack, Text } from '@portcullis/platform/console/ui/layout/layout.tsx'
import { useState } from 'react'
import { useConnectionActions } from './connection-actions.ts'
import { strings } from './strings.ts'

type Compared = Awaited<ReturnType<ReturnType<typeof useConnectionActions>['compareKeys']>>

const shown = (names: readonly string[]): string => {
  const first = names.slice(0, 10).join(', ')
  return names.length > 10 ? strings.namesAndMore({ names: first, count: names.length - 10 }) : first
}

const Outcome = ({ outcome }: { outcome: Compared }) => (
  <Text as="div" role="status">
    <p>
      {outcome.confirmed.length === 0
        ? strings.noKeysConfirmed
        : strings.keysConfirmed({ count: outcome.confirmed.length, names: shown(outcome.confirmed) })}
    </p>
    {outcome.different.length === 0 ? null : (
      <p>
        {strings.keysDifferent({
          names: shown(outcome.different.map(({ computerName }) => computerName)),
        })}
      </p>
    )}
    {outcome.notShown.length === 0 ? null : <p>{strings.keysNotShown({ names: shown(outcome.notShown) })}</p>}
    {outcome.unknown === 0 ? null : <p>{strings.keysUnknown({ count: outcome.unknown })}</p>}
    {outcome.unreadableLines.length === 0 ? null : (
      <p>{strings.keysUnreadable({ lines: outcome.unreadableLines.join(', ') })}</p>
    )}
  </Text>
)

const Body = ({ close }: { close: () => void }) => {
  const [list, setList] = useState('')
  const [outcome, setOutcome] = useState<Compared | null>(null)
  const { busy, failure, run, setFailure } = useChange({ closes: false })
  const actions = useConnectionActions()
  const compare = () =>
    run(async () => {
      setOutcome(await actions.compareKeys(list))
    })
  const read = async (file: File | null) => {
    try {
      if (file !== null) setList(await file.text())
    } catch (reason) {
      setFailure(reason)
    }
  }
  return (
    <Stack>
      <Textarea
        label={strings.hostKeys}
        description={strings.hostKeysHelp}
        autosize
        minRows={6}
        maxRows={16}
        value={list}
        onChange={(event) => setList(event.currentTarget.value)}
      />
      <Row wrap gap={16}>
        <FileButton onChange={(file) => void read(file)}>
          {(props) => (
            <Button {...props} size="compact-sm" variant="default">
              {strings.chooseFile}
            </Button>
          )}
        </FileButton>
      </Row>
      {outcome === null ? null : <Outcome outcome={outcome} />}
      <ErrorState failure={failure} inline />
      <DialogActions
        close={close}
        {...(outcome === null ? {} : { closeLabel: strings.close })}
        action={strings.confirmMatching}
        run={() => void compare()}
        busy={busy}
        isReady={list.trim() !== ''}
      />
    </Stack>
  )
}

/** Confirms the host keys of many hosts from a trusted list. */
export const CompareKeysDialog = ({ opened, close }: { opened: boolean; close: () => void }) => (
  <Modal opened={opened} onClose={close} title={strings.compareKeys} size="lg">
    {opened ? <Body close={close} /> : null}
  </Modal>
)
