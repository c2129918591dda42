import { Button, Group, Modal } from '@mantine/core'
import { type ImportResult, importTags } from '@portcullis/contract'
import { useState } from 'react'
import { useServices } from '../../lib/services.tsx'
import { DeviceText } from '../../ui/DeviceText.tsx'
import { ErrorState } from '../../ui/ErrorState.tsx'
import classes from './TagsPage.module.css'

const Report = ({ result }: { result: ImportResult }) => (
  <output className={classes.report}>
    <strong>
      {result.imported.toLocaleString('en')} {result.imported === 1 ? 'line' : 'lines'} imported
      {result.failed === 0 ? '' : `, ${result.failed.toLocaleString('en')} not`}
    </strong>
    {result.errors.length === 0 ? null : (
      <ul>
        {result.errors.map(({ line, message }) => (
          <li key={`${line}${message}`}>
            Line {line}: <DeviceText value={message} />
          </li>
        ))}
      </ul>
    )}
  </output>
)

const Body = ({ file, close }: { file: File; close: () => void }) => {
  const { api, queries } = useServices()
  const [result, setResult] = useState<ImportResult | null>(null)
  const [failure, setFailure] = useState<unknown>(null)
  const [busy, setBusy] = useState(false)
  const run = async () => {
    setBusy(true)
    setFailure(null)
    try {
      setResult(await api.call(importTags, { file }))
      void queries.invalidateQueries({ queryKey: ['tags'] })
    } catch (reason) {
      setFailure(reason)
    } finally {
      setBusy(false)
    }
  }
  return (
    <form
      className={classes.dialog}
      onSubmit={(event) => {
        event.preventDefault()
        if (result === null) void run()
        else close()
      }}
    >
      {result === null ? (
        <p>
          <DeviceText value={file.name} />, {Math.ceil(file.size / 1024).toLocaleString('en')} KiB. Each host and device
          it names gets exactly the tags of its line; tags it had and the line does not name go. Hosts and devices it
          does not name stay as they are. A line in error changes nothing and is told.
        </p>
      ) : (
        <Report result={result} />
      )}
      {failure === null ? null : <ErrorState failure={failure} inline />}
      <Group justify="flex-end" gap="sm">
        {result === null ? (
          <Button variant="default" onClick={close}>
            Cancel
          </Button>
        ) : null}
        <Button type="submit" loading={busy} data-autofocus>
          {result === null ? 'Import' : 'Done'}
        </Button>
      </Group>
    </form>
  )
}

/** Imports a file of tags: what it will do, then what it did, line by line where it did not. */
export const ImportTags = ({ file, close }: { file: File | null; close: () => void }) => (
  <Modal opened={file !== null} onClose={close} title="Import tags">
    {file === null ? null : <Body file={file} close={close} />}
  </Modal>
)
