import { createYielder } from '@portcullis/platform/server/yielder.ts'
import type { RuleRow } from './policy.store.ts'
import { type Difference, type SealedRow, sealedPage } from './rule-integrity.store.ts'
import type { Seals } from './seal.ts'

/** Returns the rules that do not match their own seal. They have no effect. */
export const findForged = async (
  pageAfter: (id: string) => Promise<readonly SealedRow[]>,
  { isAuthentic }: Seals,
): Promise<Difference[]> => {
  const found: Difference[] = []
  const yieldNow = createYielder(10)
  for (let from = '00000000-0000-0000-0000-000000000000'; ; ) {
    const rows = await pageAfter(from)
    for (const [n, r] of rows.entries()) {
      if (n % 100 === 0) await yieldNow()
      if (isAuthentic(r)) continue
      const parts = [r.effect, r.vid, r.pid, r.serial, r.kinds?.join(' or ')]
      const sentence = parts.filter((part) => part !== null && part !== undefined && part !== '').join(' ')
      found.push({ ruleId: r.rule_id, what: 'not authentic', sentence })
    }
    const last = rows.at(-1)
    if (last === undefined || rows.length < sealedPage.rows) return found
    from = last.rule_id
  }
}

/** Returns the rules that match their own seal. */
export const authenticOf = async (
  rows: readonly RuleRow[],
  { isAuthentic }: Pick<Seals, 'isAuthentic'>,
): Promise<RuleRow[]> => {
  const found: RuleRow[] = []
  const yieldNow = createYielder(10)
  for (const [n, row] of rows.entries()) {
    if (n % 100 === 0) await yieldNow()
    if (isAuthentic(row)) found.push(row)
  }
  return found
}
