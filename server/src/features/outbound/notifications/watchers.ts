import type { NoticeKind, UncommonPeripheral, WhitelistViolation } from '@portcullis/contract'
import { deviceDetails, type EventsApi, type NewEvent } from '#features/system/events/index.ts'
import type { Clock } from '#platform/clock.ts'
import type { Db, Tx } from '#platform/db/db.ts'
import type { NoticesStore } from './notices.store.ts'

/** Hosts per run, which limits its duration. */
const atOnce = 1_000
/** Violations read per run. Beyond this number, missing ones may just be cut off. */
const mostViolations = 20_000

export interface WatcherDeps {
  db: Db
  clock: Clock
  store: NoticesStore
  events: Pick<EventsApi, 'append'>
  /** Hours without a check-in after which a host counts as silent; 0: never. */
  silentHours(): number
  /** Returns the current insight; null: the fleet is too small for it. */
  uncommon(): Promise<readonly UncommonPeripheral[] | null>
  violations(limit: number): Promise<readonly WhitelistViolation[]>
}

const lasting = (ms: number): string => {
  const hours = Math.floor(ms / 3_600_000)
  return hours < 48 ? `${hours} hours` : `${Math.floor(hours / 24)} days`
}

/** Turns states (silent, uncommon, covered by no rule) into one event each when they begin. */
export const createWatchers = ({ db, clock, store, events, silentHours, uncommon, violations }: WatcherDeps) => {
  /** Appends events for new findings, in one replica at a time. */
  async function reportNew<T>(
    kind: NoticeKind,
    found: readonly T[],
    subjectOf: (one: T) => string,
    eventOf: (one: T, host: { entity: string; hashtags: string; agentId: string | null }) => NewEvent,
    hostOf: (one: T) => string | null,
    isWhole: boolean,
    tagsOf: (tx: Tx, one: T) => Promise<string> = async () => '',
  ): Promise<void> {
    await db.transaction(async (tx) => {
      if (!(await store.tryWatch(tx))) return
      const now = new Date(clock.now())
      const fresh = await store.sight(tx, kind, found.map(subjectOf), isWhole, now)
      if (fresh.size === 0) return
      const news = found.filter((one) => fresh.has(subjectOf(one)))
      const ids = [...new Set(news.map(hostOf).filter((id) => id !== null))]
      const hosts = new Map((await store.hosts(tx, ids)).map((host) => [host.agent_id, host]))
      const newEvents: NewEvent[] = []
      for (const one of news) {
        const host = hosts.get(hostOf(one) ?? '')
        newEvents.push(
          eventOf(one, {
            agentId: host?.agent_id ?? null,
            entity: host === undefined ? 'fleet' : `${host.host} (${host.address})`,
            hashtags: host?.tags ?? (await tagsOf(tx, one)),
          }),
        )
      }
      await events.append(tx, newEvents)
    })
  }

  async function watchSilence(): Promise<void> {
    const hours = silentHours()
    if (hours === 0) return
    const now = clock.now()
    async function step(tx: Tx): Promise<boolean> {
      if (!(await store.tryWatch(tx))) return false
      const rows = await store.silence(tx, new Date(now - hours * 3_600_000), atOnce)
      if (rows.length === 0) return false
      const idsOf = (isSilent: boolean) => rows.filter((row) => row.is_silent === isSilent).map((row) => row.agent_id)
      await store.noteSilent(tx, idsOf(true), new Date(now))
      await store.forgetSilent(tx, idsOf(false))
      await events.append(
        tx,
        rows.map(
          (row): NewEvent => ({
            kind: row.is_silent ? 'silent' : 'heardAgain',
            agentId: row.agent_id,
            entity: `${row.host} (${row.address})`,
            hashtags: row.tags,
            details: row.is_silent
              ? `No check-in for ${lasting(now - row.last_seen.getTime())}, last at ${row.last_seen.toISOString().slice(0, 19).replace('T', ' ')}`
              : '',
          }),
        ),
      )
      return rows.length >= atOnce
    }
    while (await db.transaction(step));
  }

  return {
    silence: watchSilence,

    /** Reports each device of an uncommon shape with one event. */
    uncommon: async (): Promise<void> => {
      const rare = await uncommon()
      if (rare === null) return
      const found = rare.flatMap((one) => one.agents.map((agent) => ({ one, agent })))
      await reportNew(
        'uncommon',
        found,
        ({ one, agent }) => `${one.vid}:${one.pid} ${one.interfaces} ${agent.uuid}`,
        ({ one }, host) => ({
          ...host,
          kind: 'uncommon',
          icon: one.devIcon,
          details: deviceDetails({
            vulnerable: false,
            vid: one.vid,
            pid: one.pid,
            serial: '',
            vendor: one.guiVid,
            product: one.guiPid,
          }),
        }),
        ({ agent }) => agent.uuid,
        true,
      )
    },

    /** Reports devices that no rule allows, by model and serial number. */
    violations: async (): Promise<void> => {
      const found = await violations(mostViolations)
      let lookedUp = 0
      await reportNew(
        'whitelistViolation',
        found,
        (one) => `${one.vid}:${one.pid} ${one.serialNumber}`,
        (one, host) => ({
          ...host,
          entity: `${one.agentsCount} ${one.agentsCount === 1 ? 'host' : 'hosts'}`,
          kind: 'violation',
          icon: one.devIcon,
          details: deviceDetails({
            vulnerable: false,
            vid: one.vid,
            pid: one.pid,
            serial: one.serialNumber,
            vendor: one.guiVid,
            product: one.guiPid,
          }),
        }),
        () => null,
        found.length < mostViolations,
        // Tags let groups match it. Limited to the first hundred of a run, because each look-up takes a moment.
        async (tx, one) => (lookedUp++ < 100 ? store.tagsOfViolation(tx, one.vid, one.pid, one.serialNumber) : ''),
      )
    },
  }
}
