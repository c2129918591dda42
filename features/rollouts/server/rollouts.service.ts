import { isOddText, mustExist } from '@portcullis/domain'
import { AppError, invalid, notFound } from '@portcullis/platform/server/app-error.ts'
import { isPgError, type Tx } from '@portcullis/platform/server/db/db.ts'
import type { Actor } from '@portcullis/platform/server/http/actor.ts'
import { isId, newId } from '@portcullis/platform/server/ids.ts'
import { hostsText } from '#features/agents/server/index.ts'
import type { PublishedBuild } from '#features/builds/server/index.ts'
import { memberLines } from '#features/change-requests/server/index.ts'
import {
  type BodyOf,
  type listRolloutHosts,
  packageArchitectures,
  profiles,
  type QueryOf,
  type ResponseOf,
  type Rollout,
  type RolloutPlan,
  type RolloutState,
  type startRollout,
} from '#features/contract.ts'
import { createAdvance, positionOf, predictArming } from './advance.ts'
import type { RolloutsContext } from './context.ts'
import { createHostsStore } from './rollout-hosts.store.ts'
import { activeStates, type Control, control } from './rollout-machine.ts'
import { createRolloutsRead } from './rollouts.read.ts'
import { createRolloutsStore, type RolloutRow, type RolloutSettings } from './rollouts.store.ts'
import { planView, rolloutView } from './view.ts'

const shownRollouts = 100
const shownHosts = 200

/** A revert that waits for a second approver: it frees the hosts that the rollout armed. */
interface Revert {
  rolloutId: string
  name: string
  /** The requester's reason; absent if none was given. */
  reason?: string
  /** Number of these hosts at the time of the request. */
  hosts: number
}

interface UpdateChange {
  name: string
  settings: RolloutSettings
  /** Exactly these builds are installed. */
  builds: Record<string, PublishedBuild>
  /** Number of hosts of each ring at the time of the request; absent in requests of older servers. */
  planned?: readonly number[]
}

interface RevertChange {
  rollout: Revert
}

/** Labels of what an approver reads. */
const settingLabels = {
  kind: 'Kind',
  name: 'Name',
  dwellMinutes: 'Minutes between rings',
  failurePercent: 'Halts above this percentage of failed hosts',
  blocksOverPercent: 'Halts above this percentage of hosts with more blocks than predicted',
  catchUpHours: 'Hours in which offline hosts can still take part',
  applyToPresent: 'Also apply to attached devices',
  revertMinutes: 'Minutes until a host without contact returns to Free',
}
const buildLabels = {
  size: 'size in bytes',
  releaseKey: 'release key',
  releaseSignature: 'release signature',
  rotations: 'rotations of the release key',
  architecture: 'architecture',
}

type Input = BodyOf<typeof startRollout>

/** Rolls back the transaction of a plan and carries its result. */
class Planned extends Error {
  readonly plan: RolloutPlan
  constructor(plan: RolloutPlan) {
    super('planned')
    this.plan = plan
  }
}

const settingsOf = (input: Input): RolloutSettings => ({
  kind: input.kind,
  name: input.name,
  rings: input.rings,
  dwellMinutes: input.dwellMinutes ?? 60,
  failurePercent: input.failurePercent ?? 5,
  blocksOverPercent: input.blocksOverPercent ?? 5,
  catchUpHours: input.catchUpHours ?? 168,
  applyToPresent: input.applyToPresent ?? false,
  ...(input.revertMinutes === undefined ? {} : { revertMinutes: input.revertMinutes }),
})

export const createRolloutsService = (context: RolloutsContext) => {
  const { db, exportDb, clock, builds, changeRequests } = context
  const read = createRolloutsRead(db)
  const { advance, announceState, startRing, evaluate } = createAdvance(context)

  /** Refuses characters that reorder or hide text, because names appear in audit records and in approval requests. */
  function assertName(name: string, field: string): void {
    if (isOddText(name)) throw invalid(field, 'contains control or invisible characters')
  }

  async function assertRings(input: Input): Promise<void> {
    assertName(input.name, 'body.name')
    for (const [i, ring] of input.rings.entries()) {
      const field = `body.rings[${i}]`
      assertName(ring.name, `${field}.name`)
      if ((ring.tags === undefined) === (ring.sharePercent === undefined))
        throw invalid(field, 'must have either tags or sharePercent')
      const unknown = await read.unknownTags(ring.tags ?? [])
      if (unknown.length > 0) throw invalid(`${field}.tags`, `contains tags that do not exist: ${unknown.join(', ')}`)
    }
  }

  async function buildsFor(input: Input): Promise<Record<string, PublishedBuild>> {
    if (input.kind === 'arm') return {}
    const found = await Promise.all(packageArchitectures.map((name) => builds.latestPackage(name)))
    const published = found.filter((build) => build !== null)
    if (published.length === 0) throw new AppError('conflict', { detail: 'No agent package is published.' })
    return Object.fromEntries(published.map((build) => [build.architecture, build]))
  }

  async function rowOf(actor: Actor, input: Input, state: RolloutRow['state']): Promise<RolloutRow> {
    await assertRings(input)
    return {
      rollout_id: newId(clock.now()),
      kind: input.kind,
      name: input.name,
      state,
      reason: '',
      settings: settingsOf(input),
      builds: await buildsFor(input),
      ring: -1,
      rings: [],
      created_at: new Date(clock.now()),
      created_by: actor.userName,
      ended_at: null,
    }
  }

  async function views(rows: readonly RolloutRow[]): Promise<Rollout[]> {
    const counts = await read.counts(rows.map((row) => row.rollout_id))
    return rows.map((row) => rolloutView(row, counts))
  }

  async function one(id: string): Promise<Rollout> {
    const row = isId(id) ? await createRolloutsStore(db).one(id) : undefined
    const [view] = row === undefined ? [] : await views([row])
    if (view === undefined) throw notFound('This rollout does not exist.')
    return view
  }

  /** Selects the hosts of all rings and evaluates them, as a rollout would. */
  async function fixAll(tx: Tx, row: RolloutRow): Promise<void> {
    const hosts = createHostsStore(tx)
    await hosts.joinByHash()
    for (let ring = 0; ring < row.settings.rings.length; ring++) await startRing(tx, row, ring)
    await evaluate(tx, row)
  }

  /** Accepts the failures so far, to continue after a halt or a pause. */
  async function acceptSoFar(tx: Tx, row: RolloutRow): Promise<void> {
    const tallies = await createHostsStore(tx).tallies(row)
    for (const [i, { failed, over }] of tallies.entries()) {
      const mark = row.rings[i]
      if (mark !== undefined) mark.accepted = { failed, over }
    }
  }

  /** Returns the state after an order. Throws a conflict if the order is not possible now. */
  function after(row: RolloutRow, order: Control): RolloutState {
    const state = control(positionOf(row), order)
    if (state !== null) return state
    throw new AppError('conflict', {
      detail:
        order === 'revert' && row.kind === 'update'
          ? 'An update cannot be reverted. If the new build fails, the host automatically returns to the previous one.'
          : `The rollout is ${row.state}. The action ${order} is not possible in this state.`,
    })
  }

  async function carryOut(tx: Tx, actor: Actor, row: RolloutRow, order: Control, why = ''): Promise<void> {
    const state = after(row, order)
    if (order === 'resume') await acceptSoFar(tx, row)
    row.state = state
    row.reason = order === 'resume' ? '' : `By ${actor.userName}${why === '' ? '.' : `: ${why}`}`.slice(0, 500)
    row.ended_at = activeStates.includes(state) ? null : new Date(clock.now())
    await createRolloutsStore(tx).save(row)
    if (order === 'revert') await createHostsStore(tx).markReverting(row.rollout_id)
    await announceState(tx, row, actor)
  }

  /**
   * Frees many hosts only with a second approver, however they were armed. A running rollout can arm more hosts in the
   * meantime, so each host is counted before the transaction that frees it.
   */
  async function revertAlone(actor: Actor, id: string, reason: string): Promise<void> {
    let counted = 0
    for (;;) {
      const pending = await db.transaction(async (tx) => {
        const row = mustExist(await createRolloutsStore(tx).lock(id), 'the rollout')
        after(row, 'revert')
        const hosts = await createHostsStore(tx).armedByIt(id)
        if (hosts > counted) return { name: row.name, hosts }
        await carryOut(tx, actor, row, 'revert', reason)
        return null
      })
      if (pending === null) return
      await changeRequests.assertAlone<RevertChange>(
        actor,
        { kind: 'release', hosts: pending.hosts - counted },
        () => ({
          kind: 'revert',
          change: { rollout: { rolloutId: id, ...pending, ...(reason === '' ? {} : { reason }) } },
        }),
      )
      counted = pending.hosts
    }
  }

  /** Reverts an approved rollout in the transaction of the approval; the next run commands its hosts. */
  async function revert(tx: Tx, actor: Actor, { rolloutId, hosts, reason }: Revert): Promise<void> {
    const row = await createRolloutsStore(tx).lock(rolloutId)
    if (row === undefined) throw new AppError('conflict', { detail: 'The rollout no longer exists.' })
    const now = await createHostsStore(tx).armedByIt(rolloutId)
    if (now > hosts)
      throw new AppError('conflict', {
        detail: `The rollout has armed ${now} hosts by now, but the request is for ${hosts}. Halt the rollout and request the revert again.`,
      })
    await carryOut(tx, actor, row, 'revert', reason)
  }

  changeRequests.handle<RevertChange>('revert', {
    action: 'free',
    title: ({ rollout }) => `Free ${hostsText(rollout.hosts)}: revert rollout ${rollout.name}`,
    details: (_tx, { rollout: { rolloutId, name, reason } }) => [
      ...(reason === undefined ? [] : [`Reason: ${reason}`]),
      `Rollout ${name} (${rolloutId})`,
    ],
    hosts: ({ rollout }) => rollout.hosts,
    approver: profiles.manager,
    carryOut: async (tx, actor, { rollout }) => {
      await revert(tx, actor, rollout)
      return () => void advance()
    },
  })

  /** Inserts a rollout, which the next run starts. */
  async function insert(tx: Tx, actor: Actor, row: RolloutRow): Promise<void> {
    await createRolloutsStore(tx).insert(row)
    await announceState(tx, row, actor)
  }

  /** Runs `work`, and names the rollout of this kind that is already active. */
  async function begin({ kind }: RolloutRow, work: () => Promise<void>): Promise<void> {
    try {
      await work()
    } catch (error) {
      if (!isPgError(error, '23505', 'rollouts_active')) throw error
      const active = await createRolloutsStore(db).activeOf(kind)
      throw new AppError('conflict', {
        detail: `Rollout ${active?.name ?? ''} of this kind is ${active?.state ?? 'active'}. Only one of each kind can run at a time.`,
      })
    }
  }

  /** Runs the start of a rollout and rolls it back, so that the plan matches a real start. */
  async function planOf(row: RolloutRow): Promise<RolloutPlan> {
    try {
      await exportDb.transaction(async (tx) => {
        await createRolloutsStore(tx).insert(row)
        await fixAll(tx, row)
        const within = createRolloutsRead(tx)
        const predicted = row.kind === 'arm' ? await predictArming(tx, context.policy.predict, row, null, true) : null
        const sums = await within.plan(row.rollout_id)
        const hosts = await within.notable(row.rollout_id, shownHosts)
        const mismatches = await within.mismatches(row.rollout_id, predicted?.hosts ?? [])
        const plan = planView(row, sums, mismatches, await within.candidates(), hosts)
        throw new Planned({ ...plan, prediction: predicted?.stated ?? null })
      })
    } catch (error) {
      if (error instanceof Planned) return error.plan
      throw error
    }
    throw new Error('the transaction of a plan must roll back')
  }

  const titleOf = ({ name, builds }: UpdateChange): string =>
    `Update agents to ${Object.values(builds)
      .map(({ version, architecture }) => `${version} for ${architecture}`)
      .join(', ')} in rings: ${name}`

  const detailsOf = ({ builds, settings: { rings, ...settings }, planned = [] }: UpdateChange): string[] => [
    ...Object.entries(builds).flatMap(([architecture, { version, sha256, ...build }]) => [
      `${version} for ${architecture}: SHA-256 ${sha256}`,
      ...memberLines(build, buildLabels).map((line) => `${version} for ${architecture}, ${line}`),
    ]),
    ...rings.map(({ name, tags, sharePercent }, i) => {
      const scope = tags === undefined ? `${sharePercent ?? 100} % of the hosts` : `hosts with tag ${tags.join(', ')}`
      return `Ring ${name}: ${scope}${planned[i] === undefined ? '' : `, ${hostsText(planned[i])} when requested`}`
    }),
    'Hosts that enrol later are included.',
    ...memberLines(settings, settingLabels),
  ]

  changeRequests.handle<UpdateChange>('rollout-update', {
    action: 'update',
    title: titleOf,
    details: (_tx, change) => detailsOf(change),
    hosts: ({ planned = [] }) => planned.reduce((total, hosts) => total + hosts, 0),
    carryOut: async (tx, actor, { name, settings, builds }) => {
      const now = clock.now()
      const begun = { rollout_id: newId(now), kind: 'update', name, state: 'running', reason: '' } as const
      const times = { created_at: new Date(now), created_by: actor.userName, ended_at: null }
      const row: RolloutRow = { ...begun, settings, builds, ring: -1, rings: [], ...times }
      await begin(row, () => insert(tx, actor, row))
      return () => void advance()
    },
  })

  return {
    advance,
    one,
    list: async (): Promise<{ data: Rollout[] }> => ({
      data: await views(await createRolloutsStore(db).newest(shownRollouts)),
    }),

    hosts: async (
      id: string,
      query: QueryOf<typeof listRolloutHosts>,
    ): Promise<ResponseOf<typeof listRolloutHosts>> => {
      await one(id)
      const limit = query.PageSize ?? 50
      const { total, filtered, data } = await read.hosts(
        id,
        { ring: query.ring, state: query.state },
        { limit, offset: ((query.PageNumber ?? 1) - 1) * limit },
      )
      return { recordsTotal: total, recordsFiltered: filtered, data }
    },

    plan: async (actor: Actor, input: Input): Promise<RolloutPlan> => planOf(await rowOf(actor, input, 'planned')),

    start: async (actor: Actor, input: Input): Promise<Rollout> => {
      const row = await rowOf(actor, input, 'running')
      if (row.kind === 'update')
        await changeRequests.assertAlone<UpdateChange>(actor, { kind: 'program' }, async () => {
          const { rings } = await planOf({ ...row, state: 'planned' })
          const planned = rings.map(({ ready, offline }) => ready + offline)
          return {
            kind: 'rollout-update',
            change: { name: row.name, settings: row.settings, builds: row.builds, planned },
            detail: 'Updating agents needs a second approver. Ask another Administrator to approve request {id}.',
          }
        })
      await begin(row, () => db.transaction((tx) => insert(tx, actor, row)))
      // Not awaited, because a ring of 4,000 hosts takes seconds.
      void advance()
      return one(row.rollout_id)
    },

    control: async (actor: Actor, id: string, order: Control, reason = ''): Promise<Rollout> => {
      await one(id)
      if (order === 'revert') await revertAlone(actor, id, reason)
      else
        await db.transaction(async (tx) =>
          carryOut(tx, actor, mustExist(await createRolloutsStore(tx).lock(id), 'the rollout'), order),
        )
      void advance()
      return one(id)
    },
  }
}
