import type { AuditAction, PolicyRuleResource } from '@portcullis/contract'
import type { AuditFacts } from '#features/audit/server/index.ts'
import type { RuleRow } from './policy.store.ts'

/** A change of the rules: planned, then approved, then committed as one version of the policy and one audit record. */
export interface RuleChange {
  /** Stored rules that it deletes. */
  remove: readonly RuleRow[]
  /** Rules that it adds or replaces. */
  write: readonly RuleRow[]
  summary: string
  action: AuditAction
  details: string
  /** Reason of the person. Empty or absent if none was given. */
  reason?: string | undefined
  /** Text of the audit record in place of the rules. */
  facts?: AuditFacts | undefined
  /** Number of hosts that were already counted. `all`: a second approver approved the change. */
  approved?: number | 'all'
  /** Armed hosts that get a command to apply the policy, so that operators can follow its delivery and expiry. */
  armed?: readonly string[]
}

/** Adds the reason of a change to the details of its audit record. */
export const because = (details: string, reason: string): string =>
  reason === '' ? details : `${details}, reason: ${reason}`

/** A rule in a stored request: JSON has neither times nor bytes. */
type CarriedRule = Omit<RuleRow, 'expires_at' | 'created_at' | 'changed_at' | 'seal' | 'identity_seal'> & {
  expires_at: string | null
  created_at: string
  changed_at: string
  seal: string
  identity_seal?: string | null
}

/** A rule change that waits for a second approver. */
export interface CarriedChange {
  /** Reason of the requester. Absent if none was given. */
  reason?: string
  title: string
  hosts: number
  /** True if it allows devices on hosts that no rule names, so hosts that enrolled since the request count as shown. */
  isForAnyHost?: boolean
  remove: readonly string[]
  write: readonly CarriedRule[]
  /** Seals of the rules that it replaces or deletes, by id; null: no rule had this id. */
  replaced: Readonly<Record<string, string | null>>
  summary: string
  action: AuditAction
  details: string
  stated?: AuditFacts
}

export const carried = (r: RuleRow): CarriedRule => ({
  ...r,
  expires_at: r.expires_at?.toISOString() ?? null,
  created_at: r.created_at.toISOString(),
  changed_at: r.changed_at.toISOString(),
  seal: r.seal.toString('base64'),
  identity_seal: r.identity_seal?.toString('base64') ?? null,
})

export const uncarried = (r: CarriedRule): RuleRow => ({
  ...r,
  expires_at: r.expires_at === null ? null : new Date(r.expires_at),
  created_at: new Date(r.created_at),
  changed_at: new Date(r.changed_at),
  seal: Buffer.from(r.seal, 'base64'),
  identity_seal: typeof r.identity_seal === 'string' ? Buffer.from(r.identity_seal, 'base64') : null,
})

/** Returns the sentence of a rule without its reason, which the record states on its own. */
const textOf = ({ sentence, reason }: PolicyRuleResource): string =>
  sentence.endsWith(`: ${reason}`) ? sentence.slice(0, -reason.length - 2) : sentence

/** Returns what the audit record of changed rules states. */
export const ruleFacts = (
  before: ReadonlyMap<string, PolicyRuleResource>,
  after: ReadonlyMap<string, PolicyRuleResource>,
  remove: readonly Pick<RuleRow, 'rule_id'>[],
): AuditFacts => {
  const removed = new Set(remove.map(({ rule_id }) => rule_id))
  const ids = [...removed, ...after.keys()]
  const [only] = ids.length === 1 ? ids.map((id) => after.get(id) ?? before.get(id)) : []
  return {
    count: ids.length,
    reason: only?.reason ?? '',
    objects: ids.flatMap((id) => {
      const rule = after.get(id) ?? before.get(id)
      return rule === undefined ? [] : [{ kind: 'rule' as const, id, name: textOf(rule) }]
    }),
    facts: ids.flatMap((id) => {
      const [was, is] = [before.get(id), removed.has(id) ? undefined : after.get(id)]
      if (was === undefined && is === undefined) return []
      return [{ name: 'Rule', before: was === undefined ? '' : textOf(was), after: is === undefined ? '' : textOf(is) }]
    }),
  }
}
