import { mustExist } from '@portcullis/domain'
import type { Tx } from '@portcullis/platform/server/db/db.ts'
import { type AlertKind, alertCatalogue } from '#features/contract.ts'
import type { FollowedEvent } from '#features/events/server/index.ts'
import {
  type Aggregated,
  aggregate,
  floodAgainMs,
  floodReason,
  hostsIn,
  newsAgainMs,
  spreadAfter,
  tameFloods,
} from './aggregate.ts'
import { type AlertRow, type AlertWrite, createAlertsStore, type HostsRow } from './alerts.store.ts'
import { bySystem, type Cases } from './cases.service.ts'
import { createCasesStore, type HistoryWrite } from './cases.store.ts'
import type { AlertsContext } from './context.ts'
import { healthCodes, heardAgainCode, kindOfCode } from './groups.ts'
import { type HealthNews, healthNews } from './health-alerts.ts'
import { createMutesStore } from './mutes.store.ts'
import type { AlertNews, News } from './news.ts'
import { titleOf } from './titles.ts'

/** Ids per transaction: a few tenths of a second if all of them make alerts. */
const span = 5_000
/** Events that make alerts; the database skips all others. */
const wanted = {
  codes: [...kindOfCode.keys(), ...Object.values(healthCodes), heardAgainCode],
  severity: 7,
  always: [],
  tags: [],
  entities: null,
}

const keyOf = ({ kind, subject }: { kind: string; subject: string }): string => `${kind} ${subject}`

const isQuietFor = (row: AlertRow, firstAt: Date): boolean => firstAt.getTime() - row.last_at.getTime() > newsAgainMs

const noHosts: HostsRow = { notice_id: 0, added: 0, recent: 0 }

/** Returns why an alert is news; `isSpread`: only because it reached further hosts. */
const newsOf = (
  row: AlertRow | undefined,
  one: Aggregated,
  { added, recent }: HostsRow,
  now: number,
): { news: News | null; isSpread: boolean } => {
  if (row === undefined) return { news: 'opened', isSpread: false }
  const isLate = now - row.turned_at.getTime() > floodAgainMs
  const isAgain = (one.isFlood && isLate) || isQuietFor(row, one.firstAt)
  // Only a higher severity or a further host ends a snooze.
  if (row.is_dismissed || one.severity < row.severity || (isAgain && !row.is_snoozed))
    return { news: 'reopened', isSpread: false }
  const { spreads } = alertCatalogue[one.kind]
  const isSpread = spreads === true && added > 0 && (recent === 0 || recent + added <= spreadAfter || isLate)
  return { news: isSpread ? 'reopened' : null, isSpread }
}

/** Returns the entry of the history about news of an alert. */
const entryOf = (row: AlertRow | undefined, one: Aggregated, isSpread: boolean): Omit<HistoryWrite, 'alertId'> => {
  const by = bySystem
  const detail = one.isFlood ? floodReason(one.kind, one.entityType !== 'Many') : ''
  if (row === undefined) return { by, action: 'opened', detail }
  if (row.is_dismissed) return { by, action: 'reopened', detail: detail || 'It happened again.' }
  if (isSpread) return { by, action: 'raised', detail: `It reached further hosts: ${hostsIn(one).name}.` }
  return {
    by,
    action: 'raised',
    detail:
      one.severity < row.severity
        ? 'The severity rose.'
        : one.isFlood
          ? detail
          : 'It happened again after a quiet day.',
  }
}

const tagsOf = (row: AlertRow): Set<string> => new Set(row.hashtags.split(',').filter((tag) => tag !== ''))

const riskWrite = (
  one: Aggregated,
  known: ReadonlySet<string>,
  hostCount: number,
  turn: number | null,
): AlertWrite => ({
  ...one,
  title: titleOf(one, { ...hostsIn(one), count: hostCount }),
  status: '',
  tags: [...new Set([...known, ...one.tags])].sort().join(',').slice(0, 4_096),
  hostCount,
  turn,
  openedBy: one.agent,
})

/** Aggregates the events into alerts, in order and in one replica at a time. Position and alerts commit together. */
export const createFollower = (
  { db, clock, events, hint }: AlertsContext,
  /** Records which groups to notify, in the transaction that updates the alerts. */
  notify: (tx: Tx, news: readonly AlertNews[]) => Promise<void>,
  cases: Cases,
) => {
  const store = createAlertsStore()
  const caseStore = createCasesStore()
  const mutes = createMutesStore()
  const mapOf = async (tx: Tx, keys: readonly { kind: string; subject: string }[]): Promise<Map<string, AlertRow>> =>
    keys.length === 0 ? new Map() : new Map((await store.known(tx, keys)).map((row) => [keyOf(row), row]))

  /** Removes the subjects that are muted. */
  async function withoutMuted(tx: Tx, all: Map<string, Aggregated>): Promise<Map<string, Aggregated>> {
    if (all.size === 0) return all
    for (const muted of await mutes.suppress(tx, [...all.values()], new Date(clock.now()))) all.delete(keyOf(muted))
    return all
  }

  async function aggregateRisk(
    tx: Tx,
    some: readonly FollowedEvent[],
  ): Promise<{ ones: Aggregated[]; known: Map<string, AlertRow> }> {
    const aggregated = await withoutMuted(tx, aggregate(some))
    const known = await mapOf(tx, [...aggregated.values()])
    const busy = await store.busy(tx, new Date(clock.now()))
    const ones = tameFloods(aggregated, {
      isOpen: (one) => {
        const row = known.get(keyOf(one))
        return row !== undefined && !row.is_dismissed && (row.is_snoozed || !isQuietFor(row, one.firstAt))
      },
      recentHosts: (kind: AlertKind) =>
        new Set(busy.filter((row) => row.kind === kind && !row.is_flood).map((row) => row.opened_by)),
      recentOf: (kind: AlertKind, agent: string) =>
        busy
          .filter((row) => row.kind === kind && row.opened_by === agent && !row.is_flood && !row.is_host_flood)
          .reduce((n, row) => n + row.recent, 0),
      isFlooding: (kind: AlertKind, agent: string | null) =>
        busy.some(
          (row) => row.kind === kind && (agent === null ? row.is_flood : row.is_host_flood && row.opened_by === agent),
        ),
    })
    const floods = ones.filter((one) => !aggregated.has(keyOf(one)))
    for (const [key, row] of await mapOf(tx, floods)) known.set(key, row)
    return { ones, known }
  }

  /** Counts the hosts that are new to open alerts, by the id of the alert. */
  async function newHosts(
    tx: Tx,
    ones: readonly Aggregated[],
    known: ReadonlyMap<string, AlertRow>,
  ): Promise<Map<number, HostsRow>> {
    const pairs = ones.flatMap((one) => {
      const row = known.get(keyOf(one))
      if (row === undefined || row.is_dismissed) return []
      return [...one.hosts.keys()].map((agentId) => ({ alertId: row.notice_id, agentId }))
    })
    if (pairs.length === 0) return new Map()
    const rows = await store.newHosts(tx, pairs, new Date(clock.now() - 60_000))
    return new Map(rows.map((row) => [row.notice_id, row]))
  }

  /** Closes the alerts of silent hosts that reported again, and returns this news for those who were notified. */
  async function endSilence(tx: Tx, some: readonly FollowedEvent[], turn: number): Promise<AlertNews[]> {
    const heard = new Map<string, boolean>()
    for (const { agent_id, code } of some)
      if (agent_id !== null && (code === heardAgainCode || kindOfCode.get(code) === 'agentSilent'))
        heard.set(agent_id, code === heardAgainCode)
    const ids = [...heard].flatMap(([id, isHeard]) => (isHeard ? [id] : []))
    if (ids.length === 0) return []
    const silent = await store.openOf(tx, 'agentSilent', ids)
    const alertIds = silent.map(({ notice_id }) => notice_id)
    await cases.end(tx, alertIds, bySystem, 'The host checks in again.')
    return silent.map((row) => ({
      alertId: row.notice_id,
      turn,
      news: 'resolved',
      before: null,
      id: 'agentSilent',
      list: 'risk',
      severity: row.severity,
      tags: new Set(row.hashtags.split(',').filter((tag) => tag !== '')),
    }))
  }

  /** Processes one run of events. Returns false if none was due or another replica is at work. */
  const step = (): Promise<boolean> =>
    db.transaction(async (tx) => {
      const at = await store.lockFollower(tx)
      if (at === undefined) return false
      const head = await events.head(tx)
      if (head <= at.event_id) return false
      const upTo = Math.min(head, at.event_id + span)
      const some = await events.follow(tx, at.event_id, upTo, wanted, span)
      let { turn } = at
      if (some.length > 0) {
        const { ones, known } = await aggregateRisk(tx, some)
        const health: HealthNews[] = healthNews(some, await mapOf(tx, healthKeys(some)))
        const joining = await newHosts(tx, ones, known)
        const writes: AlertWrite[] = []
        const pending: Omit<AlertNews, 'alertId'>[] = []
        const entries: (Omit<HistoryWrite, 'alertId'> | null)[] = []
        for (const one of ones) {
          const row = known.get(keyOf(one))
          // A closed alert starts again: its earlier hosts and tags do not apply now.
          const open = row === undefined || row.is_dismissed ? undefined : row
          const hosts = joining.get(open?.notice_id ?? 0) ?? { ...noHosts, added: one.hosts.size }
          const { news, isSpread } = newsOf(row, one, hosts, clock.now())
          if (news !== null) turn++
          entries.push(news === null ? null : entryOf(row, one, isSpread))
          const tags = open === undefined ? new Set<string>() : tagsOf(open)
          writes.push(riskWrite(one, tags, (open?.host_count ?? 0) + hosts.added, news === null ? null : turn))
          pending.push({
            turn,
            news,
            before: open === undefined ? null : { severity: open.severity, tags },
            id: one.kind,
            list: 'risk',
            severity: Math.min(one.severity, open?.severity ?? 7),
            // A group for some tags is not notified of further hosts without these tags.
            tags: isSpread ? one.tags : new Set([...tags, ...one.tags]),
          })
        }
        for (const { write, news, severity, comesUp } of health) {
          if (comesUp) turn++
          entries.push(
            comesUp ? { by: bySystem, action: news === 'opened' ? 'opened' : 'reopened', detail: write.title } : null,
          )
          writes.push({ ...write, turn: comesUp ? turn : null })
          pending.push({ turn, news, before: null, id: write.subject, list: 'health', severity, tags: new Set() })
        }
        const ids = writes.length === 0 ? [] : await store.write(tx, writes, new Date(clock.now()))
        await store.addHosts(
          tx,
          ones.flatMap((one) => {
            const row = known.get(keyOf(one))
            return row?.is_dismissed === true ? [row.notice_id] : []
          }),
          ones.flatMap(({ hosts }, i) => {
            const alertId = mustExist(ids[i], 'the id of an alert')
            return [...hosts].map(([agentId, host]) => ({ alertId, agentId, host }))
          }),
          new Date(clock.now()),
        )
        await caseStore.note(
          tx,
          entries.flatMap((entry, i) =>
            entry === null ? [] : [{ ...entry, alertId: mustExist(ids[i], 'the id of an alert') }],
          ),
          new Date(clock.now()),
        )
        const over = await endSilence(tx, some, turn)
        if (writes.length + over.length > 0) {
          const news = pending.map((one, i) => ({ ...one, alertId: mustExist(ids[i], 'the id of an alert') }))
          await notify(tx, withEnds(news, over))
          await hint(tx, 'notices')
        }
      }
      await store.moveFollower(tx, upTo, turn)
      return true
    })

  let running: Promise<void> | null = null
  async function catchUp(): Promise<void> {
    while (await step());
  }
  return {
    /** Aggregates the new events, in one run at a time per process. */
    run: (): Promise<void> => {
      running ??= catchUp().finally(() => {
        running = null
      })
      return running
    },
  }
}

/**
 * Combines news and endings of one run: an alert that ended reports only its end, and nothing if it was never reported.
 */
const withEnds = (news: readonly AlertNews[], over: readonly AlertNews[]): AlertNews[] => {
  const ended = new Set(over.map(({ alertId }) => alertId))
  const fresh = new Set(news.filter(({ before }) => before === null).map(({ alertId }) => alertId))
  return [...news.filter(({ alertId }) => !ended.has(alertId)), ...over.filter(({ alertId }) => !fresh.has(alertId))]
}

const healthKeys = (some: readonly FollowedEvent[]): { kind: string; subject: string }[] =>
  [...new Set(some.filter(({ code }) => Object.values(healthCodes).includes(code)).map(({ entity }) => entity))].map(
    (subject) => ({ kind: 'health', subject }),
  )
