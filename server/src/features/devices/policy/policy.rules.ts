import type { PolicyGrantInput, PolicyRuleInput } from '@portcullis/contract'
import { cleanText, isOddText } from '@portcullis/domain'
import { AppError, invalid } from '#platform/app-error.ts'
import type { Actor } from '#platform/http/actor.ts'
import { isId } from '#platform/ids.ts'
import { fold } from '#platform/list/columns.ts'
import { requireTime } from '#platform/time.ts'
import type { RuleRow } from './policy.store.ts'

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
>

/** Profile number of Administrators. */
const administrator = 10

const endOf = (text: string | null | undefined, now: number, field: string): Date | null => {
  if (text === null || text === undefined) return null
  const at = requireTime(field, text).from
  if (at.getTime() <= now) throw invalid(field, 'is over already')
  return at
}

/** A reason is read by people, on the host too: nothing in it may turn other text around or hide. */
export const plainReason = (text: string, field: string): string => {
  if (isOddText(text.trim())) throw invalid(field, 'holds control or invisible characters')
  return text.trim()
}

/**
 * Checks a rule as a whole and brings it into the form it is stored in. Whether its host and tag exist is asked of the
 * database by the caller.
 *
 * @param field place of the rule in the request, for messages
 */
export const writtenRule = (
  input: PolicyRuleInput | PolicyGrantInput,
  { actor, now, field, grantMaxHours }: { actor: Actor; now: number; field: string; grantMaxHours: number | null },
): WrittenRule => {
  const upper = (text: string | null | undefined) => text?.toUpperCase() ?? null
  const isGrant = grantMaxHours !== null
  const effect = 'effect' in input ? input.effect : 'allow'
  const rule: WrittenRule = {
    effect,
    is_grant: isGrant,
    vid: upper(input.vid),
    pid: upper(input.pid),
    serial: input.serial === null || input.serial === undefined ? null : cleanText(input.serial),
    kinds: input.kinds === null || input.kinds === undefined ? null : [...new Set(input.kinds)].sort(),
    fingerprint: input.fingerprint ?? null,
    agent_id: input.host ?? null,
    tag_name: input.tag?.trim().normalize('NFC') ?? null,
    expires_at: endOf(input.expiresAt, now, `${field}.expiresAt`),
    reason: plainReason(input.reason, `${field}.reason`),
    override_attack_tool: input.overrideAttackTool === true,
  }
  if (rule.vid === null && rule.kinds === null && rule.fingerprint === null)
    throw invalid(field, 'names no device: give vid, kinds or fingerprint')
  if (rule.pid !== null && rule.vid === null) throw invalid(`${field}.pid`, 'needs vid')
  if (rule.serial !== null && rule.pid === null) throw invalid(`${field}.serial`, 'needs vid and pid')
  if (rule.serial === '' && input.serial !== '')
    throw invalid(`${field}.serial`, 'holds nothing but blanks and invisible characters')
  if (rule.agent_id !== null && rule.tag_name !== null) throw invalid(`${field}.tag`, 'cannot stand beside host')
  if (rule.agent_id !== null && !isId(rule.agent_id)) throw invalid(`${field}.host`, 'is no uuid of an agent')
  if (rule.reason === '') throw invalid(`${field}.reason`, 'says nothing')
  if (grantMaxHours !== null && rule.expires_at !== null && rule.expires_at.getTime() > now + grantMaxHours * 3_600_000)
    throw invalid(`${field}.expiresAt`, `is more than ${grantMaxHours} hours ahead, the longest a grant may last`)
  if (rule.override_attack_tool && effect === 'deny')
    throw invalid(`${field}.overrideAttackTool`, 'belongs to an allow')
  if (rule.override_attack_tool && actor.profile > administrator)
    throw new AppError('forbidden_object', { detail: 'Only an Administrator allows a known attack tool.' })
  return rule
}

/** What a rule asks of a device and who it speaks to, as one text: two rules of the same text speak of the same. */
export const matchKey = (
  r: Omit<WrittenRule, 'effect' | 'reason' | 'expires_at' | 'override_attack_tool' | 'is_grant'>,
) =>
  JSON.stringify([
    r.vid,
    r.pid,
    r.serial,
    r.kinds,
    r.fingerprint,
    r.agent_id,
    r.tag_name === null ? null : fold(r.tag_name),
  ])
