import type { ConflictField } from '@portcullis/platform/console/ui/form/EditConflict.tsx'
import type { PolicyRuleResource } from '#features/contract.ts'
import { levelNames } from './rule-states.ts'
import { inputOf, type RuleDraft } from './shared/rule-draft.ts'
import { strings } from './strings.ts'

/** A changed property of a rule, with its old and new value as text. */
export interface Difference {
  name: string
  before: string
  after: string
}

const members: readonly (readonly [name: string, of: (rule: PolicyRuleResource) => string])[] = [
  [strings.effect, (rule) => (rule.effect === 'allow' ? strings.allow : strings.deny)],
  [strings.vendorId, (rule) => rule.vid ?? strings.any],
  [strings.productId, (rule) => rule.pid ?? strings.any],
  [strings.serialNumber, (rule) => (rule.serial === '' ? strings.nothing : (rule.serial ?? strings.any))],
  [strings.kinds, (rule) => rule.kinds?.join(', ') ?? strings.any],
  [strings.fingerprint, (rule) => rule.fingerprint ?? strings.any],
  [
    strings.scope,
    (rule) =>
      rule.hostIdentifier ?? rule.host ?? (rule.tag === null ? levelNames.global : strings.tagNamed({ tag: rule.tag })),
  ],
  [strings.expires, (rule) => rule.expiresAt ?? strings.never],
  [strings.reason, (rule) => rule.reason],
  // Versions of earlier releases have no group.
  [strings.group, (rule) => rule.group ?? strings.nothing],
  [strings.allowsAttackTools, (rule) => (rule.overrideAttackTool ? strings.yes : strings.no)],
]

/** Returns the differences between two states of a rule, ignoring author and time. */
export const differences = (before: PolicyRuleResource, after: PolicyRuleResource): Difference[] =>
  members.flatMap(([name, of]) => {
    const [old, now] = [of(before), of(after)]
    return old === now ? [] : [{ name, before: old, after: now }]
  })

/** Returns the properties that another person changed while a draft was edited. */
export const conflictFields = (
  base: PolicyRuleResource,
  theirs: PolicyRuleResource,
  draft: RuleDraft,
): ConflictField[] => {
  const { kinds = null, ...input } = inputOf(draft)
  const hostIdentifier = draft.host === (base.host ?? '') ? base.hostIdentifier : null
  const mine = {
    ...base,
    overrideAttackTool: false,
    ...input,
    kinds,
    hostIdentifier,
    group: draft.group.trim() || null,
  } as PolicyRuleResource
  return members.flatMap(([name, of]) =>
    of(base) === of(theirs) ? [] : [{ name, before: of(base), theirs: of(theirs), mine: of(mine) }],
  )
}

/** Says what a restore does to the rules. */
export const restoreText = ({
  added,
  changed,
  deleted,
}: {
  added: number
  changed: number
  deleted: number
}): string => {
  const parts = [
    ...(added > 0 ? [strings.restoreAdded({ count: added })] : []),
    ...(changed > 0 ? [strings.restoreChanged({ count: changed })] : []),
    ...(deleted > 0 ? [strings.restoreDeleted({ count: deleted })] : []),
  ]
  return parts.length === 0 ? strings.restoreNothing : parts.join(' ')
}
