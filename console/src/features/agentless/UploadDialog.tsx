import { Button, FileButton, Group, Modal, Stack } from '@mantine/core'
import { uploadConnections } from '@portcullis/contract'
import { useRef, useState } from 'react'
import { curlOf } from '../../lib/curl.ts'
import { isStoredRequest } from '../../lib/problem.ts'
import { useServices } from '../../lib/services.tsx'
import { DeviceText } from '../../ui/DeviceText.tsx'
import { ErrorState } from '../../ui/ErrorState.tsx'
import { Icon } from '../../ui/icons.tsx'
import { MoreMenu } from '../../ui/MoreMenu.tsx'
import { openedHosts } from '../../ui/policy/labels.ts'
import { asReason, lacksReason, NewlyAllowed } from '../../ui/policy/NewlyAllowed.tsx'
import { SeverityTag } from '../../ui/SeverityTag.tsx'
import { SmallTable } from '../../ui/SmallTable.tsx'
import classes from './agentless.module.css'
import { rereadConnections } from './connection-actions.ts'
import { strings } from './strings.ts'
import { previewLines, type UploadLine, type UploadReport, uploadText } from './upload-preview.ts'

const header = 'ComputerName,Port,Platform,UserName,Password,PrivateKey,IntervalMinutes,Tags'
const outcomeWords: Readonly<Record<UploadLine['outcome'], string>> = {
  added: 'new',
  updated: 'changes',
  unchanged: 'as it was',
  failed: 'in error',
}

const Preview = ({ report }: { report: UploadReport }) => {
  const lines = previewLines(report)
  return (
    <div className={classes.preview}>
      <SmallTable
        label={strings.linesOfTheFile}
        head={[{ title: strings.line, align: 'right' }, strings.computer, strings.outcome, strings.why]}
        rows={lines.map(({ line, computerName, outcome, message }) => ({
          key: String(line),
          quiet: outcome === 'unchanged',
          cells: [
            line.toLocaleString('en'),
            <DeviceText key="name" value={computerName} />,
            outcome === 'failed' ? (
              <SeverityTag key="outcome" severity="amber" word={outcomeWords[outcome]} />
            ) : (
              outcomeWords[outcome]
            ),
            <span key="why" className={classes.why}>
              {message}
            </span>,
          ],
        }))}
        empty={strings.theFileHasNoLineBelow}
      />
    </div>
  )
}

/** The file, what it would do, and the requests that ask and store. */
const useUpload = () => {
  const { api, queries } = useServices()
  const [file, setFile] = useState<File | null>(null)
  const [report, setReport] = useState<UploadReport | null>(null)
  const reset = useRef<() => void>(null)
  const [isDone, setIsDone] = useState(false)
  const [failure, setFailure] = useState<unknown>(null)
  const [busy, setBusy] = useState(false)
  const [reason, setReason] = useState('')

  const send = async (sent: File, dryRun: boolean) => {
    setBusy(true)
    setFailure(null)
    try {
      setReport(await api.call(uploadConnections, { query: { dryRun, ...asReason(reason) }, file: sent }))
      setIsDone(!dryRun)
      if (!dryRun) void rereadConnections(queries)
    } catch (cause) {
      setFailure(cause)
    } finally {
      setBusy(false)
    }
  }
  const choose = async (chosen: File | null) => {
    // Mended on the disk, the same file may be chosen again.
    reset.current?.()
    if (chosen === null) return
    setReport(null)
    try {
      // Held as it is now, so that what is stored is what was tried.
      const held = new File([await chosen.arrayBuffer()], chosen.name, { type: 'text/csv' })
      setFile(held)
      await send(held, true)
    } catch (cause) {
      setFailure(cause)
    }
  }
  const isStored = isStoredRequest(failure)
  const opens = report === null ? null : { worksAgain: null, ...report }
  const opened = opens === null ? 0 : openedHosts(opens)
  const willDo = report === null ? 0 : report.added + report.updated
  return {
    file,
    report,
    reset,
    isDone,
    failure,
    busy,
    reason,
    setReason,
    send,
    choose,
    isStored,
    opens,
    opened,
    willDo,
  }
}
type Upload = ReturnType<typeof useUpload>

/** What the file would do, or did. */
const Result = ({ upload, report }: { upload: Upload; report: UploadReport }) => {
  const { file, isDone, isStored, opens, reason, setReason } = upload
  return (
    <>
      <p className={classes.text} role="status">
        {file === null ? null : (
          <>
            <DeviceText value={file.name} />:{' '}
          </>
        )}
        <strong>{uploadText(report, isDone)}</strong>
        {report.failed === 0 || isDone ? '' : '. Lines in error are left out, the others are stored.'}
      </p>
      {report.secondPerson ? (
        <p className={classes.text} role="note">
          {strings.theTagsInThisFileNeed}
        </p>
      ) : null}
      {isDone || isStored ? null : <NewlyAllowed opens={opens} reason={reason} setReason={setReason} />}
      <Preview report={report} />
    </>
  )
}

const Actions = ({ upload, close }: { upload: Upload; close: () => void }) => {
  const { file, report, reset, busy, isStored, reason, opened, willDo, choose, send } = upload
  return (
    <>
      <MoreMenu
        label={strings.moreOfTheUpload}
        curl={() =>
          curlOf(window.location.origin, uploadConnections, {
            query: { dryRun: true },
            file: new File([], file?.name ?? 'connections.csv'),
          })
        }
      />
      <Button variant="default" onClick={close} data-autofocus>
        {isStored ? strings.close : strings.cancel}
      </Button>
      <FileButton resetRef={reset} accept=".csv,text/csv" onChange={(chosen) => void choose(chosen)}>
        {(props) => (
          <Button
            {...props}
            variant={report === null ? 'filled' : 'default'}
            loading={busy && report === null}
            leftSection={<Icon name="upload" size={14} />}
          >
            {file === null ? strings.chooseAFile : strings.chooseAnother}
          </Button>
        )}
      </FileButton>
      {report === null || file === null || isStored ? null : (
        <Button
          loading={busy}
          disabled={willDo === 0 || lacksReason(opened, reason)}
          onClick={() => void send(file, false)}
        >
          {report.secondPerson ? strings.requestApproval : strings.storeWilldoOtherComputers({ willDo })}
        </Button>
      )}
    </>
  )
}

const Body = ({ close }: { close: () => void }) => {
  const upload = useUpload()
  const { report, isDone, failure } = upload
  return (
    <Stack gap="md">
      {isDone ? null : (
        <p className={classes.text}>
          {strings.aCsvFileInUtf8({ code: <code className={classes.header}>{header}</code> })}
        </p>
      )}
      {failure === null ? null : <ErrorState failure={failure} inline />}
      {report === null ? null : <Result upload={upload} report={report} />}
      <Group justify="flex-end" gap="sm">
        {isDone ? <Button onClick={close}>{strings.done}</Button> : <Actions upload={upload} close={close} />}
      </Group>
    </Stack>
  )
}

/** Adds and changes many polled computers by a file: first what it would do, then it. */
export const UploadDialog = ({ opened, close }: { opened: boolean; close: () => void }) => (
  <Modal opened={opened} onClose={close} title={strings.addComputersByAFile} size="xl">
    {opened ? <Body close={close} /> : null}
  </Modal>
)
