import type { Queryable, Tx } from '@portcullis/platform/server/db/db.ts'
import { slices } from '@portcullis/platform/server/slices.ts'
import { utcDay } from '@portcullis/platform/server/time.ts'
import { authenticOf } from './forged.ts'
import type { PolicyContext } from './policy.context.ts'
import type { RuleRow } from './policy.store.ts'
import type { Difference } from './rule-integrity.store.ts'
import { createRuleUseStore } from './rule-use.store.ts'
import { createShadows } from './rule-use.ts'

/** Number of rules that one transaction changes. */
const rulesAtOnce = 5_000
/** Rules for single hosts that are compared at the same time. More of one host are not compared with each other. */
const ownAtOnce = 20_000
/** A search for shadowed rules that takes longer than this may take a twentieth of the time. */
const longSearchMs = 3_000

const dayMs = 86_400_000
/** Days for which the hits of a rule count, up to and including today. */
const hitDays = 30
const use = createRuleUseStore()

/** The scheduled work of the policy. */
export const createPolicyUpkeep = (
  { db, clock, store, seals, affected, peripherals: { fingerprints }, announceChange, drain, longRead }: PolicyContext,
  findForged: (q: Queryable) => Promise<readonly Difference[]>,
) => {
  /** The version of the policy whose shadowed rules are known. */
  let shadowed: { version: number; rules: number } | null = null
  let searchAgainAt = 0

  /** Finds and writes the shadowed rules of a version. Returns their number; null: the version has changed. */
  async function writeShadows(version: number): Promise<number | null> {
    let count = 0
    const inTurn = (work: (tx: Tx) => Promise<unknown>): Promise<boolean> =>
      db.transaction(async (tx) => {
        if ((await store.lockHead(tx)) !== version) return false
        await work(tx)
        return true
      })
    async function note(rows: readonly RuleRow[], sealed: readonly RuleRow[]): Promise<boolean> {
      const found = await shadowsOf(sealed)
      count += found.size
      for (const some of slices(rows, rulesAtOnce)) {
        const ids = some.map(({ rule_id }) => rule_id)
        if (!(await inTurn((tx) => use.writeShadows(tx, ids, found)))) return false
      }
      return true
    }
    const wide = (await store.wide(db)).sort((a, b) => (a.rule_id < b.rule_id ? -1 : 1))
    const sealedWide = await authenticOf(wide, seals)
    const shadowsOf = createShadows(sealedWide)
    if (!(await note(wide, sealedWide))) return null
    for (let from = '00000000-0000-0000-0000-000000000000'; ; ) {
      const page = await store.ownAfter(db, from, ownAtOnce)
      const last = page.at(-1)?.agent_id
      if (typeof last !== 'string') break
      // The rules of the last host may be incomplete.
      const whole = page.length < ownAtOnce ? page : page.filter(({ agent_id }) => agent_id !== last)
      const rows = whole.length === 0 ? page : whole
      if (!(await note(rows, await authenticOf(rows, seals)))) return null
      from = rows.at(-1)?.agent_id ?? last
    }
    return (await inTurn((tx) => use.clearShadows(tx))) ? count : null
  }

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
     * device at the time of counting. Counts only days that are not counted yet, yesterday and today. The counts read all
     * attachments of a day and all rules, so they take no connection from lists, and changes of rules do not wait for them.
     */
    countUse: async (): Promise<void> => {
      const now = clock.now()
      const first = now - (hitDays - 1) * dayMs
      const last = await use.lastDay(db)
      const from = last === null ? first : Math.max(first, Math.min(Date.parse(last), now) - dayMs)
      for (let at = from; utcDay(at) <= utcDay(now); at += dayMs) await longRead((tx) => use.countDay(tx, utcDay(at)))
      await use.forget(db, utcDay(first))
      const changed = await longRead((tx) => use.changed(tx, new Date(now - hitDays * dayMs)))
      for (const some of slices(changed, rulesAtOnce))
        await db.transaction(async (tx) => {
          await store.lockHead(tx)
          await use.write(tx, some)
        })
    },

    /** Finds the shadowed rules, once per version of the policy. Returns how many there are; null: unknown for this version. */
    findShadowed: async (): Promise<number | null> => {
      const { version } = await store.versionAndOwn(db, [])
      if (shadowed?.version === version) return shadowed.rules
      if (clock.now() < searchAgainAt) return null
      const startedAt = performance.now()
      const rules = await writeShadows(version)
      const took = performance.now() - startedAt
      if (took > longSearchMs) searchAgainAt = clock.now() + took * 20
      // A later version is examined by the next run.
      shadowed = rules === null ? null : { version, rules }
      return rules
    },

    /** Checks all seals and marks rules that this server did not write. Returns their ids. */
    checkSeals: async (): Promise<string[]> => {
      const forged = (await findForged(db)).map(({ ruleId }) => ruleId)
      await store.markForged(db, forged)
      return forged
    },
  }
}
