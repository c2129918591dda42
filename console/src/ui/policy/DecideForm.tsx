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
import { strings } from './strings.ts'
import { TagPicker } from './TagPicker.tsx'
import { type DecisionDraft, useDecision } from './useDecision.ts'

const lives = [
  { value: '1', label: strings.n1Hour },
  { value: '24', label: strings.n1Day },
  { value: '168', label: strings.n7Days },
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
    <SeverityTag severity="red" word={strings.attackTool} />
    {evidence.length === 0 ? (
      <p>{strings.itsIdsOrWhatItDoes}</p>
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
        label={strings.letItInAlthoughItIs}
        description={mayOverride ? strings.sayWhyItIsRecordedIn : strings.onlyAnAdministratorCanDoThis}
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
    {strings.strongCodeOnDevicetext({
      strong: (
        <strong>
          <DeviceText value={subject.name} />
        </strong>
      ),
      code: (
        <code>
          {subject.vid}:{subject.pid}
        </code>
      ),
      deviceText: <DeviceText value={hosts.length === 1 ? hosts[0]?.hostIdentifier : hostsText(hosts.length)} />,
    })}
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
        aria-label={strings.decision}
        value={decision.effect}
        onChange={draft.setEffect}
        data={[
          { value: 'allow', label: strings.allow },
          { value: 'deny', label: strings.deny },
          { value: 'grant', label: strings.grantForATime2 },
        ]}
      />
      <SegmentedControl
        size="xs"
        fullWidth
        aria-label={strings.where}
        value={decision.scope}
        onChange={draft.setScope}
        data={[
          {
            value: 'host',
            label: hosts.length === 1 ? strings.onThisHost : strings.onTheseHostsHosts({ hosts: hosts.length }),
          },
          { value: 'tag', label: strings.onATag },
          { value: 'all', label: strings.onAllHosts },
        ]}
      />
      {decision.scope === 'tag' ? (
        <TagPicker label={strings.tag} value={decision.tag} onChange={draft.setTag} first={tags} />
      ) : null}
      {decision.effect === 'grant' ? (
        <SegmentedControl
          size="xs"
          aria-label={strings.forHowLong}
          value={draft.life}
          onChange={draft.setLife}
          data={lives}
        />
      ) : null}
      {serial === '' ? null : (
        <Checkbox
          size="xs"
          label={strings.onlyTheOneWithTheSerial({ deviceText: <DeviceText value={serial} /> })}
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
            ? strings.whyThisDeviceMayBeUsed
            : draft.needsOwnReason
              ? strings.whyTheseDevicesMayBeUsed
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
        waiting={strings.chooseTheTag}
      />
      {draft.failure === null ? null : <ErrorState failure={draft.failure} inline />}
      <Group justify="space-between" gap="sm">
        <MoreMenu label={strings.moreAboutThisDecision} curl={draft.curl} />
        <Group gap="sm">
          <Button size="sm" variant="default" onClick={close} data-autofocus>
            {isStored ? strings.close : strings.cancel}
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
