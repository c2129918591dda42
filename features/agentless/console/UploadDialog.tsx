import { Button, FileButton, Modal } from '@mantine/core'
import { curlOf } from '@portcullis/platform/console/lib/curl.ts'
import { messages } from '@portcullis/platform/console/lib/messages.ts'
import { useServices } from '@portcullis/platform/console/lib/services.tsx'
import { DeviceText } from '@portcullis/platform/console/ui/DeviceText.tsx'
import { ErrorState } from '@portcullis/platform/console/ui/ErrorState.tsx'
import { DialogActions } from '@portcullis/platform/console/ui/form/DialogActions.tsx'
import { useChange } from '@portcullis/platform/console/ui/form/useChange.ts'
import { Icon } from '@portcullis/platform/console/ui/icons.tsx'
import { Row, Stack, Text } from '@portcullis/platform/console/ui/layout/layout.tsx'
import { MoreMenu } from '@portcullis/platform/console/ui/MoreMenu.tsx'
import { SeverityTag } from '@portcullis/platform/console/ui/SeverityTag.tsx'
import { right, SmallTable } from '@portcullis/platform/console/ui/SmallTable.tsx'
import { useRef, useState } from 'react'
import { uploadConnections } from '#features/contract.ts'
import { openedHosts } from '#features/policy/console/shared/labels.ts'
import { asReason, lacksReason, NewlyAllowed } from '#features/policy/console/shared/NewlyAllowed.tsx'
import classes from './agentless.module.css'
import { rereadConnections } from './connection-actions.ts'
import { strings } from './strings.ts'
import { previewLines, type UploadLine, type UploadReport, uploadText } from './upload-preview.ts'

const header = 'ComputerName,Port,Platform,UserName,Password,PrivateKey,IntervalMinutes,Tags'
const outcomeLabels: Readonly<Record<UploadLine['outcome'], string>> = messages({
  added: 'new',
  updated: 'changed',
  unchanged: 'unchanged',
  failed: 'error',
})

const Preview = ({ report }: { report: UploadReport }) => {
  const lines = previewLines(report)
  return (
    <div className={classes.preview}>
      <SmallTable
        label={strings.uploadLines}
        head={[right(strings.line), strings.hostName, strings.outcome, strings.message]}
        rows={lines.map(({ line, computerName, outcome, message }) => ({
          key: String(line),
          quiet: outcome === 'unchanged',
          cells: [
            line.toLocaleString('en'),
            <DeviceText key="name" value={computerName} />,
            outcome === 'failed' ? (
              <SeverityTag key="outcome" severity="amber" word={outcomeLabels[outcome]} />
            ) : (
              outcomeLabels[outcome]
            ),
            <Text key="why" breaks>
              {message}
            </Text>,
          ],
        }))}
        empty={strings.uploadEmpty}
      />
    </div>
  )
}

/** State and requests of the upload: the file, its preview and the saving. */
const useUpload = () => {
  const { api, queries } = useServices()
  const [file, setFile] = useState<File | null>(null)
  const [report, setReport] = useState<UploadReport | null>(null)
  const reset = useRef<() => void>(null)
  const [isDone, setIsDone] = useState(false)
  const { busy, failure, isStored, run, setFailure } = useChange({ closes: false })
  const [reason, setReason] = useState('')

  const send = (sent: File, dryRun: boolean) =>
    run(async () => {
      setReport(await api.call(uploadConnections, { query: { dryRun, ...asReason(reason) }, file: sent }))
      setIsDone(!dryRun)
      if (!dryRun) void rereadConnections(queries)
    })
  const choose = async (chosen: File | null) => {
    // The same file may be chosen again after it was corrected.
    reset.current?.()
    if (chosen === null) return
    setReport(null)
    try {
      // A copy of the file as it is now, so that the saved content is the previewed one.
      const held = new File([await chosen.arrayBuffer()], chosen.name, { type: 'text/csv' })
      setFile(held)
      await send(held, true)
    } catch (cause) {
      setFailure(cause)
    }
  }
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

/** The preview or the result of the upload. */
const Result = ({ upload, report }: { upload: Upload; report: UploadReport }) => {
  const { file, isDone, isStored, opens, reason, setReason } = upload
  return (
    <>
      <Text as="p" role="status">
        {file === null ? null : (
          <>
            <DeviceText value={file.name} />:{' '}
          </>
        )}
        <strong>{uploadText(report, isDone)}</strong>
        {report.failed === 0 || isDone ? '' : `. ${strings.uploadSkips}`}
      </Text>
      {report.secondPerson ? (
        <Text as="p" role="note">
          {strings.uploadNeedsApproval}
        </Text>
      ) : null}
      {isDone || isStored ? null : <NewlyAllowed opens={opens} reason={reason} setReason={setReason} />}
      <Preview report={report} />
    </>
  )
}

const Actions = ({ upload, close }: { upload: Upload; close: () => void }) => {
  const { file, report, reset, busy, isStored, reason, opened, willDo, choose, send } = upload
  return (
    <DialogActions
      close={close}
      action={
        report === null || file === null
          ? null
          : report.secondPerson
            ? strings.requestApproval
            : strings.saveHosts({ count: willDo })
      }
      run={() => {
        if (file !== null) void send(file, false)
      }}
      busy={busy}
      isReady={willDo > 0 && !lacksReason(opened, reason)}
      isStored={isStored}
      aside={
        <MoreMenu
          label={strings.moreActions}
          curl={() =>
            curlOf(uploadConnections, {
              query: { dryRun: true },
              file: new File([], file?.name ?? 'connections.csv'),
            })
          }
        />
      }
    >
      <FileButton resetRef={reset} accept=".csv,text/csv" onChange={(chosen) => void choose(chosen)}>
        {(props) => (
          <Button
            {...props}
            variant={report === null ? 'filled' : 'default'}
            loading={busy && report === null}
            leftSection={<Icon name="upload" size={14} />}
          >
            {file === null ? strings.chooseFile : strings.chooseAnother}
          </Button>
        )}
      </FileButton>
    </DialogActions>
  )
}

const Body = ({ close }: { close: () => void }) => {
  const upload = useUpload()
  const { report, isDone, failure } = upload
  return (
    <Stack>
      {isDone ? null : (
        <Text as="p">
          {strings.uploadText({
            header: (
              <Text as="code" breaks>
                {header}
              </Text>
            ),
          })}
        </Text>
      )}
      <ErrorState failure={failure} inline />
      {report === null ? null : <Result upload={upload} report={report} />}
      {isDone ? (
        <Row gap={16} justify="end" wrap>
          <Button onClick={close}>{strings.done}</Button>
        </Row>
      ) : (
        <Actions upload={upload} close={close} />
      )}
    </Stack>
  )
}

/** Adds and changes many agentless hosts from a file, after a preview. */
export const UploadDialog = ({ opened, close }: { opened: boolean; close: () => void }) => (
  <Modal opened={opened} onClose={close} title={strings.uploadTitle} size="xl">
    {opened ? <Body close={close} /> : null}
  </Modal>
)
