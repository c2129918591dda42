import type { PolicyRuleResource } from '@portcullis/contract'
import { counted } from '../../ui/policy/labels.ts'
import { levelNames } from './rule-states.ts'

/** A member of a rule that a change touched, in words. */
export interface Difference {
  name: string
  before: string
  after: string
}

const members: readonly (readonly [name: string, of: (rule: PolicyRuleResource) => string])[] = [
  ['Effect', (rule) => rule.effect],
  ['Vendor id', (rule) => rule.vid ?? 'any'],
  ['Product id', (rule) => rule.pid ?? 'any'],
  ['Serial number', (rule) => (rule.serial === '' ? 'none' : (rule.serial ?? 'any'))],
  ['Kinds', (rule) => rule.kinds?.join(', ') ?? 'any'],
  ['Fingerprint', (rule) => rule.fingerprint ?? 'any'],
  [
    'Speaks to',
    (rule) => rule.hostIdentifier ?? rule.host ?? (rule.tag === null ? levelNames.global : `tag ${rule.tag}`),
  ],
  ['Ends', (rule) => rule.expiresAt ?? 'never'],
  ['Reason', (rule) => rule.reason],
  ['Allows attack tools', (rule) => (rule.overrideAttackTool ? 'yes' : 'no')],
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
  return parts.length === 0 ? 'No rule differs: nothing would change.' : `Of the rules and grants, ${parts.join(', ')}.`
}
