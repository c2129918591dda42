import { Button, FileButton, Modal, SegmentedControl, Textarea, TextInput } from '@mantine/core'
import { ErrorState } from '@portcullis/platform/console/ui/ErrorState.tsx'
import { bindText } from '@portcullis/platform/console/ui/form/bind-text.ts'
import { DialogActions } from '@portcullis/platform/console/ui/form/DialogActions.tsx'
import { RestoredInput } from '@portcullis/platform/console/ui/form/RestoredInput.tsx'
import { submits } from '@portcullis/platform/console/ui/form/submits.ts'
import { Columns, Note, Panel, Row, Stack } from '@portcullis/platform/console/ui/layout/layout.tsx'
import { SeverityLine } from '@portcullis/platform/console/ui/SeverityTag.tsx'
import type { RuleImport } from '#features/contract.ts'
import { Hosts } from './RuleFields.tsx'
import { GroupField } from './shared/GroupField.tsx'
import { basisText, changeText, openedText } from './shared/labels.ts'
import { strings } from './strings.ts'
import { useRuleList } from './useRuleList.ts'

/** What the list would add, and what the rules would change. */
const Counts = ({ said }: { said: RuleImport }) => {
  const { added, duplicates, covered, prediction } = said
  const change = prediction === undefined ? null : changeText(prediction)
  const opened = openedText(said)
  return (
    <Panel as="output" dense tone="raised" fixed aria-live="polite" data-testid="list-preview">
      <p>
        <strong>{strings.listAdds({ count: added })}</strong> {strings.listSkips({ duplicates, covered })}
      </p>
      {added === 0 ? null : (
        <>
          {change === null ? (
            <Note>{strings.restoreNoDevices}</Note>
          ) : (
            <SeverityLine severity={change.severity}>{change.text}</SeverityLine>
          )}
          {opened === null ? null : (
            <SeverityLine severity={opened.severity}>
              <strong>{opened.text}</strong>
            </SeverityLine>
          )}
          {said.secondPerson === true ? <SeverityLine severity="amber">{strings.needsApprover}</SeverityLine> : null}
          {prediction === undefined ? null : <Note>{basisText(prediction)}</Note>}
        </>
      )}
    </Panel>
  )
}

const Fields = ({ list }: { list: ReturnType<typeof useRuleList> }) => {
  const { draft, edit, faults } = list
  const text = bindText(draft, edit, (name: 'vid' | 'pid' | 'expires' | 'reason') =>
    draft[name] === '' || name === 'reason' ? undefined : faults[name],
  )
  return (
    <>
      <SegmentedControl
        size="xs"
        fullWidth
        aria-label={strings.effect}
        value={draft.effect}
        onChange={(effect) => edit({ effect: effect === 'deny' ? 'deny' : 'allow' })}
        data={[
          { value: 'allow', label: strings.allow },
          { value: 'deny', label: strings.deny },
        ]}
      />
      <Textarea
        label={strings.serialNumbers}
        description={strings.listHelp}
        autosize
        minRows={6}
        maxRows={14}
        value={list.text}
        onChange={(event) => list.setText(event.currentTarget.value)}
        data-autofocus
      />
      <Row wrap>
        <FileButton accept=".csv,.tsv,.txt,.xlsx" onChange={(file) => void list.read(file)}>
          {(props) => (
            <Button {...props} size="compact-sm" variant="default">
              {strings.chooseListFile}
            </Button>
          )}
        </FileButton>
        <Note>{strings.listFiles}</Note>
      </Row>
      <Columns template="1fr 1fr" gap={8} align="start">
        <TextInput size="xs" label={strings.vendorIdOfList} placeholder="0781" maxLength={4} {...text('vid')} />
        <TextInput size="xs" label={strings.productIdOfList} placeholder="5571" maxLength={4} {...text('pid')} />
      </Columns>
      <Hosts draft={draft} change={edit} faults={{}} />
      <TextInput size="xs" type="datetime-local" label={strings.optionalEnd} {...text('expires')} />
      <TextInput
        size="xs"
        label={strings.reason}
        placeholder={strings.listReasonHint}
        maxLength={200}
        {...text('reason')}
      />
      <GroupField value={draft.group} onChange={(group) => edit({ group })} />
    </>
  )
}

const Body = ({ close }: { close: () => void }) => {
  const list = useRuleList(close)
  const { said, isReady, busy, isStored } = list
  const isChecked = said !== null
  return (
    <Stack
      as="form"
      gap={12}
      aria-label={strings.addFromList}
      onSubmit={submits(() => {
        if (isReady && !isStored && !busy && said?.added !== 0) void (isChecked ? list.add() : list.check())
      })}
    >
      {list.restoredAt === null ? null : <RestoredInput at={list.restoredAt} discard={list.discard} />}
      <Fields list={list} />
      {said === null ? null : <Counts said={said} />}
      <ErrorState failure={list.failure} inline />
      <DialogActions
        close={isStored ? close : list.cancel}
        action={
          said === null
            ? strings.checkList
            : said.secondPerson === true
              ? strings.requestApproval
              : strings.addRules({ count: said.added })
        }
        busy={busy}
        isReady={isReady && said?.added !== 0}
        isStored={isStored}
        startsAt="form"
      />
    </Stack>
  )
}

/** Adds one rule per serial number of a list: pasted, or from a CSV or Excel file. */
export const RuleListDialog = ({ opened, close }: { opened: boolean; close: () => void }) => (
  <Modal opened={opened} onClose={close} title={strings.addFromList} size="lg">
    {opened ? <Body close={close} /> : null}
  </Modal>
)
