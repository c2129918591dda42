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
import type { createRuleIntegrityStore, Difference, Member, SetRow, StoredSum } from './rule-integrity.store.ts'

/** `unsealed`: no server has sealed the set yet. `broken`: rows were deleted, restored or inserted in the database. */
export type SetState = 'whole' | 'unsealed' | 'broken'

/** Purpose of the key that seals the set of rules. */
export const setPurpose = 'policy-rule-set'

const size = 2n ** 256n
const memberBytes = 48
const nonceBytes = 16

const numberOf = (bytes: Buffer): bigint => BigInt(`0x${bytes.toString('hex') || '0'}`)
const bytesOf = (n: bigint): Buffer => Buffer.from((((n % size) + size) % size).toString(16).padStart(64, '0'), 'hex')

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
    isWhole: async ({ set_version, set_sum, set_seal, members, odd }: SetRow): Promise<boolean | null> => {
      if (set_version === null && set_sum === null && set_seal === null) return null
      if (set_version === null || set_sum === null || set_seal === null || odd > 0) return false
      const total = open({ version: set_version, sum: set_sum, seal: set_seal })
      return total !== null && bytesOf(total).equals(bytesOf(await totalOf(members)))
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
  /** Returns the version of the policy in force, with the head locked. */
  lockHead(tx: Tx): Promise<number>
}

/** A check of all rules is shared for a second, or for twenty times as long as it took. */
const sharedMs = 1_000
const sharedTimes = 20

export const differenceText = ({ ruleId, what, sentence }: Difference): string =>
  `${what}: ${sentence} (rule ${ruleId})`

/** Detects rules that were deleted, restored or inserted in the database, and seals the set of rules. */
export const createRuleIntegrity = ({ db, clock, log, audit, key, store, lockHead }: RuleIntegrityDeps) => {
  const seals = createSetSeals(key)
  /** Whether this process knows that the set was sealed before; null: it has not asked the audit trail yet. */
  let wasSealed: boolean | null = null
  let last: { state: SetState; until: number } | null = null
  let running: Promise<SetState> | null = null

  async function check(q: Queryable): Promise<SetState> {
    const row = await store.all(q)
    const isWhole = row === undefined ? false : await seals.isWhole(row)
    if (isWhole !== null) {
      wasSealed = true
      return isWhole ? 'whole' : 'broken'
    }
    // An attacker who removes the seal cannot remove the record of the first one.
    wasSealed ??= await store.wasSealed(q)
    return wasSealed ? 'broken' : 'unsealed'
  }

  async function checkShared(): Promise<SetState> {
    if (last !== null && last.until > clock.now()) return last.state
    running ??= (async () => {
      const startedAt = performance.now()
      const state = await check(db)
      if (state === 'broken' && last?.state !== 'broken')
        log.error(
          { rules: (await store.differences(db)).map(differenceText) },
          'rules were deleted, restored or inserted in the database; the server signs no policies',
        )
      const took = performance.now() - startedAt
      last = { state, until: clock.now() + Math.max(sharedMs, took * sharedTimes) }
      return state
    })().finally(() => {
      running = null
    })
    return running
  }

  /** Seals the rules as they are stored now. */
  async function seal(tx: Tx, actor: Actor, details: string): Promise<void> {
    const version = await lockHead(tx)
    const row = await store.all(tx)
    if (row === undefined || row.odd > 0)
      throw new AppError('conflict', { detail: 'Rules without a valid seal are stored. Delete them first.' })
    await store.write(tx, await seals.sealed(version, row.members))
    await audit.write(tx, actor, {
      action: 'policy.rulesSealed',
      entity: 'policy',
      details: `version ${version}, ${row.members.length / memberBytes} rules${details}`,
      severity: 4,
      count: row.members.length / memberBytes,
    })
    last = null
  }

  return {
    /** Records in the sum what a change removed and added. The caller holds the head. A broken set stays broken. */
    changed: async (tx: Tx, version: number, gone: readonly Member[], added: readonly Member[]): Promise<void> => {
      const stored = await store.lock(tx)
      const next = stored === null ? null : seals.changed(stored, version, gone, added)
      if (next !== null) await store.write(tx, next)
    },

    /** Takes the rules of hosts out of the sum before the hosts are deleted. */
    hostsLeave: async (tx: Tx, agentIds: readonly string[]): Promise<void> => {
      const gone = await store.ofHosts(tx, agentIds)
      if (gone.length === 0) return
      const version = await lockHead(tx)
      const stored = await store.lock(tx)
      const next = stored === null ? null : seals.changed(stored, version, gone, [])
      if (next !== null) await store.write(tx, next)
    },

    /** Throws if the stored rules are not the sealed ones. Hosts then keep their last policy. */
    assertWhole: async (): Promise<void> => {
      if ((await checkShared()) === 'broken') throw new AppError('rules_not_authentic')
    },

    /** Seals the set for the first time, once no server of the previous release runs. Returns the state. */
    maintain: async (): Promise<SetState> => {
      const state = await checkShared()
      if (state !== 'unsealed' || !(await store.isUpgraded(db))) return state
      await db.transaction(async (tx) => {
        await lockHead(tx)
        if ((await check(tx)) === 'unsealed') await seal(tx, systemActor('policy'), ', for the first time')
      })
      return checkShared()
    },

    /** Accepts the stored rules, for the command line of the server. Returns what differed from the history. */
    accept: (actor: Actor): Promise<readonly string[]> =>
      db.transaction(async (tx) => {
        await lockHead(tx)
        const differences = (await store.differences(tx)).map(differenceText)
        await seal(tx, actor, differences.length === 0 ? '' : `; ${differences.join('; ')}`)
        return differences
      }),

    differences: async (): Promise<readonly string[]> => (await store.differences(db)).map(differenceText),

    health: async (): Promise<{ status: HealthStatus; description: string }> => {
      const state = await checkShared()
      if (state !== 'broken')
        return { status: 'OK', description: state === 'whole' ? 'The rules are as sealed.' : 'Not sealed yet.' }
      const differences = (await store.differences(db)).map(differenceText)
      return {
        status: 'Error',
        description:
          `Rules were deleted, restored or inserted in the database. No policies are signed. ${differences.slice(0, 3).join('; ')}`.slice(
            0,
            500,
          ),
      }
    },
  }
}

export type RuleIntegrity = ReturnType<typeof createRuleIntegrity>
