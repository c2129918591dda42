import { Button, Checkbox, Group, SegmentedControl, Switch, TextInput } from '@mantine/core'
import {
  type BodyOf,
  createPolicyGrant,
  createPolicyRule,
  decideDevices,
  type PolicyRuleInput,
} from '@portcullis/contract'
import { useState } from 'react'
import { curlOf } from '../../lib/curl.ts'
import { isStoredRequest } from '../../lib/problem.ts'
import { useServices, useSession } from '../../lib/services.tsx'
import { DeviceText } from '../DeviceText.tsx'
import { ErrorState } from '../ErrorState.tsx'
import { MoreMenu } from '../MoreMenu.tsx'
import { SeverityTag } from '../SeverityTag.tsx'
import {
  type DecideEffect,
  type DecideScope,
  type DecideStart,
  type DecideSubject,
  type Decision,
  decideWords,
  hostsOf,
  rulesOf,
} from './decide.ts'
import { PreviewPanel } from './PreviewPanel.tsx'
import classes from './policy.module.css'
import { TagPicker } from './TagPicker.tsx'
import { tellPolicyChange } from './undo.ts'
import { hosts as hostsText } from './words.ts'

const lives = [
  { value: '1', label: '1 hour' },
  { value: '24', label: '1 day' },
  { value: '168', label: '7 days' },
]
const usualReason: Readonly<Record<DecideEffect, string>> = {
  allow: 'Approved by hand',
  deny: 'Denied by hand',
  grant: 'Granted by hand',
}
const done: Readonly<Record<DecideEffect, string>> = { allow: 'Allowed', deny: 'Denied', grant: 'Granted' }
const where: Readonly<Record<DecideScope, (hosts: number, tag: string) => string>> = {
  host: (hosts) => `on ${hostsText(hosts)}`,
  tag: (_hosts, tag) => `on tag ${tag}`,
  all: () => 'on all hosts',
}

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

/** The form of a decision: what, where, for how long, why; what it changes; then it is one key. */
export const DecideForm = ({ subject, start, close }: DecideFormProps) => {
  const services = useServices()
  const { api, clock } = services
  const session = useSession()
  const mayOverride = session.phase === 'in' && session.profile.account.userProfile === 10
  const [only] = subject.devices
  const serial = subject.devices.length === 1 ? (only?.serialNumber ?? '') : ''
  const [effect, setEffect] = useState(start.effect)
  const [scope, setScope] = useState(start.scope)
  const [tag, setTag] = useState(subject.tags[0] ?? '')
  const [onlySerial, setOnlySerial] = useState(start.scope === 'host' && start.effect !== 'deny')
  const [life, setLife] = useState('24')
  const [reason, setReason] = useState<string | null>(null)
  const [isOverridden, setOverridden] = useState(false)
  const [busy, setBusy] = useState(false)
  const [failure, setFailure] = useState<unknown>(null)
  // To the minute: the preview is asked again only when something really changed.
  const end = new Date(Math.ceil((clock.now() + Number(life) * 3_600_000) / 60_000) * 60_000).toISOString()
  const [expiresAt, setExpiresAt] = useState(end)
  const isStored = isStoredRequest(failure)
  const needsOverride = subject.isAttackTool && effect !== 'deny'
  const isWide = scope !== 'host' || hostsOf(subject.devices).length > 1
  const needsOwnReason = needsOverride || (isWide && effect !== 'deny')
  const decision: Decision = {
    effect,
    scope,
    tag,
    serial: onlySerial ? serial : '',
    expiresAt: effect === 'grant' ? expiresAt : null,
    // An attack tool, or more than one host, needs a reason of its own.
    reason: reason ?? (needsOwnReason ? '' : usualReason[effect]),
    overrideAttackTool: needsOverride && isOverridden,
  }
  const hosts = hostsOf(subject.devices)
  const rules = rulesOf(subject, decision)
  const isReady =
    decision.reason.trim() !== '' && (scope !== 'tag' || tag !== '') && (!needsOverride || decision.overrideAttackTool)

  const isOnHosts = scope === 'host'
  /** One decision for all hosts, or one rule for a tag or for all hosts. */
  const onHosts: BodyOf<typeof decideDevices> = {
    decision: effect,
    devices: hosts.map(({ uuid }) => ({
      uuid,
      vid: subject.vid,
      pid: subject.pid,
      ...(decision.serial === '' ? {} : { serialNumber: decision.serial }),
    })),
    reason: decision.reason.trim(),
    ...(effect === 'grant' ? { expiresAt } : {}),
    ...(decision.overrideAttackTool ? { overrideAttackTool: true } : {}),
  }
  const [rule] = rules as [PolicyRuleInput]
  const { effect: _, ...grant } = rule
  const send = async (): Promise<number | null> => {
    if (isOnHosts) {
      const { version, isChanged } = await api.call(decideDevices, { body: onHosts })
      return isChanged ? version : null
    }
    const { version } = await (effect === 'grant'
      ? api.call(createPolicyGrant, { body: { ...grant, expiresAt } })
      : api.call(createPolicyRule, { body: rule }))
    return version
  }
  const run = async () => {
    setBusy(true)
    setFailure(null)
    try {
      const version = await send()
      close()
      tellPolicyChange(services, `${done[effect]} ${where[scope](hosts.length, tag)}.`, version)
    } catch (reason) {
      setFailure(reason)
      setBusy(false)
    }
  }
  const curl = () => {
    const origin = window.location.origin
    if (isOnHosts) return curlOf(origin, decideDevices, { body: onHosts })
    return effect === 'grant'
      ? curlOf(origin, createPolicyGrant, { body: { ...grant, expiresAt } })
      : curlOf(origin, createPolicyRule, { body: rule })
  }

  return (
    <form
      className={classes.decide}
      onSubmit={(event) => {
        event.preventDefault()
        if (isReady && !isStored) void run()
      }}
    >
      <p>
        <strong>
          <DeviceText value={subject.name} />
        </strong>{' '}
        <code>
          {subject.vid}:{subject.pid}
        </code>{' '}
        on <DeviceText value={hosts.length === 1 ? only?.hostIdentifier : hostsText(hosts.length)} />
      </p>
      {subject.isAttackTool ? (
        <AttackTool
          evidence={subject.evidence}
          isDeny={effect === 'deny'}
          mayOverride={mayOverride}
          isOverridden={isOverridden}
          setOverridden={setOverridden}
        />
      ) : null}
      <SegmentedControl
        size="xs"
        fullWidth
        aria-label="Decision"
        value={effect}
        onChange={(next) => setEffect(next as DecideEffect)}
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
        value={scope}
        onChange={(next) => setScope(next as DecideScope)}
        data={[
          { value: 'host', label: hosts.length === 1 ? 'On this host' : `On these ${hosts.length} hosts` },
          { value: 'tag', label: 'On a tag' },
          { value: 'all', label: 'On all hosts' },
        ]}
      />
      {scope === 'tag' ? <TagPicker label="Tag" value={tag} onChange={setTag} first={subject.tags} /> : null}
      {effect === 'grant' ? (
        <SegmentedControl
          size="xs"
          aria-label="For how long"
          value={life}
          onChange={(next) => {
            setLife(next)
            setExpiresAt(new Date(Math.ceil((clock.now() + Number(next) * 3_600_000) / 60_000) * 60_000).toISOString())
          }}
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
          checked={onlySerial}
          onChange={(event) => setOnlySerial(event.currentTarget.checked)}
        />
      )}
      <TextInput
        size="xs"
        label="Reason"
        maxLength={200}
        value={decision.reason}
        placeholder={
          needsOverride ? 'Why this device may be used' : needsOwnReason ? 'Why these devices may be used' : undefined
        }
        required={needsOwnReason}
        onChange={(event) => setReason(event.currentTarget.value)}
      />
      <PreviewPanel
        draft={scope === 'tag' && tag === '' ? null : { add: rules.map((rule) => ({ ...rule, reason: '–' })) }}
        waiting="Choose the tag."
      />
      {failure === null ? null : <ErrorState failure={failure} inline />}
      <Group justify="space-between" gap="sm">
        <MoreMenu label="More about this decision" curl={curl} />
        <Group gap="sm">
          <Button size="sm" variant="default" onClick={close} data-autofocus>
            {isStored ? 'Close' : 'Cancel'}
          </Button>
          {isStored ? null : (
            <Button
              size="sm"
              type="submit"
              loading={busy}
              disabled={!isReady}
              {...(effect === 'deny' ? { color: 'red' } : {})}
            >
              {decideWords({ effect, scope, tag }, hosts.length)}
            </Button>
          )}
        </Group>
      </Group>
    </form>
  )
}
