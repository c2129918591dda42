import { isUnavailable } from '@portcullis/platform/server/db/db.ts'
import { newId } from '@portcullis/platform/server/ids.ts'
import { type HealthStatus, healthHistoryDays, type SubsystemName, subsystemNames } from '#features/contract.ts'
import type { HealthContext } from './context.ts'
import { createHealthStore, type NewChange, type StateRow } from './health.store.ts'
import type { ProbedSubsystem } from './probe-results.ts'
import { createStatusChanges } from './status-changes.ts'

/** Each run, every 15 s, renews the lead. If the leader is gone, another replica leads after at most 40 + 15 s. */
const leaseMs = 40_000
/** Maximum changes that wait for the database. An outage of days makes a few for each subsystem. */
const maxWaiting = 500

const isBad = (status: HealthStatus): boolean => status === 'Warning' || status === 'Error'

/** Returns the event of a change. Null if both statuses are good. */
const eventOf = ({ subsystem, status, previous, at, description }: NewChange, now: number) => {
  if (!isBad(status) && !isBad(previous)) return null
  // The database may have been unavailable until now.
  const late = now - at.getTime() > 90_000 ? ` Since ${at.toISOString()}.` : ''
  return {
    kind: isBad(status) ? ('degraded' as const) : ('recovered' as const),
    agentId: null,
    entity: subsystem,
    hashtags: '',
    details: `${description}${late}`,
    severity: status === 'Error' ? 3 : status === 'Warning' ? 4 : 5,
  }
}

/**
 * Probes all subsystems and records changes, on one replica at a time. While the database is unavailable, every replica
 * probes, because none knows who leads. The one that takes the lead afterwards records what it observed.
 */
export const createHealthWatch = (
  { db, clock, log, events, announce }: HealthContext,
  /** Probes every configured subsystem now. */
  probe: () => Promise<ProbedSubsystem[]>,
) => {
  const store = createHealthStore()
  const holder = newId(clock.now())
  const trackers = new Map<SubsystemName, ReturnType<typeof createStatusChanges>>()
  /** Recorded statuses, including changes that wait for the database. */
  let states = new Map<SubsystemName, Pick<StateRow, 'status' | 'since' | 'description'>>()
  let waiting: NewChange[] = []
  let isRunning = false

  const statusOf = (name: SubsystemName): HealthStatus => states.get(name)?.status ?? 'Unknown'

  /** Returns the changes. Probes that failed only because the database is unavailable do not count. */
  function changesIn(probed: readonly ProbedSubsystem[]): NewChange[] {
    const isUnreachable = probed.some(({ item, threw }) => item.name === 'database' && threw)
    return probed.flatMap(({ item, threw, at }) => {
      if (isUnreachable && threw && item.name !== 'database') return []
      const changeOf = trackers.get(item.name) ?? createStatusChanges()
      trackers.set(item.name, changeOf)
      const previous = statusOf(item.name)
      const change = changeOf(previous, { status: item.status, description: item.description, at })
      return change === null
        ? []
        : [
            {
              subsystem: item.name,
              status: change.status,
              previous,
              at: new Date(change.at),
              description: change.description,
            },
          ]
    })
  }

  function note(changes: readonly NewChange[]): void {
    for (const { subsystem, status, at, description } of changes)
      states.set(subsystem, { status, since: at, description })
  }

  async function read(): Promise<void> {
    const rows = await store.states(db)
    states = new Map(
      rows.filter(({ subsystem }) => subsystemNames.includes(subsystem)).map((row) => [row.subsystem, row]),
    )
  }

  /** Records waiting changes, and the status of new subsystems. Returns false if another replica leads. */
  const write = (probed: readonly ProbedSubsystem[]): Promise<boolean> =>
    db.transaction(async (tx) => {
      if (!(await store.isLeading(tx, holder))) return false
      const now = clock.now()
      const known = new Map((await store.states(tx)).map((row) => [row.subsystem, row]))
      const changes = waiting.filter(({ subsystem, status, at }) => {
        const row = known.get(subsystem)
        return row === undefined || (row.status !== status && row.since.getTime() <= at.getTime())
      })
      for (const change of changes) await store.write(tx, change, new Date(now), true)
      const first = probed.filter(
        ({ item }) => !known.has(item.name) && !isBad(item.status) && !changes.some((c) => c.subsystem === item.name),
      )
      for (const { item, at } of first)
        await store.write(
          tx,
          {
            subsystem: item.name,
            status: item.status,
            previous: 'Unknown',
            at: new Date(at),
            description: item.description,
          },
          new Date(now),
          false,
        )
      if (changes.length + first.length === 0) return true
      await announce(tx, {})
      await events.append(
        tx,
        changes.flatMap((change) => eventOf(change, now) ?? []),
      )
      return true
    })

  async function run(): Promise<void> {
    const now = clock.now()
    const isLeading = await store.lead(db, holder, new Date(now), new Date(now + leaseMs)).catch((error: unknown) => {
      if (!isUnavailable(error)) throw error
      return null
    })
    if (isLeading === false) {
      trackers.clear()
      waiting = []
      return read()
    }
    if (isLeading && waiting.length === 0) await read()
    const probed = await probe()
    const changes = changesIn(probed)
    note(changes)
    waiting = [...waiting, ...changes].slice(-maxWaiting)
    if (isLeading === null) return
    try {
      await write(probed)
    } catch (error) {
      // Changes stay in memory, and the next run records them.
      if (!isUnavailable(error)) waiting = []
      throw error
    }
    waiting = []
    await read()
  }

  return {
    /** Probes once. Runs every 15 s. */
    run: async (): Promise<void> => {
      if (isRunning) return
      isRunning = true
      try {
        await run()
      } finally {
        isRunning = false
      }
    },

    /** Returns the time since which a subsystem has this status, or null if another status is recorded. */
    sinceOf: (name: SubsystemName, status: HealthStatus): Date | null => {
      const state = states.get(name)
      return state?.status === status ? state.since : null
    },

    /** Reads the recorded statuses, for a replica that never probed. */
    read: async (): Promise<void> => {
      await read().catch((error: unknown) =>
        log.debug({ err: error }, 'could not read health states; the next run retries'),
      )
    },

    forget: (): Promise<number> => store.forget(db, new Date(clock.now() - healthHistoryDays * 86_400_000)),

    /** Gives up the lead, so that the next replica need not wait for the lease to expire. */
    close: async (): Promise<void> => {
      await store.resign(db, holder).catch(() => {})
    },
  }
}
