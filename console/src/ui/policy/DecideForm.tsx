import { Button, Checkbox, Group, SegmentedControl, Switch } from '@mantine/core'
import { useSession } from '../../lib/services.tsx'
import { DeviceText } from '../DeviceText.tsx'
import { ErrorState } from '../ErrorState.tsx'
import { ReasonField } from '../form/ReasonField.tsx'
import { MoreMenu } from '../MoreMenu.tsx'
import { SeverityTag } from '../SeverityTag.tsx'
import { type DecideStart, type DecideSubject, decideWords } from './decide.ts'
import { hosts as hostsText } from './labels.ts'
import { PreviewPanel } from './PreviewPanel.tsx'
import classes from './policy.module.css'
import { TagPicker } from './TagPicker.tsx'
import { type DecisionDraft, useDecision } from './useDecision.ts'

const lives = [
  { value: '1', label: '1 hour' },
  { value: '24', label: '1 day' },
  { value: '168', label: '7 days' },
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
  <div className={classes.attack} role="note">
    <SeverityTag severity="red" word="attack tool" />
    {evidence.length === 0 ? (
      <p>Its ids or what it does are those of a known attack tool.</p>
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
        label="Let it in although it is an attack tool"
        description={
          mayOverride
            ? 'Say why; it is recorded in the audit.'
            : 'Only an Administrator can do this. Denying it is possible.'
        }
        disabled={!mayOverride}
        checked={isOverridden}
        onChange={(event) => setOverridden(event.currentTarget.checked)}
      />
    )}
  </div>
)

export interface DecideFormProps {
  subject: DecideSubject
  start: DecideStart
  close: () => void
}

/** The device, and the hosts it is on. */
const Subject = ({ subject, hosts }: { subject: DecideSubject; hosts: DecisionDraft['hosts'] }) => (
  <p>
    <strong>
      <DeviceText value={subject.name} />
    </strong>{' '}
    <code>
      {subject.vid}:{subject.pid}
    </code>{' '}
    on <DeviceText value={hosts.length === 1 ? hosts[0]?.hostIdentifier : hostsText(hosts.length)} />
  </p>
)

/** What, where, and for how long. */
const Choices = ({ draft, tags }: { draft: DecisionDraft; tags: readonly string[] }) => {
  const { decision, hosts, serial } = draft
  return (
    <>
      <SegmentedControl
        size="xs"
        fullWidth
        aria-label="Decision"
        value={decision.effect}
        onChange={draft.setEffect}
        data={[
          { value: 'allow', label: 'Allow' },
          { value: 'deny', label: 'Deny' },
          { value: 'grant', label: 'Grant for a time' },
        ]}
      />
      <SegmentedControl
        size="xs"
        fullWidth
        aria-label="Where"
        value={decision.scope}
        onChange={draft.setScope}
        data={[
          { value: 'host', label: hosts.length === 1 ? 'On this host' : `On these ${hosts.length} hosts` },
          { value: 'tag', label: 'On a tag' },
          { value: 'all', label: 'On all hosts' },
        ]}
      />
      {decision.scope === 'tag' ? (
        <TagPicker label="Tag" value={decision.tag} onChange={draft.setTag} first={tags} />
      ) : null}
      {decision.effect === 'grant' ? (
        <SegmentedControl
          size="xs"
          aria-label="For how long"
          value={draft.life}
          onChange={draft.setLife}
          data={lives}
        />
      ) : null}
      {serial === '' ? null : (
        <Checkbox
          size="xs"
          label={
            <>
              Only the one with the serial number <DeviceText value={serial} />
            </>
          }
          checked={draft.onlySerial}
          onChange={(event) => draft.setOnlySerial(event.currentTarget.checked)}
        />
      )}
    </>
  )
}

/** The form of a decision: what, where, for how long, why; what it changes; then it is one key. */
export const DecideForm = ({ subject, start, close }: DecideFormProps) => {
  const session = useSession()
  const draft = useDecision(subject, start, close)
  const { decision, rules, isReady, isStored } = draft
  return (
    <form
      className={classes.decide}
      onSubmit={(event) => {
        event.preventDefault()
        if (isReady && !isStored) void draft.run()
      }}
    >
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
        placeholder={
          draft.needsOverride
            ? 'Why this device may be used'
            : draft.needsOwnReason
              ? 'Why these devices may be used'
              : undefined
        }
        required={draft.needsOwnReason}
        onChange={draft.setReason}
      />
      <PreviewPanel
        draft={
          decision.scope === 'tag' && decision.tag === ''
            ? null
            : { add: rules.map((rule) => ({ ...rule, reason: '–' })) }
        }
        waiting="Choose the tag."
      />
      {draft.failure === null ? null : <ErrorState failure={draft.failure} inline />}
      <Group justify="space-between" gap="sm">
        <MoreMenu label="More about this decision" curl={draft.curl} />
        <Group gap="sm">
          <Button size="sm" variant="default" onClick={close} data-autofocus>
            {isStored ? 'Close' : 'Cancel'}
          </Button>
          {isStored ? null : (
            <Button
              size="sm"
              type="submit"
              loading={draft.busy}
              disabled={!isReady}
              {...(decision.effect === 'deny' ? { color: 'red' } : {})}
            >
              {decideWords(decision, draft.hosts.length)}
            </Button>
          )}
        </Group>
      </Group>
    </form>
  )
}
