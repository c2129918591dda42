import { serialKey } from '@portcullis/domain'
import { fold } from '@portcullis/platform/server/list/columns.ts'
import type { PolicyWarning } from '#features/contract.ts'
import { matchKey, type WrittenRule } from './policy.rules.ts'
import type { RuleRow } from './policy.store.ts'
import { printOf } from './seal.ts'

type Scoped = Pick<WrittenRule, 'agent_id' | 'tag_name'>
type Matching = Pick<WrittenRule, 'vid' | 'pid' | 'serial' | 'kinds' | 'fingerprint' | 'rule_fingerprint' | 'effect'>

const rank = (r: Scoped & { is_grant: boolean }): number =>
  r.is_grant ? 0 : r.agent_id !== null ? 1 : r.tag_name !== null ? 2 : 3

const sameTag = (a: Scoped, b: Scoped): boolean =>
  a.tag_name !== null && b.tag_name !== null && fold(a.tag_name) === fold(b.tag_name)

/**
 * Returns whether `a` applies to every host that `b` applies to. It does not look up the tags of hosts, because tags
 * change.
 */
export const reaches = (a: Scoped, b: Scoped): boolean =>
  (a.agent_id === null && a.tag_name === null) || (a.agent_id !== null && a.agent_id === b.agent_id) || sameTag(a, b)

const keyOf = ({ serial }: Matching): string | null => (serial === null ? null : serialKey(serial))

const allows = <T>(asked: T | null, given: T | null): boolean => asked === null || asked === given

/** Returns whether `a` matches every device that `b` matches; false if the rules alone do not show it. */
export const covers = (a: Matching, b: Matching): boolean => {
  const kinds = a.kinds === null || b.kinds?.every((k) => a.kinds?.includes(k)) === true
  return (
    allows(a.vid, b.vid) &&
    allows(a.pid, b.pid) &&
    allows(keyOf(a), keyOf(b)) &&
    allows(printOf(a), printOf(b)) &&
    kinds
  )
}

/** Returns whether both rules can match the same device. If the rules alone do not show it, returns true. */
export const meets = (a: Matching, b: Matching): boolean => {
  const alike = (x: string | null, y: string | null): boolean => x === null || y === null || x === y
  const kinds = a.kinds === null || b.kinds === null || a.kinds.some((k) => b.kinds?.includes(k))
  return (
    alike(a.vid, b.vid) && alike(a.pid, b.pid) && alike(keyOf(a), keyOf(b)) && alike(printOf(a), printOf(b)) && kinds
  )
}

/** Returns what a person should know before a rule takes effect, from the other rules. Pure. */
export const warningsOf = (rule: WrittenRule, others: readonly RuleRow[]): PolicyWarning[] => {
  const found: PolicyWarning[] = []
  function add(code: PolicyWarning['code'], text: string, other: RuleRow | null): void {
    if (found.length < 20) found.push({ code, text, ruleId: other?.rule_id ?? null })
  }
  const key = matchKey(rule)
  for (const other of others) {
    const isSame = matchKey(other) === key
    if (isSame && other.effect === rule.effect && other.is_grant === rule.is_grant) {
      add('duplicate', 'Another rule is identical.', other)
      continue
    }
    if (isSame && other.effect !== rule.effect) {
      add('contradicts', 'Another rule decides the opposite about the same devices. The deny wins.', other)
      continue
    }
    const otherWins = other.effect === 'deny' || (rule.effect === 'allow' && rank(other) <= rank(rule))
    if (covers(other, rule) && reaches(other, rule)) {
      if (other.effect === 'deny' && rule.effect === 'allow')
        add('shadowed', 'A deny covers all of these devices, so this rule allows nothing.', other)
      else if (other.effect === rule.effect && otherWins)
        add('shadowed', `A wider ${rule.effect} rule already covers this.`, other)
    } else if (covers(rule, other) && reaches(rule, other)) {
      if (rule.effect === 'deny' && other.effect === 'allow')
        add('shadows', 'While this deny exists, an allow rule has no effect.', other)
      else if (rule.effect === other.effect) add('shadows', `This rule covers a narrower ${other.effect} rule.`, other)
    } else if (rule.effect !== other.effect && meets(rule, other) && (reaches(rule, other) || reaches(other, rule)))
      add(
        'contradicts',
        rule.effect === 'deny'
          ? 'An allow rule may match some of the same devices. For those, this deny wins.'
          : 'A deny rule may match some of the same devices. For those, the deny wins.',
        other,
      )
  }
  const { kinds } = rule
  if (
    rule.effect === 'allow' &&
    kinds !== null &&
    !kinds.includes('Keyboard') &&
    kinds.some((k) => k === 'Mouse' || k === 'HID')
  )
    add(
      'needs-keyboard',
      'Without Keyboard, this rule covers no mouse and no other HID device. Any HID device may type, and hosts detect that only after they allow it.',
      null,
    )
  if (rule.vid === null && rule.fingerprint === null && rule.agent_id === null && rule.tag_name === null)
    add('wide', `This rule applies to every host and every device of kind ${rule.kinds?.join(', ')}.`, null)
  return found
}
