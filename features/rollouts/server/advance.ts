import { compareVersions, mustExist, revertMinutesOf, windowsRefusals } from '@portcullis/domain'
import type { Db, Tx } from '@portcullis/platform/server/db/db.ts'
import { systemActor } from '@portcullis/platform/server/http/actor.ts'
import type { PublishedBuild } from '#features/builds/server/index.ts'
import { armOrder, type CommandSpec } from '#features/commands/server/index.ts'
import type { Prediction } from '#features/contract.ts'
import type { Predict, PredictedHost } from '#features/policy/server/index.ts'
import type { RolloutsContext } from './context.ts'
import { createHostsStore, type UpdateFacts } from './rollout-hosts.store.ts'
import {
  activeStates,
  apply,
  type Decision,
  decide,
  type Limits,
  mayCommand,
  type Position,
} from './rollout-machine.ts'
import { createRolloutsStore, type RolloutRow } from './rollouts.store.ts'

/** Number of hosts commanded per transaction: signing takes about 0.1 s. */
const hostsAtOnce = 2_000
/** Number of hosts that update concurrently: each downloads 109 MB, and a replica serves 64 at once. */
const updatesAtOnce = 200
/** Number of transactions per run for one rollout; the next run continues. */
const stepsAtOnce = 30

export const positionOf = (row: RolloutRow): Position => ({
  kind: row.kind,
  state: row.state === 'planned' ? 'running' : row.state,
  ring: row.ring,
  rings: row.settings.rings.length,
  dwellUntil: row.rings[row.ring]?.dwellUntil ?? null,
})

const limitsOf = ({ settings }: RolloutRow): Limits => ({
  dwellMs: settings.dwellMinutes * 60_000,
  catchUpMs: settings.catchUpHours * 3_600_000,
  failurePercent: settings.failurePercent,
  blocksOverPercent: settings.blocksOverPercent,
})

/** A host can report any text as its architecture, even the name of an inherited property. */
const buildFor = ({ builds }: RolloutRow, architecture: string): PublishedBuild | undefined =>
  Object.hasOwn(builds, architecture) ? builds[architecture] : undefined

/** Returns the hosts that an update can skip; null for arming. */
const updateFacts = async (tx: Tx | Db, row: RolloutRow): Promise<UpdateFacts | null> => {
  if (row.kind === 'arm') return null
  const versions = await createHostsStore(tx).versions(row.rollout_id)
  return {
    architectures: Object.keys(row.builds),
    unchanged: versions
      .filter(({ architecture, version }) => {
        const build = buildFor(row, architecture)
        return build !== undefined && compareVersions(version, build.version) >= 0
      })
      .map(({ architecture, version }) => `${architecture} ${version}`),
  }
}

const commandOf = (
  row: RolloutRow,
  revertMinutes: number,
  agentId: string,
  architecture: string,
): CommandSpec | null => {
  const common = { agentId, jobId: row.rollout_id }
  if (row.kind === 'arm') return { ...common, ...armOrder(row.settings.applyToPresent, revertMinutes) }
  const build = buildFor(row, architecture)
  return build === undefined ? null : { ...common, kind: 'update', title: `Update to ${build.version}`, body: build }
}

/**
 * Predicts what arming blocks on the hosts of a rollout, or on some of them, and stores it with each host. Attachments are
 * counted only if `isTimed`.
 */
export const predictArming = async (
  tx: Tx,
  predict: Predict,
  { rollout_id: id, settings }: RolloutRow,
  agentIds: readonly string[] | null,
  isTimed = false,
): Promise<{ stated: Prediction; hosts: readonly PredictedHost[] }> => {
  const store = createHostsStore(tx)
  const change = { mode: 'Armed', applyToPresent: settings.applyToPresent } as const
  const { stated, hosts } = await predict(tx, change, {
    hosts: store.toArm(id, agentIds),
    isEachHost: true,
    isTimed,
  })
  await store.notePredicted(id, hosts)
  return { stated, hosts }
}

const actor = systemActor('rollout')

/** Returns the text of a setting of an arming rollout for the audit trail. */
const revertSetting = ({ kind, state, settings: { revertMinutes } }: RolloutRow): string => {
  if (kind !== 'arm' || state !== 'running') return ''
  const choice =
    revertMinutes === undefined ? 'automatic' : revertMinutes === 0 ? 'never' : `after ${revertMinutes} minutes`
  return `Free again without contact: ${choice}`
}

/** Advances rollouts: commands the hosts of a ring, watches it, starts the next one, halts, cancels commands. */
export const createAdvance = (context: RolloutsContext) => {
  const { db, clock, log, commands, builds, policy, audit, events, announce, windows } = context

  /** Announces and records a new state; call it last in a transaction. */
  async function announceState(tx: Tx, row: RolloutRow, by: Parameters<typeof audit.write>[1]): Promise<void> {
    const title = `${row.kind === 'arm' ? 'Arming' : 'Update'} ${row.name}`
    await announce(tx, {})
    await events.append(tx, [
      {
        kind: row.state === 'halted' ? 'rolloutHalted' : 'rollout',
        agentId: null,
        entity: 'Rollouts',
        hashtags: '',
        details: `${title}: ${row.state}${row.reason === '' ? '' : `. ${row.reason}`}`,
      },
    ])
    await audit.write(tx, by, {
      action: `rollout.${row.state}`,
      entity: title,
      details: row.reason === '' ? revertSetting(row) : row.reason,
    })
  }

  /** Selects the hosts of a ring; returns how many. */
  async function startRing(tx: Tx, row: RolloutRow, ring: number): Promise<number> {
    const settings = mustExist(row.settings.rings[ring], 'the ring')
    const fixed = await createHostsStore(tx).fix(row.rollout_id, ring, settings)
    row.rings[ring] = { startedAt: clock.now(), dwellUntil: null, accepted: { failed: 0, over: 0 } }
    return fixed
  }

  /** Evaluates the hosts that were not commanded. Windows hosts of earlier rings are armed first, up to the limit. */
  async function evaluate(tx: Tx, row: RolloutRow): Promise<void> {
    const hosts = createHostsStore(tx)
    const id = row.rollout_id
    const refused = row.kind === 'arm' ? await windows.refused(tx, hosts.undecided(id), hosts.inTurn(id)) : []
    const reasons = new Map([...refused].map(([agentId, code]) => [agentId, windowsRefusals[code]]))
    await hosts.evaluate(row, await updateFacts(tx, row), reasons)
  }

  /** Updates the states of the hosts. For 36,000 commanded hosts this takes a second, so it runs once per run. */
  async function refresh(tx: Tx, row: RolloutRow): Promise<void> {
    const hosts = createHostsStore(tx)
    await hosts.noteOutcomes(row)
    if (row.kind === 'arm') await hosts.watchArmed(row)
    await evaluate(tx, row)
  }

  async function carryOut(tx: Tx, row: RolloutRow, decision: Decision): Promise<void> {
    const after = apply(positionOf(row), decision)
    if (decision.do === 'startRing') {
      await createHostsStore(tx).analyze(await startRing(tx, row, decision.ring))
      await evaluate(tx, row)
    }
    const mark = row.rings[after.ring]
    if (mark !== undefined) mark.dwellUntil = after.dwellUntil
    row.ring = after.ring
    row.state = after.state
    row.reason = decision.do === 'halt' ? decision.reason : ''
    row.ended_at = activeStates.includes(after.state) ? null : new Date(clock.now())
    await createRolloutsStore(tx).save(row)
  }

  /** Commands the next hosts; returns how many. `queue` locks the agents before the hosts' rows are written. */
  async function commandSome(tx: Tx, row: RolloutRow, pending: number): Promise<number> {
    if (!mayCommand(positionOf(row), row.ring)) return 0
    const hosts = createHostsStore(tx)
    const limit = row.kind === 'arm' ? hostsAtOnce : updatesAtOnce - pending
    const next = await hosts.next(row.rollout_id, row.ring, Math.max(limit, 0))
    const revertMinutes =
      row.kind === 'arm'
        ? revertMinutesOf(row.settings.revertMinutes, await hosts.armedWith(row.rollout_id, row.ring))
        : 0
    const specs = next
      .map(({ agent_id, architecture }) => commandOf(row, revertMinutes, agent_id, architecture))
      .filter((spec) => spec !== null)
    if (specs.length === 0) return 0
    // Read before the commands are created, so that their effects are never older.
    const now = clock.now()
    const { queued, missing, refused } = await commands.queue(tx, { userName: row.created_by }, specs)
    if (row.kind === 'arm') await predictArming(tx, policy.predict, row, queued)
    await hosts.commanded(row.rollout_id, queued, new Date(now))
    await hosts.skip(row.rollout_id, missing)
    if (refused.size > 0) await hosts.refuse(row.rollout_id, refused)
    return specs.length
  }

  /** Halts for a build that must no longer be sent. Runs outside the transaction, which has only one connection. */
  async function refused(id: string): Promise<Decision | null> {
    const row = await createRolloutsStore(db).one(id)
    for (const build of Object.values(row?.builds ?? {})) {
      const reason = await builds.refusalOf(build)
      if (reason !== null) return { do: 'halt', reason }
    }
    return null
  }

  /**
   * Runs one transaction for a running rollout. `pending` is the number of commanded hosts after the previous step;
   * null: update all states and decide again. Returns the same number for the next step, or `done` if nothing more can
   * be done now.
   */
  async function step(id: string, pending: number | null, isFirst: boolean): Promise<number | null | 'done'> {
    const stop = pending === null ? await refused(id) : null
    return db.transaction(async (tx) => {
      const row = await createRolloutsStore(tx).lockFree(id)
      if (row === undefined || (row.state !== 'running' && row.state !== 'paused')) return 'done'
      let known = pending
      if (known === null) {
        if (isFirst) await refresh(tx, row)
        const tallies = await createHostsStore(tx).tallies(row)
        const decision = stop ?? decide(positionOf(row), tallies, limitsOf(row), clock.now())
        if (decision.do !== 'nothing') {
          await carryOut(tx, row, decision)
          if (decision.do === 'halt' || decision.do === 'complete') await announceState(tx, row, actor)
          else await announce(tx, {})
          return null
        }
        known = tallies.reduce((sum, tally) => sum + tally.pending, 0)
      }
      const commanded = await commandSome(tx, row, known)
      return commanded > 0 ? known + commanded : 'done'
    })
  }

  async function stepOn(id: string): Promise<void> {
    let pending: number | null | 'done' = null
    for (let i = 0; i < stepsAtOnce && pending !== 'done'; i++) pending = await step(id, pending, i === 0)
  }

  /** Cancels commands that are still active after a halt or an end, even after a crash in between. */
  async function cancelActive(id: string, isFinal: boolean): Promise<void> {
    await db.transaction((tx) => createHostsStore(tx).noteOutcomes({ rollout_id: id }))
    await commands.cancelJob(id, isFinal ? 'The rollout ended.' : 'The rollout was halted.')
    await db.transaction(async (tx) => {
      // A resume in the meantime has sent new commands.
      const row = await createRolloutsStore(tx).lock(id)
      if (row?.state === 'running' || row?.state === 'paused') return
      await createHostsStore(tx).cancelActive(id, isFinal)
    })
  }

  /** Frees the hosts that a reverted rollout armed. Returns whether more can be freed now. */
  const freeSome = (id: string, isFirst: boolean): Promise<boolean> =>
    db.transaction(async (tx) => {
      const row = await createRolloutsStore(tx).lockFree(id)
      if (row === undefined) return false
      const hosts = createHostsStore(tx)
      if (isFirst) await hosts.noteOutcomes(row)
      const next = await hosts.nextToFree(id, hostsAtOnce)
      if (next.length === 0) return false
      const now = new Date(clock.now())
      const { queued, missing } = await commands.queue(
        tx,
        { userName: row.created_by },
        next.map(({ agent_id: agentId }) => ({
          agentId,
          jobId: id,
          kind: 'configure' as const,
          title: 'Free',
          body: { mode: 'Free' as const, applyToPresent: false },
        })),
      )
      await hosts.freeing(id, queued, now)
      await hosts.skip(id, missing)
      return true
    })

  async function advanceOne(id: string, state: string): Promise<void> {
    if (state === 'halted' || state === 'completed' || state === 'cancelled')
      return cancelActive(id, state !== 'halted')
    if (state !== 'reverted') return stepOn(id)
    for (let i = 0; i < stepsAtOnce; i++) if (!(await freeSome(id, i === 0))) return
  }

  async function run(): Promise<void> {
    // A halt in the first round leaves commands that the second round cancels.
    for (let round = 0; round < 2; round++)
      for (const { rollout_id, state } of await createRolloutsStore(db).due())
        await advanceOne(rollout_id, state).catch((error: unknown) =>
          log.warn({ err: error, rollout: rollout_id }, 'cannot advance a rollout; the next run tries again'),
        )
  }

  let running: Promise<void> | null = null
  let next: Promise<void> | null = null
  /**
   * Advances every rollout as far as possible; runs every few seconds. Sees everything that was committed before the
   * call.
   */
  function advance(): Promise<void> {
    if (running === null) {
      running = run()
        .catch((error: unknown) => log.warn({ err: error }, 'cannot advance the rollouts; the next run tries again'))
        .finally(() => {
          running = null
        })
      return running
    }
    next ??= running.then(() => {
      next = null
      return advance()
    })
    return next
  }

  return { announceState, startRing, evaluate, advance }
}
