import { createHmac, hash, randomBytes, timingSafeEqual } from 'node:crypto'
import { AppError } from '@portcullis/platform/server/app-error.ts'
import type { Queryable, Tx } from '@portcullis/platform/server/db/db.ts'
import { type Actor, systemActor } from '@portcullis/platform/server/http/actor.ts'
import type { RuleSeal } from '@portcullis/platform/server/key-file.ts'
import type { Secret } from '@portcullis/platform/server/secret.ts'
import { createYielder } from '@portcullis/platform/server/yielder.ts'
import type { HealthStatus } from '#features/contract.ts'
import type { PolicyBaseContext } from './context.ts'
import {
  createRuleIntegrityStore,
  type Difference,
  type Member,
  type SealedRow,
  type SetRow,
  type StoredSum,
  type UnsealedFacts,
} from './rule-integrity.store.ts'
import type { Seals } from './seal.ts'

/** `unsealed`: no server has sealed the set yet. `broken`: rows, or the seal, were changed in the database. */
export type SetState = 'whole' | 'unsealed' | 'broken'

interface Checked {
  state: SetState
  /** Whether a set that was sealed before has no seal. */
  isSealMissing: boolean
  /** The rules that do not match their own seal. */
  forged: readonly Difference[]
}

/**
 * Returns whether a set without a seal waits for its first sealing. The key file decides. A copy that records nothing
 * believes the database that it is new, or that its upgrade began within the last hour.
 */
export const isSealDue = (
  recorded: RuleSeal | undefined,
  { wasRecorded, isEmpty, isHourOld }: UnsealedFacts,
): boolean => recorded !== 'done' && !wasRecorded && (recorded === 'due' || isEmpty || !isHourOld)

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

/** Time for the upgrade of all servers, before the first sealing. */
const hourMs = 3_600_000

/** A check of all rules is shared for a second, or for twenty times as long as it took. */
const sharedMs = 1_000
const sharedTimes = 20

const differenceText = ({ ruleId, what, sentence }: Difference): string => `${what}: ${sentence} (rule ${ruleId})`

/** Returns how the rules differ from the sealed ones and from the history, each rule once. */
export const allDifferences = (
  { forged, isSealMissing }: Omit<Checked, 'state'>,
  others: readonly Difference[],
): string[] => {
  const ids = new Set(forged.map(({ ruleId }) => ruleId))
  return [
    ...(isSealMissing ? ['the seal of the set of rules is missing'] : []),
    ...[...forged.slice(0, 20), ...others.filter(({ ruleId }) => !ids.has(ruleId))].map(differenceText),
  ]
}

/** Detects rules that were changed, deleted, restored or inserted in the database, and seals the set of rules. */
export const createRuleIntegrity = (
  { db, clock, keys, log, audit }: PolicyBaseContext,
  { isAuthentic }: Seals,
  /** Returns the rules that do not match their own seal. */
  findForged: (q: Queryable) => Promise<readonly Difference[]>,
  /** Returns the version of the policy in force, with the head locked. */
  lockHead: (tx: Tx) => Promise<number>,
) => {
  const store = createRuleIntegrityStore()
  const keyFile = keys.ruleSeal
  const seals = createSetSeals(keys.derive(setPurpose))
  /** Whether a server has sealed the set before; null: this process does not know yet. */
  let wasSealed: boolean | null = null
  /** When this process first saw the set without a seal. */
  let unsealedSince: number | null = null
  let isReadOnly = false
  let last: (Checked & { until: number }) | null = null
  let running: Promise<Checked> | null = null

  /** Null: the key file cannot be read at present. */
  function recorded(): RuleSeal | undefined | null {
    try {
      return keyFile.read()
    } catch {
      return null
    }
  }

  function note(state: RuleSeal): void {
    const before = recorded()
    if (before === state || before === 'done' || before === null) return
    try {
      keyFile.write(state)
    } catch (error) {
      if (!isReadOnly)
        log.warn({ err: error }, 'the key file cannot be written, so it does not record that the rules are sealed')
      isReadOnly = true
    }
  }

  async function check(q: Queryable): Promise<Checked> {
    const forged = await findForged(q)
    const isWhole = await seals.isWhole(await store.all(q), forged)
    const record = recorded()
    if (isWhole !== null || record === 'done') wasSealed = true
    // Fails closed, and only until the key file can be read.
    else if (record === null && wasSealed !== true) return { state: 'broken', isSealMissing: true, forged }
    else wasSealed ??= !isSealDue(record ?? undefined, await store.unsealed(q))
    note(wasSealed ? 'done' : 'due')
    if (wasSealed) return { state: isWhole === true ? 'whole' : 'broken', isSealMissing: isWhole === null, forged }
    unsealedSince ??= clock.now()
    return { state: 'unsealed', isSealMissing: false, forged }
  }

  const differencesOf = async (q: Queryable, checked: Checked): Promise<string[]> =>
    allDifferences(checked, await store.differences(q))

  async function checkShared(): Promise<Checked> {
    if (last !== null && last.until > clock.now()) return last
    running ??= (async () => {
      const startedAt = performance.now()
      const checked = await check(db)
      if (checked.state === 'broken' && last?.state !== 'broken')
        log.error(
          { rules: await differencesOf(db, checked) },
          'the stored rules are not those that the server sealed; it signs no policies',
        )
      const took = performance.now() - startedAt
      last = { ...checked, until: clock.now() + Math.max(sharedMs, took * sharedTimes) }
      return last
    })().finally(() => {
      running = null
    })
    return running
  }

  /** Seals the rules as they are stored now. */
  async function seal(tx: Tx, actor: Actor, details: string): Promise<void> {
    const version = await lockHead(tx)
    // Rules that do not match their own seal have no effect and stay outside the set.
    const members = withoutForged((await store.all(tx)).members, await findForged(tx))
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
      if (state !== 'unsealed') return state
      const { isEmpty, isHourOld } = await store.unsealed(db)
      // The process also measures the hour, because a database writer can move the time of the upgrade.
      if (!isEmpty && !isHourOld && clock.now() < (unsealedSince ?? clock.now()) + hourMs) return state
      await db.transaction(async (tx) => {
        await lockHead(tx)
        if ((await check(tx)).state === 'unsealed') await seal(tx, systemActor('policy'), ', for the first time')
      })
      // Not what the database says now: a writer can have removed the seal again.
      wasSealed = true
      note('done')
      return (await checkShared()).state
    },

    /** Accepts the stored rules, for the command line of the server. Returns what differed from the history. */
    accept: (actor: Actor): Promise<readonly string[]> =>
      db.transaction(async (tx) => {
        await lockHead(tx)
        const differences = await differencesOf(tx, await check(tx))
        await seal(tx, actor, differences.length === 0 ? '' : `; ${differences.join('; ')}`)
        return differences
      }),

    differences: async (): Promise<readonly string[]> => differencesOf(db, await check(db)),

    health: async (): Promise<{ status: HealthStatus; description: string }> => {
      const checked = await checkShared()
      const { state, forged } = checked
      const named = (summary: string, differences: readonly string[]): string =>
        `${summary} ${differences.slice(0, 3).join('; ')}`.slice(0, 500)
      if (state === 'broken')
        return {
          status: 'Error',
          description: named(
            'The stored rules are not those that the server sealed. No policies are signed.',
            await differencesOf(db, checked),
          ),
        }
      return forged.length > 0
        ? {
            status: 'Warning',
            description: named('Rules were written in the database and have no effect.', allDifferences(checked, [])),
          }
        : { status: 'OK', description: state === 'whole' ? 'The rules are as sealed.' : 'Not sealed yet.' }
    },
  }
}

export type RuleIntegrity = ReturnType<typeof createRuleIntegrity>
