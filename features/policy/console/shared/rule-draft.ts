import { fieldOfInstant } from '@portcullis/platform/console/ui/filters/filter.ts'
import type { PolicyRuleBody, PolicyRuleInput, PolicyRuleResource, policyKinds } from '#features/contract.ts'
import { strings } from './strings.ts'

export type PolicyKind = (typeof policyKinds)[number]

/** A rule or grant in the editor, as the fields hold it. */
export interface RuleDraft {
  effect: 'allow' | 'deny'
  vid: string
  pid: string
  serial: string
  /** Only devices without a serial number, while `serial` is empty. */
  hasNoSerial: boolean
  fingerprint: string
  kinds: readonly PolicyKind[]
  /** Empty until a person chooses it, so that no rule applies to all hosts by default. */
  scope: '' | 'all' | 'tag' | 'host'
  /** uuid of the host. */
  host: string
  tag: string
  /** Local date and time as the browser's field holds it; empty: no end. */
  expires: string
  reason: string
  /** Name of the group; empty: none. */
  group: string
  overrideAttackTool: boolean
}

export type DraftField =
  | 'vid'
  | 'pid'
  | 'serial'
  | 'fingerprint'
  | 'device'
  | 'scope'
  | 'host'
  | 'tag'
  | 'expires'
  | 'reason'
export type DraftFaults = Partial<Record<DraftField, string>>

export const emptyDraft: RuleDraft = {
  effect: 'allow',
  vid: '',
  pid: '',
  serial: '',
  hasNoSerial: false,
  fingerprint: '',
  kinds: [],
  scope: '',
  host: '',
  tag: '',
  expires: '',
  reason: '',
  group: '',
  overrideAttackTool: false,
}

/** Returns a stored rule as a draft. */
export const draftOf = (rule: PolicyRuleResource): RuleDraft => ({
  effect: rule.effect,
  vid: rule.vid ?? '',
  pid: rule.pid ?? '',
  serial: rule.serial ?? '',
  hasNoSerial: rule.serial === '',
  fingerprint: rule.fingerprint ?? '',
  kinds: (rule.kinds ?? []) as PolicyKind[],
  scope: rule.host !== null ? 'host' : rule.tag !== null ? 'tag' : 'all',
  host: rule.host ?? '',
  tag: rule.tag ?? '',
  expires: rule.expiresAt === null ? '' : fieldOfInstant(rule.expiresAt),
  reason: rule.reason,
  group: rule.group ?? '',
  overrideAttackTool: rule.overrideAttackTool,
})

const hex4 = /^[0-9a-f]{4}$/i

/** Returns the faults of a draft by field. An empty field is a fault only if it is required. */
export const faultsOf = (draft: RuleDraft, { isGrant, now }: { isGrant: boolean; now: number }): DraftFaults => {
  const faults: DraftFaults = {}
  const { vid, pid, serial, fingerprint, kinds, scope, host, tag, expires, reason } = draft
  if (vid !== '' && !hex4.test(vid)) faults.vid = strings.vidFormat
  if (pid !== '' && !hex4.test(pid)) faults.pid = strings.pidFormat
  else if (pid !== '' && vid === '') faults.vid = strings.pidNeedsVid
  if (serial !== '' && (vid === '' || pid === '')) faults.serial = strings.serialNeedsIds
  if (fingerprint !== '' && !/^[0-9a-f]{32}$/i.test(fingerprint)) faults.fingerprint = strings.fingerprintFormat
  if (vid === '' && kinds.length === 0 && fingerprint === '') faults.device = strings.devicesMissing
  if (scope === '') faults.scope = strings.chooseScope
  if (scope === 'host' && host === '') faults.host = strings.chooseHost
  if (scope === 'tag' && tag.trim() === '') faults.tag = strings.chooseTag
  if (isGrant && expires === '') faults.expires = strings.endMissing
  if (expires !== '') {
    const end = new Date(expires).getTime()
    if (Number.isNaN(end)) faults.expires = strings.endInvalid
    else if (end <= now) faults.expires = strings.endPast
  }
  if (reason.trim() === '') faults.reason = strings.reasonMissing
  return faults
}

/** Returns the draft as a request body. The draft must not have faults; for previews, a missing reason becomes a dash. */
export const inputOf = (draft: RuleDraft): PolicyRuleInput => ({
  effect: draft.effect,
  vid: draft.vid === '' ? null : draft.vid.toUpperCase(),
  pid: draft.pid === '' ? null : draft.pid.toUpperCase(),
  serial: draft.serial !== '' ? draft.serial : draft.hasNoSerial ? '' : null,
  kinds: draft.kinds.length === 0 ? null : [...draft.kinds],
  fingerprint: draft.fingerprint === '' ? null : draft.fingerprint.toLowerCase(),
  host: draft.scope === 'host' ? draft.host : null,
  tag: draft.scope === 'tag' ? draft.tag.trim() : null,
  expiresAt: draft.expires === '' ? null : new Date(draft.expires).toISOString(),
  reason: draft.reason.trim() === '' ? '–' : draft.reason.trim(),
  ...(draft.effect === 'allow' && draft.overrideAttackTool ? { overrideAttackTool: true } : {}),
})

/** Returns the draft as a rule or as a grant, which always allows and always expires. */
export const bodyOf = (draft: RuleDraft, isGrant: boolean): PolicyRuleBody =>
  isGrant
    ? { ...inputOf({ ...draft, effect: 'allow' }), isGrant }
    : { ...inputOf(draft), group: draft.group.trim() || null }

/** Returns true if the draft can be previewed: only the reason may be missing. */
export const canPreview = (faults: DraftFaults): boolean => Object.keys(faults).every((field) => field === 'reason')

/** Search parameters of an address that prefills a new rule. */
export type DraftName = 'make' | 'device' | 'deviceSerial' | 'print' | 'onHost' | 'onTag'

/** Returns a draft from an address such as `?open=new&device=0781:5571&onTag=kiosk`. */
export const draftOfSearch = (search: Readonly<Partial<Record<DraftName, string>>>): RuleDraft => {
  const [vid = '', pid = ''] = (search.device ?? '').split(':')
  return {
    ...emptyDraft,
    effect: search.make === 'deny' ? 'deny' : 'allow',
    vid: hex4.test(vid) ? vid.toUpperCase() : '',
    pid: hex4.test(pid) ? pid.toUpperCase() : '',
    serial: search.deviceSerial ?? '',
    fingerprint: search.print ?? '',
    scope: search.onHost !== undefined ? 'host' : search.onTag !== undefined ? 'tag' : '',
    host: search.onHost ?? '',
    tag: search.onTag ?? '',
  }
}
