import { curlOf } from '@portcullis/platform/console/lib/curl.ts'
import { isStoredRequest } from '@portcullis/platform/console/lib/problem.ts'
import { useServices } from '@portcullis/platform/console/lib/services.tsx'
import { useState } from 'react'
import { type BodyOf, createPolicyRule, decideDevices, type PolicyRuleInput } from '#features/contract.ts'
import {
  type DecideEffect,
  type DecideScope,
  type DecideStart,
  type DecideSubject,
  type Decision,
  hostsOf,
  rulesOf,
} from './decide.ts'
import { strings } from './strings.ts'
import { tellPolicyChange } from './undo.ts'
import { type PreviewDraft, usePreview } from './usePreview.ts'

const hourMs = 3_600_000
const minuteMs = 60_000
const doneText: Readonly<Record<DecideScope, (effect: DecideEffect, hosts: number, tag: string) => string>> = {
  host: (effect, hosts) => strings.doneOnHosts({ effect, hosts }),
  tag: (effect, _hosts, tag) => strings.doneOnTag({ effect, tag }),
  all: (effect) => strings.doneOnAll({ effect }),
}

/** Returns the end of a grant, rounded to the minute so that the preview does not reload needlessly. */
const endOf = (now: number, hours: string) =>
  new Date(Math.ceil((now + Number(hours) * hourMs) / minuteMs) * minuteMs).toISOString()

/** State of the fields of the decision form, and what they require. */
const useDraft = (subject: DecideSubject, start: DecideStart) => {
  const { clock } = useServices()
  const [only] = subject.devices
  const serial = subject.devices.length === 1 ? (only?.serialNumber ?? '') : ''
  const [effect, setEffect] = useState(start.effect)
  const [scope, setScope] = useState(start.scope)
  const [tag, setTag] = useState(subject.tags[0] ?? '')
  const [onlySerial, setOnlySerial] = useState(start.scope === 'host' && start.effect !== 'deny')
  const [life, setLife] = useState('24')
  const [reason, setReason] = useState('')
  const [isOverridden, setOverridden] = useState(false)
  const [expiresAt, setExpiresAt] = useState(() => endOf(clock.now(), life))
  const hosts = hostsOf(subject.devices)
  const needsOverride = subject.isAttackTool && effect !== 'deny'
  const isWide = scope !== 'host' || hosts.length > 1
  // An attack tool or more than one host requires a written reason.
  const needsReason = needsOverride || (isWide && effect !== 'deny')
  const decision: Decision = {
    effect,
    scope,
    tag,
    serial: onlySerial ? serial : '',
    expiresAt: effect === 'grant' ? expiresAt : null,
    reason,
    overrideAttackTool: needsOverride && isOverridden,
  }
  return {
    decision,
    hosts,
    serial,
    onlySerial,
    life,
    isOverridden,
    needsOverride,
    needsReason,
    isReady:
      (!needsReason || decision.reason.trim() !== '') &&
      (scope !== 'tag' || tag !== '') &&
      (!needsOverride || decision.overrideAttackTool),
    setEffect,
    setScope,
    setTag,
    setOnlySerial,
    setReason,
    setOverridden,
    setLife: (next: string) => {
      setLife(next)
      setExpiresAt(endOf(clock.now(), next))
    },
  }
}

/** Returns the request bodies: one decision for named hosts, or one rule for a tag or for all hosts. */
const requestOf = ({ vid, pid, devices }: DecideSubject, decision: Decision, rules: readonly PolicyRuleInput[]) => {
  const expiresAt = decision.expiresAt ?? ''
  const isGrant = decision.effect === 'grant'
  const onHosts: BodyOf<typeof decideDevices> = {
    decision: decision.effect,
    devices: hostsOf(devices).map(({ uuid }) => ({
      uuid,
      vid,
      pid,
      ...(decision.serial === '' ? {} : { serialNumber: decision.serial }),
    })),
    reason: decision.reason.trim(),
    ...(isGrant ? { expiresAt } : {}),
    ...(decision.overrideAttackTool ? { overrideAttackTool: true } : {}),
  }
  const { reason: _reason, ...decide } = onHosts
  const [rule] = rules as [PolicyRuleInput]
  const body = isGrant ? { ...rule, effect: 'allow' as const, expiresAt, isGrant } : rule
  const isOnHosts = decision.scope === 'host'
  const preview: PreviewDraft = isOnHosts ? { decide } : { add: rules.map((one) => ({ ...one, reason: '–' })) }
  return { onHosts, body, isOnHosts, preview }
}

/** State and requests of the decision form. */
export const useDecision = (subject: DecideSubject, start: DecideStart, close: () => void) => {
  const services = useServices()
  const { api } = services
  const draft = useDraft(subject, start)
  const { decision, hosts } = draft
  const [busy, setBusy] = useState(false)
  const [failure, setFailure] = useState<unknown>(null)
  const rules = rulesOf(subject, decision)
  const { onHosts, body, isOnHosts, preview } = requestOf(subject, decision, rules)
  const send = async (): Promise<number | null> => {
    if (isOnHosts) {
      const { version, isChanged } = await api.call(decideDevices, { body: onHosts })
      return isChanged ? version : null
    }
    const { version } = await api.call(createPolicyRule, { body })
    return version
  }
  const run = async () => {
    setBusy(true)
    setFailure(null)
    try {
      const version = await send()
      close()
      const { effect, scope, tag } = decision
      tellPolicyChange(services, doneText[scope](effect, hosts.length, tag), version)
    } catch (reason) {
      setFailure(reason)
      setBusy(false)
    }
  }
  const shown = usePreview(decision.scope === 'tag' && decision.tag === '' ? null : preview)
  const curl = () => (isOnHosts ? curlOf(decideDevices, { body: onHosts }) : curlOf(createPolicyRule, { body }))
  return {
    ...draft,
    preview,
    // Nobody confirms an effect that is not shown yet.
    isReady: draft.isReady && !shown.isStale,
    ...{ busy, failure, isStored: isStoredRequest(failure), run, curl },
  }
}

export type DecisionDraft = ReturnType<typeof useDecision>
