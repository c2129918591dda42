import { serialKey } from '@portcullis/domain'
import type { RuleRow } from './policy.store.ts'

type Ids = Pick<RuleRow, 'vid' | 'pid' | 'serial'>

const keyOf = (vid: string | null, pid: string | null, serial: string | null): string =>
  `${vid ?? ''}:${pid ?? ''}${serial === null ? '' : ` ${serialKey(serial)}`}`

/**
 * Returns a function that finds the rules that may cover a given one: those with the same vendor, product and serial number,
 * or with fewer of them. Thousands of rules for serial numbers of one model are not compared with each other.
 */
export const coveringIds = <R extends Ids>(rules: readonly R[]) => {
  const byIds = Map.groupBy(rules, ({ vid, pid, serial }) => keyOf(vid, pid, serial))
  return ({ vid, pid, serial }: Ids): R[] =>
    [
      ...new Set([keyOf(vid, pid, serial), keyOf(vid, pid, null), keyOf(vid, null, null), keyOf(null, null, null)]),
    ].flatMap((key) => byIds.get(key) ?? [])
}
