import type { PolicyRuleResource } from '@portcullis/contract'
import { counted } from '../../ui/policy/labels.ts'
import { levelNames } from './rule-states.ts'
import { strings } from './strings.ts'

/** A member of a rule that a change touched, in words. */
export interface Difference {
  name: string
  before: string
  after: string
}

const members: readonly (readonly [name: string, of: (rule: PolicyRuleResource) => string])[] = [
  [strings.effect, (rule) => rule.effect],
  [strings.vendorId, (rule) => rule.vid ?? 'any'],
  [strings.productId, (rule) => rule.pid ?? 'any'],
  [strings.serialNumber, (rule) => (rule.serial === '' ? 'none' : (rule.serial ?? 'any'))],
  [strings.kinds, (rule) => rule.kinds?.join(', ') ?? 'any'],
  [strings.fingerprint, (rule) => rule.fingerprint ?? 'any'],
  [
    strings.speaksTo,
    (rule) =>
      rule.hostIdentifier ?? rule.host ?? (rule.tag === null ? levelNames.global : strings.tagTag({ tag: rule.tag })),
  ],
  [strings.ends, (rule) => rule.expiresAt ?? 'never'],
  [strings.reason, (rule) => rule.reason],
  [strings.allowsAttackTools, (rule) => (rule.overrideAttackTool ? 'yes' : 'no')],
]

/** What differs between two states of a rule; nothing when only who wrote it or when does. */
export const differences = (before: PolicyRuleResource, after: PolicyRuleResource): Difference[] =>
  members.flatMap(([name, of]) => {
    const [old, now] = [of(before), of(after)]
    return old === now ? [] : [{ name, before: old, after: now }]
  })

/** What a restore would do to the rules, in words. */
export const restoreWords = ({
  added,
  changed,
  deleted,
}: {
  added: number
  changed: number
  deleted: number
}): string => {
  const parts = [
    ...(added > 0 ? [counted(added, 'comes back', 'come back')] : []),
    ...(changed > 0 ? [counted(changed, 'changes', 'change')] : []),
    ...(deleted > 0 ? [counted(deleted, 'goes', 'go')] : []),
  ]
  return parts.length === 0
    ? strings.noRuleDiffersNothingWouldChange
    : strings.ofTheRulesAndGrantsParts({ parts: parts.join(', ') })
}
