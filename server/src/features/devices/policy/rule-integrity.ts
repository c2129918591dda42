import { createHmac, hash, randomBytes, timingSafeEqual } from 'node:crypto'
import type { HealthStatus } from '@portcullis/contract'
import type { Audit } from '#features/system/audit/index.ts'
import { AppError } from '#platform/app-error.ts'
import type { Clock } from '#platform/clock.ts'
import type { Db, Queryable, Tx } from '#platform/db/db.ts'
import { type Actor, systemActor } from '#platform/http/actor.ts'
import type { Log } from '#platform/log.ts'
import type { Secret } from '#platform/secret.ts'
import { createYielder } from '#platform/yielder.ts'
import type {
  createRuleIntegrityStore,
  Difference,
  Member,
  SealedRow,
  SetRow,
  StoredSum,
} from './rule-integrity.store.ts'
import type { Seals } from './seal.ts'

/** `unsealed`: no server has sealed the set yet. `broken`: rows were changed, deleted, restored or inserted in the database. */
export type SetState = 'whole' | 'unsealed' | 'broken'

/** The state of the set, and the rules that do not match their own seal. */
interface Checked {
  state: SetState
  forged: readonly Difference[]
}

/** Purpose of the key that seals the set of rules. */
export const setPurpose = 'policy-rule-set'

const size = 2n ** 256n
const memberBytes = 48
const nonceBytes = 16

const numberOf = (bytes: Buffer): bigint => BigInt(`0x${bytes.toString('hex') || '0'}`)
const bytesOf = (n: bigint): Buffer => Buffer.from((((n % size) + size) % size).toString(16).padStart(64, '0'), 'hex')

/** Returns the members without the rules that do not match their own seal. */
const withoutForged = (members: Buffer, forged: readonly Difference[]): Buffer => {
  if (forged.length === 0) return members
  const ids = new Set(forged.map(({ ruleId }) => ruleId.replaceAll('-', '')))
  const kept: Buffer[] = []
  for (let at = 0; at < members.length; at += memberBytes)
    if (!ids.has(members.toString('hex', at, at + 16))) kept.push(members.subarray(at, at + memberBytes))
  return Buffer.concat(kept)
}

/**
 * Seals a set of rules by a sum of one MAC for each rule, so that a change costs as much as the rules it changes. The
 * stored sum is masked, because the difference of two sums would reveal the MACs of rules.
 */
export const createSetSeals = (key: Secret<Buffer>) => {
  const mac = (...parts: (string | Buffer)[]): Buffer => {
    const hmac = createHmac('sha256', key.reveal())
    for (const part of parts) hmac.update(part)
    return hmac.digest()
  }
  const maskOf = (nonce: Buffer): bigint => numberOf(mac('rule set mask ', nonce))
  const sealOf = (version: number, sum: Buffer): Buffer => mac(`rule set seal ${version} `, sum)
  /** A secret prefix is a MAC here, because every member has the same length. It takes a fifth of the time of an HMAC. */
  const prefixed = Buffer.concat([mac('rule set member'), Buffer.alloc(memberBytes)])
  const digestOf = (members: Buffer, at: number): Buffer => {
    members.copy(prefixed, prefixed.length - memberBytes, at, at + memberBytes)
    return hash('sha256', prefixed, 'buffer')
  }
  const bytesOfMember = ({ rule_id, seal }: Member): Buffer =>
    Buffer.concat([Buffer.from(rule_id.replaceAll('-', ''), 'hex'), seal])

  const open = ({ version, sum, seal }: StoredSum): bigint | null => {
    const expected = sealOf(version, sum)
    const isSealed = seal.length === expected.length && timingSafeEqual(seal, expected)
    return isSealed ? numberOf(sum.subarray(nonceBytes)) - maskOf(sum.subarray(0, nonceBytes)) : null
  }
  const close = (version: number, total: bigint): StoredSum => {
    const nonce = randomBytes(nonceBytes)
    const sum = Buffer.concat([nonce, bytesOf(total + maskOf(nonce))])
    return { version, sum, seal: sealOf(version, sum) }
  }
  async function totalOf(members: Buffer): Promise<bigint> {
    const yieldNow = createYielder(10)
    let total = 0n
    // A number holds the sum of 2^21 words of 32 bits.
    const words = new Float64Array(8)
    const fold = (): void => {
      total += words.reduce((sum, word) => (sum << 32n) + BigInt(word), 0n)
      words.fill(0)
    }
    for (let at = 0, n = 1; at < members.length; at += memberBytes, n++) {
      if (n % 1_000 === 0) await yieldNow()
      if (n % 2 ** 21 === 0) fold()
      const digest = digestOf(members, at)
      for (let i = 0; i < 8; i++) words[i] = (words[i] as number) + digest.readUInt32BE(i * 4)
    }
    fold()
    return total
  }
  return {
    /** Returns the sum after a change; null: the stored one is not authentic. */
    changed: (
      stored: StoredSum,
      version: number,
      gone: readonly Member[],
      added: readonly Member[],
    ): StoredSum | null => {
      const total = open(stored)
      if (total === null) return null
      const sumOf = (members: readonly Member[]): bigint =>
        members.reduce((sum, one) => sum + numberOf(digestOf(bytesOfMember(one), 0)), 0n)
      return close(version, total - sumOf(gone) + sumOf(added))
    },
    sealed: async (version: number, members: Buffer): Promise<StoredSum> => close(version, await totalOf(members)),
    /** Returns whether the stored rules are the sealed ones. Null: the set is not sealed. */
    isWhole: async (
      { set_version, set_sum, set_seal, members }: SetRow,
      forged: readonly Difference[],
    ): Promise<boolean | null> => {
      if (set_version === null && set_sum === null && set_seal === null) return null
      if (set_version === null || set_sum === null || set_seal === null) return false
      const total = open({ version: set_version, sum: set_sum, seal: set_seal })
      return total !== null && bytesOf(total).equals(bytesOf(await totalOf(withoutForged(members, forged))))
    },
  }
}

export interface RuleIntegrityDeps {
  db: Db
  clock: Clock
  log: Log
  audit: Audit
  key: Secret<Buffer>
  store: ReturnType<typeof createRuleIntegrityStore>
  seals: Pick<Seals, 'isAuthentic'>
  /** Returns the rules that do not match their own seal. */
  findForged(q: Queryable): Promise<readonly Difference[]>
  /** Returns the version of the policy in force, with the head locked. */
  lockHead(tx: Tx): Promise<number>
}

/** A check of all rules is shared for a second, or for twenty times as long as it took. */
const sharedMs = 1_000
const sharedTimes = 20

const differenceText = ({ ruleId, what, sentence }: Difference): string => `${what}: ${sentence} (rule ${ruleId})`

/** Returns how the rules differ from the sealed ones and from the history, each rule once. */
export const allDifferences = (forged: readonly Difference[], others: readonly Difference[]): string[] => {
  const ids = new Set(forged.map(({ ruleId }) => ruleId))
  return [...forged.slice(0, 20), ...others.filter(({ ruleId }) => !ids.has(ruleId))].map(differenceText)
}

/** Detects rules that were changed, deleted, restored or inserted in the database, and seals the set of rules. */
export const createRuleIntegrity = ({
  db,
  clock,
  log,
  audit,
  key,
  store,
  seals: { isAuthentic },
  findForged,
  lockHead,
}: RuleIntegrityDeps) => {
  const seals = createSetSeals(key)
  /** Whether this process knows that the set was sealed before; null: it has not asked the audit trail yet. */
  let wasSealed: boolean | null = null
  let last: { state: SetState; forged: readonly Difference[]; until: number } | null = null
  let running: Promise<Checked> | null = null

  async function check(q: Queryable): Promise<Checked> {
    const forged = await findForged(q)
    const row = await store.all(q)
    const isWhole = row === undefined ? false : await seals.isWhole(row, forged)
    if (isWhole !== null) {
      wasSealed = true
      return { state: isWhole ? 'whole' : 'broken', forged }
    }
    // Without the seal, the record of the first one decides. It lies in the database too: see ADR 91.
    wasSealed ??= await store.wasSealed(q)
    return { state: wasSealed ? 'broken' : 'unsealed', forged }
  }

  async function checkShared(): Promise<Checked> {
    if (last !== null && last.until > clock.now()) return last
    running ??= (async () => {
      const startedAt = performance.now()
      const { state, forged } = await check(db)
      if (state === 'broken' && last?.state !== 'broken')
        log.error(
          { rules: allDifferences(forged, await store.differences(db)) },
          'rules were changed, deleted, restored or inserted in the database; the server signs no policies',
        )
      const took = performance.now() - startedAt
      last = { state, forged, until: clock.now() + Math.max(sharedMs, took * sharedTimes) }
      return last
    })().finally(() => {
      running = null
    })
    return running
  }

  /** Seals the rules as they are stored now. */
  async function seal(tx: Tx, actor: Actor, details: string): Promise<void> {
    const version = await lockHead(tx)
    const row = await store.all(tx)
    if (row === undefined) throw new AppError('conflict', { detail: 'The head of the policy is missing.' })
    // Rules that do not match their own seal have no effect and stay outside the set.
    const members = withoutForged(row.members, await findForged(tx))
    await store.write(tx, await seals.sealed(version, members))
    await audit.write(tx, actor, {
      action: 'policy.rulesSealed',
      entity: 'policy',
      details: `version ${version}, ${members.length / memberBytes} rules${details}`,
      severity: 4,
      count: members.length / memberBytes,
    })
    last = null
  }

  /** Records in the sum what a change removed and added. A removed rule that does not match its own seal is no member. */
  async function record(tx: Tx, version: number, gone: readonly SealedRow[], added: readonly Member[]): Promise<void> {
    const stored = await store.lock(tx)
    const next = stored === null ? null : seals.changed(stored, version, gone.filter(isAuthentic), added)
    if (next !== null) await store.write(tx, next)
  }

  async function assertWhole(): Promise<void> {
    if ((await checkShared()).state === 'broken') throw new AppError('rules_not_authentic')
  }

  const differencesOf = async (q: Queryable, forged: readonly Difference[]): Promise<string[]> =>
    allDifferences(forged, await store.differences(q))

  return {
    /** Records in the sum what a change removed and added. The caller holds the head. A broken set stays broken. */
    changed: record,

    /** Takes the rules of hosts out of the sum before the hosts are deleted. */
    hostsLeave: async (tx: Tx, agentIds: readonly string[]): Promise<void> => {
      const gone = await store.ofHosts(tx, agentIds)
      if (gone.length === 0) return
      await record(tx, await lockHead(tx), gone, [])
    },

    /** Throws if the stored rules are not the sealed ones. Hosts then keep their last policy. */
    assertWhole,

    /** Checks again and throws if a policy left out a rule that the last check found authentic. */
    assertLeftOut: async (ruleIds: readonly string[]): Promise<void> => {
      const isKnown = (id: string): boolean => last?.forged.some(({ ruleId }) => ruleId === id) === true
      if (ruleIds.every(isKnown)) return
      await running?.catch(() => {})
      last = null
      await assertWhole()
    },

    /** Seals the set for the first time, once no server of the previous release runs. Returns the state. */
    maintain: async (): Promise<SetState> => {
      const { state } = await checkShared()
      if (state !== 'unsealed' || !(await store.isUpgraded(db))) return state
      await db.transaction(async (tx) => {
        await lockHead(tx)
        if ((await check(tx)).state === 'unsealed') await seal(tx, systemActor('policy'), ', for the first time')
      })
      return (await checkShared()).state
    },

    /** Accepts the stored rules, for the command line of the server. Returns what differed from the history. */
    accept: (actor: Actor): Promise<readonly string[]> =>
      db.transaction(async (tx) => {
        await lockHead(tx)
        const differences = await differencesOf(tx, await findForged(tx))
        await seal(tx, actor, differences.length === 0 ? '' : `; ${differences.join('; ')}`)
        return differences
      }),

    differences: async (): Promise<readonly string[]> => differencesOf(db, await findForged(db)),

    health: async (): Promise<{ status: HealthStatus; description: string }> => {
      const { state, forged } = await checkShared()
      if (state !== 'broken' && forged.length > 0)
        return {
          status: 'Warning',
          description:
            `Rules were written in the database and have no effect. ${allDifferences(forged.slice(0, 3), []).join('; ')}`.slice(
              0,
              500,
            ),
        }
      if (state !== 'broken')
        return { status: 'OK', description: state === 'whole' ? 'The rules are as sealed.' : 'Not sealed yet.' }
      const differences = await differencesOf(db, forged)
      return {
        status: 'Error',
        description:
          `Rules were changed, deleted, restored or inserted in the database. No policies are signed. ${differences.slice(0, 3).join('; ')}`.slice(
            0,
            500,
          ),
      }
    },
  }
}

export type RuleIntegrity = ReturnType<typeof createRuleIntegrity>
