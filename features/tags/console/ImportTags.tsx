import { Button, Modal } from '@mantine/core'
import { useServices } from '@portcullis/platform/console/lib/services.tsx'
import { DeviceText } from '@portcullis/platform/console/ui/DeviceText.tsx'
import { ErrorState } from '@portcullis/platform/console/ui/ErrorState.tsx'
import { DialogActions } from '@portcullis/platform/console/ui/form/DialogActions.tsx'
import { useChange } from '@portcullis/platform/console/ui/form/useChange.ts'
import { Row, Stack, Text } from '@portcullis/platform/console/ui/layout/layout.tsx'
import { useEffect, useState } from 'react'
import { type ImportResult, importTags } from '#features/contract.ts'
import { openedHosts } from '#features/policy/console/shared/labels.ts'
import { asReason, lacksReason, NewlyAllowed } from '#features/policy/console/shared/NewlyAllowed.tsx'
import { strings } from './strings.ts'

const Report = ({ result, isDone }: { result: ImportResult; isDone: boolean }) => (
  <Text as="output" block small>
    <strong>
      {(isDone ? strings.imported : strings.importable)({ count: result.imported })}
      {result.failed === 0 ? '' : `; ${strings.faulty({ count: result.failed })}`}
    </strong>
    {result.errors.length === 0 ? null : (
      <ul>
        {result.errors.map(({ line, message }) => (
          <li key={`${line}${message}`}>
            {strings.lineError({ line, message: <DeviceText key="message" value={message} /> })}
          </li>
        ))}
      </ul>
    )}
  </Text>
)

const Body = ({ file, close }: { file: File; close: () => void }) => {
  const { api, queries } = useServices()
  const [held, setHeld] = useState<File | null>(null)
  const [tried, setTried] = useState<ImportResult | null>(null)
  const [done, setDone] = useState<ImportResult | null>(null)
  const { busy, failure, isStored, run: send, setFailure } = useChange({ closes: false })
  const [reason, setReason] = useState('')
  const opens = tried === null ? null : { worksAgain: null, ...tried }
  const opened = opens === null ? 0 : openedHosts(opens)
  useEffect(() => {
    const control = new AbortController()
    const { signal } = control
    const tryIt = async (): Promise<void> => {
      // A copy, so that the import uses the same content as the dry run.
      const copy = new File([await file.arrayBuffer()], file.name, { type: 'text/csv' })
      const result = await api.call(importTags, { query: { dryRun: true }, file: copy, signal })
      setHeld(copy)
      setTried(result)
    }
    tryIt().catch((reason: unknown) => {
      if (!signal.aborted) setFailure(reason)
    })
    return () => control.abort()
  }, [api, file, setFailure])
  const run = async (): Promise<void> => {
    if (held === null) return
    await send(async () => {
      setDone(await api.call(importTags, { query: asReason(reason), file: held }))
      void queries.invalidateQueries({ queryKey: ['tags'] })
    })
  }
  const result = done ?? tried
  return (
    <Stack
      as="form"
      gap={14}
      breaks
      onSubmit={(event) => {
        event.preventDefault()
        if (done !== null) close()
        else if (!isStored) void run()
      }}
    >
      {done === null ? (
        <p>
          {strings.importEffect({
            file: <DeviceText key="file" value={file.name} />,
            size: Math.ceil(file.size / 1024),
          })}
        </p>
      ) : null}
      {result === null ? (
        failure === null ? (
          <p aria-busy="true">{strings.checking}</p>
        ) : null
      ) : (
        <Report result={result} isDone={done !== null} />
      )}
      {done !== null || isStored ? null : <NewlyAllowed opens={opens} reason={reason} setReason={setReason} />}
      <ErrorState failure={failure} inline />
      {done === null ? (
        // The dry run ends after the dialog opens, so focus always starts at Cancel.
        <DialogActions
          close={close}
          action={tried === null ? strings.import : strings.importLines({ count: tried.imported })}
          busy={busy}
          isReady={tried !== null && tried.imported > 0 && !lacksReason(opened, reason)}
          isStored={isStored}
        />
      ) : (
        <Row gap={16} justify="end" wrap>
          <Button type="submit">{strings.done}</Button>
        </Row>
      )}
    </Stack>
  )
}

/** Imports a tag file after a dry run, and reports errors by line. */
export const ImportTags = ({ file, close }: { file: File | null; close: () => void }) => (
  <Modal opened={file !== null} onClose={close} title={strings.importTags}>
    {file === null ? null : <Body file={file} close={close} />}
  </Modal>
)
