import { Button, Modal } from '@mantine/core'
import { useServices } from '@portcullis/platform/console/lib/services.tsx'
import { CopyField } from '@portcullis/platform/console/ui/CopyField.tsx'
import { ErrorState } from '@portcullis/platform/console/ui/ErrorState.tsx'
import { DialogActions } from '@portcullis/platform/console/ui/form/DialogActions.tsx'
import { useChange } from '@portcullis/platform/console/ui/form/useChange.ts'
import { Row, Stack, Text } from '@portcullis/platform/console/ui/layout/layout.tsx'
import { Time } from '@portcullis/platform/console/ui/Time.tsx'
import { useState } from 'react'
import { createWorkerToken, type ResponseOf } from '#features/contract.ts'
import { strings } from './strings.ts'

const Body = ({ close }: { close: () => void }) => {
  const { api } = useServices()
  const [made, setMade] = useState<ResponseOf<typeof createWorkerToken> | null>(null)
  const { busy, failure, run } = useChange({ closes: false })
  const make = () =>
    run(async () => {
      setMade(await api.call(createWorkerToken))
    })
  if (made !== null)
    return (
      <Stack>
        <Text as="p">{strings.tokenText({ time: <Time value={made.expiresAt} form="local" /> })}</Text>
        <CopyField value={made.command} what={strings.command} />
        <Text as="p">{strings.tokenOnly}</Text>
        <CopyField value={made.token} what={strings.token} />
        <Row gap={16} justify="end" wrap>
          <Button onClick={close}>{strings.done}</Button>
        </Row>
      </Stack>
    )
  return (
    <Stack>
      <Text as="p">{strings.addWorkerText}</Text>
      <ErrorState failure={failure} inline />
      <DialogActions close={close} action={strings.createToken} run={() => void make()} busy={busy} startsAt="action" />
    </Stack>
  )
}

/** Creates the token of another worker process and shows it once. */
export const AddWorker = ({ opened, close }: { opened: boolean; close: () => void }) => (
  <Modal opened={opened} onClose={close} title={strings.addWorker} size="lg">
    {opened ? <Body close={close} /> : null}
  </Modal>
)
