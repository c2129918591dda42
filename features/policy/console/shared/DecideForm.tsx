import { Checkbox, SegmentedControl, Switch } from '@mantine/core'
import { useSession } from '@portcullis/platform/console/lib/services.tsx'
import { DeviceText } from '@portcullis/platform/console/ui/DeviceText.tsx'
import { ErrorState } from '@portcullis/platform/console/ui/ErrorState.tsx'
import { DialogActions } from '@portcullis/platform/console/ui/form/DialogActions.tsx'
import { ReasonField } from '@portcullis/platform/console/ui/form/ReasonField.tsx'
import { submits } from '@portcullis/platform/console/ui/form/submits.ts'
import { Panel, Stack } from '@portcullis/platform/console/ui/layout/layout.tsx'
import { MoreMenu } from '@portcullis/platform/console/ui/MoreMenu.tsx'
import { SeverityTag } from '@portcullis/platform/console/ui/SeverityTag.tsx'
import { type DecideStart, type DecideSubject, decideLabel } from './decide.ts'
import { hosts as hostsText } from './labels.ts'
import { PreviewPanel } from './PreviewPanel.tsx'
import { strings } from './strings.ts'
import { TagPicker } from './TagPicker.tsx'
import { type DecisionDraft, useDecision } from './useDecision.ts'

const lives = [
  { value: '1', label: strings.oneHour },
  { value: '24', label: strings.oneDay },
  { value: '168', label: strings.days7 },
]
const AttackTool = ({
  evidence,
  isDeny,
  mayOverride,
  isOverridden,
  setOverridden,
}: {
  evidence: readonly string[]
  isDeny: boolean
  mayOverride: boolean
  isOverridden: boolean
  setOverridden: (overridden: boolean) => void
}) => (
  <Panel as="div" dense tone="red" align="start" role="note">
    <SeverityTag severity="red" word={strings.attackTool} />
    {evidence.length === 0 ? (
      <p>{strings.noEvidence}</p>
    ) : (
      <ul>
        {evidence.map((line) => (
          <li key={line}>
            <DeviceText value={line} />
          </li>
        ))}
      </ul>
    )}
    {isDeny ? null : (
      <Switch
        size="xs"
        label={strings.override}
        description={mayOverride ? strings.overrideHint : strings.overrideNeedsAdmin}
        disabled={!mayOverride}
        checked={isOverridden}
        onChange={(event) => setOverridden(event.currentTarget.checked)}
      />
    )}
  </Panel>
)

export interface DecideFormProps {
  subject: DecideSubject
  start: DecideStart
  close: () => void
}

/** The device and its hosts. */
const Subject = ({ subject, hosts }: { subject: DecideSubject; hosts: DecisionDraft['hosts'] }) => (
  <p>
    {strings.subject({
      name: (
        <strong key="name">
          <DeviceText value={subject.name} />
        </strong>
      ),
      ids: (
        <code key="ids">
          {subject.vid}:{subject.pid}
        </code>
      ),
      hosts: <DeviceText key="hosts" value={hosts.length === 1 ? hosts[0]?.hostIdentifier : hostsText(hosts.length)} />,
    })}
  </p>
)

/** The decision, its scope and its duration. */
const Choices = ({ draft, tags }: { draft: DecisionDraft; tags: readonly string[] }) => {
  const { decision, hosts, serial } = draft
  return (
    <>
      <SegmentedControl
        size="xs"
        fullWidth
        aria-label={strings.decision}
        value={decision.effect}
        onChange={draft.setEffect}
        data={[
          { value: 'allow', label: strings.approve },
          { value: 'deny', label: strings.deny },
          { value: 'grant', label: strings.grant },
        ]}
      />
      <SegmentedControl
        size="xs"
        fullWidth
        aria-label={strings.scope}
        value={decision.scope}
        onChange={draft.setScope}
        data={[
          {
            value: 'host',
            label: hosts.length === 1 ? strings.thisHost : strings.onTheseHosts({ hosts: hosts.length }),
          },
          { value: 'tag', label: strings.hostsWithATag },
          { value: 'all', label: strings.allHosts },
        ]}
      />
      {decision.scope === 'tag' ? (
        <TagPicker label={strings.tag} value={decision.tag} onChange={draft.setTag} first={tags} />
      ) : null}
      {decision.effect === 'grant' ? (
        <SegmentedControl
          size="xs"
          aria-label={strings.duration}
          value={draft.life}
          onChange={draft.setLife}
          data={lives}
        />
      ) : null}
      {serial === '' ? null : (
        <Checkbox
          size="xs"
          label={strings.onlySerial({ serial: <DeviceText key="serial" value={serial} /> })}
          checked={draft.onlySerial}
          onChange={(event) => draft.setOnlySerial(event.currentTarget.checked)}
        />
      )}
    </>
  )
}

/** The form of a decision: choices, reason, and a preview of the changes. */
export const DecideForm = ({ subject, start, close }: DecideFormProps) => {
  const session = useSession()
  const draft = useDecision(subject, start, close)
  const { decision, isReady, isStored } = draft
  return (
    <Stack as="form" breaks onSubmit={submits(() => isReady && !isStored && draft.run())}>
      <Subject subject={subject} hosts={draft.hosts} />
      {subject.isAttackTool ? (
        <AttackTool
          evidence={subject.evidence}
          isDeny={decision.effect === 'deny'}
          mayOverride={session.phase === 'in' && session.profile.account.userProfile === 10}
          isOverridden={draft.isOverridden}
          setOverridden={draft.setOverridden}
        />
      ) : null}
      <Choices draft={draft} tags={subject.tags} />
      <ReasonField
        size="xs"
        value={decision.reason}
        placeholder={draft.needsOverride ? strings.whyDevice : draft.needsReason ? strings.whyDevices : undefined}
        required={draft.needsReason}
        isFirst
        onChange={draft.setReason}
      />
      <PreviewPanel
        draft={decision.scope === 'tag' && decision.tag === '' ? null : draft.preview}
        waiting={strings.chooseTag}
      />
      <ErrorState failure={draft.failure} inline />
      <DialogActions
        close={close}
        action={decideLabel(decision, draft.hosts.length)}
        busy={draft.busy}
        isReady={isReady}
        isStored={isStored}
        isDangerous={decision.effect === 'deny'}
        startsAt="form"
        aside={<MoreMenu label={strings.moreActions} curl={draft.curl} />}
      />
    </Stack>
  )
}
