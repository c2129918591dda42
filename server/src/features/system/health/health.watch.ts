import { type HealthStatus, healthHistoryDays, type SubsystemName, subsystemNames } from '@portcullis/contract'
import type { EventsApi } from '#features/system/events/index.ts'
import type { Clock } from '#platform/clock.ts'
import { type Db, isUnavailable } from '#platform/db/db.ts'
import { newId } from '#platform/ids.ts'
import type { Announce } from '#platform/live.ts'
import type { Log } from '#platform/log.ts'
import { createJudge } from './health.judge.ts'
import type { Looked } from './health.probe-results.ts'
import { createHealthStore, type NewChange, type StateRow } from './health.store.ts'

/** The lead is kept by each look, every 15 s; with one who is gone, another leads after at most 40 + 15 s. */
const leaseMs = 40_000
/** Changes that wait for the database; an outage of days makes a few of each part. */
const mostWaiting = 500

export interface HealthWatchDeps {
  db: Db
  clock: Clock
  log: Log
  events: Pick<EventsApi, 'append'>
  /** Looks at every part that can be looked at, now. */
  look(): Promise<Looked[]>
  announce: Announce
}

const isBad = (status: HealthStatus): boolean => status === 'Warning' || status === 'Error'

/** What people and outputs hear of a change; null: parts that come into use, or go out of it, in order. */
const eventOf = ({ subsystem, status, previous, at, description }: NewChange, now: number) => {
  if (!isBad(status) && !isBad(previous)) return null
  // The database may have been what was away.
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
 * Looks at all parts and writes down what changed, by one replica at a time. While the database is away every replica
 * looks, because nobody knows who leads; whoever takes the lead afterwards writes what it saw meanwhile.
 */
export const createHealthWatch = ({ db, clock, log, events, look, announce }: HealthWatchDeps) => {
  const store = createHealthStore()
  const holder = newId(clock.now())
  const judges = new Map<SubsystemName, ReturnType<typeof createJudge>>()
  /** As written down, and with what waits to be. */
  let states = new Map<SubsystemName, Pick<StateRow, 'status' | 'since' | 'description'>>()
  let waiting: NewChange[] = []
  let isRunning = false

  const statusOf = (name: SubsystemName): HealthStatus => states.get(name)?.status ?? 'Unknown'

  /** What the looks changed. Parts that could not be asked because the database is away are no news of theirs. */
  function judge(looked: readonly Looked[]): NewChange[] {
    const isAway = looked.some(({ item, threw }) => item.name === 'database' && threw)
    return looked.flatMap(({ item, threw, at }) => {
      if (isAway && threw && item.name !== 'database') return []
      const judgeOf = judges.get(item.name) ?? createJudge()
      judges.set(item.name, judgeOf)
      const previous = statusOf(item.name)
      const turn = judgeOf(previous, { status: item.status, description: item.description, at })
      return turn === null
        ? []
        : [
            {
              subsystem: item.name,
              status: turn.status,
              previous,
              at: new Date(turn.at),
              description: turn.description,
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

  /** Writes what waits and, for parts that nothing is known of, how they are. False: somebody else leads. */
  const write = (looked: readonly Looked[]): Promise<boolean> =>
    db.transaction(async (tx) => {
      if (!(await store.isLeading(tx, holder))) return false
      const now = clock.now()
      const known = new Map((await store.states(tx)).map((row) => [row.subsystem, row]))
      const changes = waiting.filter(({ subsystem, status, at }) => {
        const row = known.get(subsystem)
        return row === undefined || (row.status !== status && row.since.getTime() <= at.getTime())
      })
      for (const change of changes) await store.write(tx, change, new Date(now), true)
      const first = looked.filter(
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
      judges.clear()
      waiting = []
      return read()
    }
    if (isLeading && waiting.length === 0) await read()
    const looked = await look()
    const changes = judge(looked)
    note(changes)
    waiting = [...waiting, ...changes].slice(-mostWaiting)
    if (isLeading === null) return
    try {
      await write(looked)
    } catch (error) {
      // Kept, and written with the next look.
      if (!isUnavailable(error)) waiting = []
      throw error
    }
    waiting = []
    await read()
  }

  return {
    /** One look; every 15 s. */
    run: async (): Promise<void> => {
      if (isRunning) return
      isRunning = true
      try {
        await run()
      } finally {
        isRunning = false
      }
    },

    /** Since when a part is as it is; null when what is written down says otherwise. */
    sinceOf: (name: SubsystemName, status: HealthStatus): Date | null => {
      const state = states.get(name)
      return state?.status === status ? state.since : null
    },

    /** So that the history is told by a replica that never looked, too. */
    read: async (): Promise<void> => {
      await read().catch((error: unknown) => log.debug({ err: error }, 'states of health are read again later'))
    },

    forget: (): Promise<number> => store.forget(db, new Date(clock.now() - healthHistoryDays * 86_400_000)),

    /** Whoever looks next need not wait for the lease to end. */
    close: async (): Promise<void> => {
      await store.resign(db, holder).catch(() => {})
    },
  }
}
