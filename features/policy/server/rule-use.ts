import { fold } from '@portcullis/platform/server/list/columns.ts'
import { createYielder } from '@portcullis/platform/server/yielder.ts'
import { includes, lastsAsLong } from './newly-allowed.read.ts'
import type { RuleRow } from './policy.store.ts'
import { coveringIds } from './rule-cover.ts'
import { covers, reaches } from './warnings.ts'

/** Returns whether `b` changes no decision while `a` exists: `a` is as strong and decides about all its devices. */
const shadows = (a: RuleRow, b: RuleRow): boolean =>
  includes(a, b) || (a.effect === 'deny' && b.effect === 'allow' && covers(a, b) && reaches(a, b) && lastsAsLong(a, b))

const scopeOf = ({ agent_id, tag_name }: RuleRow): string =>
  agent_id ?? (tag_name === null ? 'all' : `tag ${fold(tag_name)}`)

const candidatesOf = (rules: readonly RuleRow[]) =>
  new Map([...Map.groupBy(rules, scopeOf)].map(([scope, some]) => [scope, coveringIds(some)]))

/**
 * Returns a function that finds the shadowed rules among some, each with the ID of a rule that shadows it. Of two equal rules, only
 * the newer one is shadowed, so deleting all shadowed rules changes no decision. Compares only rules with common IDs and hosts.
 * `wide`: all rules for more than one host. A call gets some of these, or all rules for some hosts.
 */
export const createShadows = (wide: readonly RuleRow[]) => {
  const wideOf = candidatesOf(wide)
  return async (rules: readonly RuleRow[]): Promise<Map<string, string>> => {
    const ownOf = candidatesOf(rules.filter(({ agent_id }) => agent_id !== null))
    const found = new Map<string, string>()
    const yieldNow = createYielder(10)
    for (const rule of rules) {
      await yieldNow()
      if (rule.is_grant) continue
      const by = [...new Set(['all', scopeOf(rule)])]
        .flatMap((scope) => (wideOf.get(scope) ?? ownOf.get(scope))?.(rule) ?? [])
        .find(
          (other) =>
            other.rule_id !== rule.rule_id &&
            shadows(other, rule) &&
            (!shadows(rule, other) || other.rule_id < rule.rule_id),
        )
      if (by !== undefined) found.set(rule.rule_id, by.rule_id)
    }
    return found
  }
}
