import type { Clock } from '#platform/clock.ts'
import type { Db, Tx } from '#platform/db/db.ts'
import type { Affected } from './affected.ts'
import type { PolicyStore } from './policy.store.ts'
import type { Seals } from './seal.ts'

export interface PolicyUpkeepDeps {
  db: Db
  clock: Clock
  store: PolicyStore
  seals: Seals
  affected: Affected
  announceChange(tx: Tx): Promise<void>
  drain(): Promise<void>
}

/** The scheduled work of the policy. */
export const createPolicyUpkeep = ({ db, clock, store, seals, affected, announceChange, drain }: PolicyUpkeepDeps) => ({
  /** Carries out the expiry of rules and grants. Returns how many expired. */
  endOver: async (): Promise<number> => {
    const now = new Date(clock.now())
    const over = await db.transaction(async (tx) => {
      await store.lockHead(tx)
      const hadWideAllow = await affected.hasWideAllow(tx)
      const rows = await store.endOver(tx, now)
      if (rows.length === 0) return 0
      await store.bumpVersion(tx, now, `${rows.length} ${rows.length === 1 ? 'rule' : 'rules'} ended`)
      await affected.queue(tx, rows, hadWideAllow)
      await announceChange(tx)
      return rows.length
    })
    if (over > 0) await drain()
    return over
  },

  /** Checks all seals and marks rules that this server did not write. Returns their ids. */
  checkSeals: async (): Promise<string[]> => {
    const forged: string[] = []
    for (let from = '00000000-0000-0000-0000-000000000000'; ; ) {
      const rows = await store.after(db, from, 5_000)
      forged.push(...rows.filter((row) => !seals.isAuthentic(row)).map((row) => row.rule_id))
      const last = rows.at(-1)
      if (last === undefined || rows.length < 5_000) break
      from = last.rule_id
    }
    await store.markForged(db, forged)
    return forged
  },
})
