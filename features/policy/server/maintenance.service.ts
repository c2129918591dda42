import type { Queryable } from '@portcullis/platform/server/db/db.ts'
import type { PolicyContext } from './policy.context.ts'
import type { Difference } from './rule-integrity.store.ts'
import { createRuleUseStore } from './rule-use.store.ts'
import { shadowedRules } from './rule-use.ts'

/** Number of rules per transaction that get a fingerprint. */
const rulesAtOnce = 5_000

const dayMs = 86_400_000
/** Days for which the hits of a rule count, up to and including today. */
const hitDays = 30
const use = createRuleUseStore()
const dayOf = (ms: number): string => new Date(ms).toISOString().slice(0, 10)

/** The scheduled work of the policy. */
export const createPolicyUpkeep = (
  { db, clock, store, seals, affected, peripherals: { fingerprints }, announceChange, drain }: PolicyContext,
  findForged: (q: Queryable) => Promise<readonly Difference[]>,
) => {
  /** The version of the policy whose shadowed rules are known. */
  let shadowed: { version: number; rules: number } | null = null
  return {
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

    /**
     * Gives rules of earlier releases the fingerprint that holds at every port and speed, and seals it. It needs a device
     * fingerprint of this release, so a rule without a known device waits for one. Returns how many rules changed.
     */
    adoptFingerprints: async (): Promise<number> => {
      await fingerprints.nameRuleFingerprints()
      let adopted = 0
      for (let from = '00000000-0000-0000-0000-000000000000'; ; ) {
        const last = await db.transaction(async (tx) => {
          await store.lockHead(tx)
          const rows = await store.adoptable(tx, from, rulesAtOnce)
          const prints = await affected.rulePrints(
            tx,
            rows.map((row) => row.fingerprint ?? ''),
          )
          const changed = rows.flatMap((row) => {
            const print = prints.get(row.fingerprint ?? '')
            if (print === undefined || !seals.isAuthentic(row)) return []
            return [seals.sealed({ ...seals.withIdentity(row), rule_fingerprint: print })]
          })
          if (changed.length > 0) {
            const hadWideAllow = await affected.hasWideAllow(tx)
            await store.writeIdentities(tx, changed)
            const rules = `${changed.length} ${changed.length === 1 ? 'rule' : 'rules'}`
            await store.bumpVersion(tx, new Date(clock.now()), `${rules} now hold at every port and speed`)
            await affected.queue(tx, changed, hadWideAllow)
            await announceChange(tx)
          }
          adopted += changed.length
          return rows.at(-1)?.rule_id
        })
        if (last === undefined) break
        from = last
      }
      if (adopted > 0) await drain()
      return adopted
    },

    /**
     * Counts the hits of each rule in 30 days and finds unused rules. Decisions are attributed to the rule that decides about the
     * device at the time of counting. Counts only days that are not counted yet, yesterday and today.
     */
    countUse: async (): Promise<void> => {
      const now = clock.now()
      const first = now - (hitDays - 1) * dayMs
      const last = await use.lastDay(db)
      const from = last === null ? first : Math.max(first, Math.min(Date.parse(last), now) - dayMs)
      for (let at = from; dayOf(at) <= dayOf(now); at += dayMs)
        await db.transaction((tx) => use.countDay(tx, dayOf(at)))
      await db.transaction(async (tx) => {
        await store.lockHead(tx)
        await use.forget(tx, dayOf(first))
        await use.write(tx, new Date(now - hitDays * dayMs))
      })
    },

    /** Finds the shadowed rules, once per version of the policy. Returns how many there are. */
    findShadowed: async (): Promise<number> => {
      const { version } = await store.versionAndOwn(db, [])
      if (shadowed?.version === version) return shadowed.rules
      const rules = (await store.inForce(db)).filter((rule) => seals.isAuthentic(rule))
      const found = await shadowedRules(rules)
      return db.transaction(async (tx) => {
        // A later version is examined by the next run.
        if ((await store.lockHead(tx)) !== version) return found.size
        await use.writeShadows(tx, found)
        shadowed = { version, rules: found.size }
        return found.size
      })
    },

    /** Checks all seals and marks rules that this server did not write. Returns their ids. */
    checkSeals: async (): Promise<string[]> => {
      const forged = (await findForged(db)).map(({ ruleId }) => ruleId)
      await store.markForged(db, forged)
      return forged
    },
  }
}
