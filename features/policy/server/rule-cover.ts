import { serialKey } from '@portcullis/domain'
import type { RuleRow } from './policy.store.ts'
import { printOf } from './seal.ts'

type Ids = Pick<RuleRow, 'vid' | 'pid' | 'serial' | 'fingerprint' | 'rule_fingerprint'>

const keyOf = (vid: string | null, pid: string | null, serial: string | null, print: string | null): string =>
  JSON.stringify([vid, pid, serial === null ? null : serialKey(serial), print])

/**
 * Returns a function that finds the rules that may cover a given one: those with the same vendor, product, serial number and
 * fingerprint, or with fewer of them. Thousands of rules for serial numbers or variants of one model are not compared with each other.
 */
export const coveringIds = <R extends Ids>(rules: readonly R[]) => {
  const byIds = Map.groupBy(rules, (rule) => keyOf(rule.vid, rule.pid, rule.serial, printOf(rule)))
  return (rule: Ids): R[] => {
    const { vid, pid, serial } = rule
    const keys = [printOf(rule), null].flatMap((print) => [
      keyOf(vid, pid, serial, print),
      keyOf(vid, pid, null, print),
      keyOf(vid, null, null, print),
      keyOf(null, null, null, print),
    ])
    return [...new Set(keys)].flatMap((key) => byIds.get(key) ?? [])
  }
}
