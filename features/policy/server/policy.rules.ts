import { escapeText, isOddText, serialKey, unescapeText } from '@portcullis/domain'
import { AppError, invalid } from '@portcullis/platform/server/app-error.ts'
import type { Actor } from '@portcullis/platform/server/http/actor.ts'
import { isId } from '@portcullis/platform/server/ids.ts'
import { fold } from '@portcullis/platform/server/list/columns.ts'
import { requireTime } from '@portcullis/platform/server/time.ts'
import type { PolicyRuleBody } from '#features/contract.ts'
import type { RuleRow } from './policy.store.ts'
import { printOf } from './seal.ts'

/** The part of a rule that a person writes. */
export type WrittenRule = Pick<
  RuleRow,
  | 'effect'
  | 'is_grant'
  | 'vid'
  | 'pid'
  | 'serial'
  | 'kinds'
  | 'fingerprint'
  | 'agent_id'
  | 'tag_name'
  | 'expires_at'
  | 'reason'
  | 'override_attack_tool'
  | 'rule_fingerprint'
>

/** Returns whether a rule names a serial number. An empty one matches devices without a serial number, so it names none. */
export const namesSerial = ({ serial }: Pick<RuleRow, 'serial'>): boolean => serial !== null && serial !== ''

/** Profile number of Administrators. */
const administrator = 10

const endOf = (text: string | null | undefined, now: number, field: string): Date | null => {
  if (text === null || text === undefined) return null
  const at = requireTime(field, text).from
  if (at.getTime() <= now) throw invalid(field, 'is in the past')
  return at
}

/**
 * Returns the trimmed reason. People read it, also on the host, so it must not contain characters that reorder or hide
 * text.
 */
export const plainReason = (text: string, field: string): string => {
  if (isOddText(text.trim())) throw invalid(field, 'contains control or invisible characters')
  return text.trim()
}

/** Returns the reason in brackets after a blank; empty without a reason. */
export const inBrackets = (reason: string): string => (reason === '' ? '' : ` (${reason})`)

/**
 * Validates a rule and converts it to its stored form. The caller checks in the database that the host and the tag
 * exist.
 *
 * @param field path of the rule in the request, for messages
 */
export const writtenRule = (
  input: PolicyRuleBody,
  { actor, now, field, grantMaxHours }: { actor: Actor; now: number; field: string; grantMaxHours: number },
): WrittenRule => {
  const upper = (text: string | null | undefined) => text?.toUpperCase() ?? null
  const { effect, isGrant = false } = input
  const rule: WrittenRule = {
    effect,
    is_grant: isGrant,
    vid: upper(input.vid),
    pid: upper(input.pid),
    serial: input.serial === null || input.serial === undefined ? null : escapeText(unescapeText(input.serial.trim())),
    kinds: input.kinds === null || input.kinds === undefined ? null : [...new Set(input.kinds)].sort(),
    fingerprint: input.fingerprint ?? null,
    agent_id: input.host ?? null,
    tag_name: input.tag?.trim().normalize('NFC') ?? null,
    expires_at: endOf(input.expiresAt, now, `${field}.expiresAt`),
    reason: plainReason(input.reason, `${field}.reason`),
    override_attack_tool: input.overrideAttackTool === true,
  }
  if (rule.vid === null && rule.kinds === null && rule.fingerprint === null)
    throw invalid(field, 'matches every device; set vid, kinds or fingerprint')
  if (rule.pid !== null && rule.vid === null) throw invalid(`${field}.pid`, 'requires vid')
  if (rule.serial !== null && rule.pid === null) throw invalid(`${field}.serial`, 'requires vid and pid')
  if (rule.serial === '' && input.serial !== '') throw invalid(`${field}.serial`, 'contains only blanks')
  if (rule.agent_id !== null && rule.tag_name !== null) throw invalid(`${field}.tag`, 'cannot be combined with host')
  if (rule.agent_id !== null && !isId(rule.agent_id)) throw invalid(`${field}.host`, 'is not the uuid of an agent')
  if (rule.reason === '' && effect === 'allow') throw invalid(`${field}.reason`, 'must not be empty')
  if (isGrant && typeof input.group === 'string') throw invalid(`${field}.group`, 'is not valid for a grant')
  if (isGrant && effect === 'deny') throw invalid(`${field}.effect`, 'must be allow for a grant')
  if (isGrant && rule.expires_at === null) throw invalid(`${field}.expiresAt`, 'is required for a grant')
  if (isGrant && rule.expires_at !== null && rule.expires_at.getTime() > now + grantMaxHours * 3_600_000)
    throw invalid(`${field}.expiresAt`, `exceeds the maximum grant duration of ${grantMaxHours} hours`)
  if (rule.override_attack_tool && effect === 'deny')
    throw invalid(`${field}.overrideAttackTool`, 'is valid only for an allow')
  if (rule.override_attack_tool && actor.profile > administrator)
    throw new AppError('forbidden_object', { detail: 'Only an Administrator can allow a known attack tool.' })
  return rule
}

/**
 * Returns the criteria and the scope of a rule as one text. Rules with the same text match the same devices on the same
 * hosts.
 */
export const matchKey = (
  r: Omit<WrittenRule, 'effect' | 'reason' | 'expires_at' | 'override_attack_tool' | 'is_grant'>,
) =>
  JSON.stringify([
    r.vid,
    r.pid,
    r.serial === null ? null : serialKey(r.serial),
    r.kinds,
    printOf(r),
    r.agent_id,
    r.tag_name === null ? null : fold(r.tag_name),
  ])

/** The properties of a decided rule that make another decision superfluous. */
type Decided = Parameters<typeof matchKey>[0] & Pick<WrittenRule, 'effect' | 'expires_at' | 'override_attack_tool'>

/**
 * Returns what a decision adds and deletes. The latest decision about a device counts: it replaces earlier ones about
 * that device. A decision that is in force already stays. Each rule is for other devices.
 */
export const replacing = <T extends Decided>(rules: readonly T[], earlier: readonly T[]) => {
  const latest = new Map(rules.map((rule) => [matchKey(rule), rule]))
  const inForce = new Set<T>()
  const remove = earlier.filter((old) => {
    const rule = latest.get(matchKey(old))
    if (rule === undefined) return false
    const isSame =
      old.expires_at === null && rule.effect === old.effect && rule.override_attack_tool === old.override_attack_tool
    if (isSame) inForce.add(rule)
    return !isSame
  })
  return { write: rules.filter((rule) => !inForce.has(rule)), remove }
}
