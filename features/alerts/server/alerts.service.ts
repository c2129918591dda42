import { AppError } from '@portcullis/platform/server/app-error.ts'
import type { Tx } from '@portcullis/platform/server/db/db.ts'
import type { Actor } from '@portcullis/platform/server/http/actor.ts'
import { isId } from '@portcullis/platform/server/ids.ts'
import { type AlertKind, alertCatalogue, verdictSeverity } from '#features/contract.ts'
import type { AlertsRead } from './alerts.read.ts'
import { createAlertsStore } from './alerts.store.ts'
import type { CasesRead } from './cases.read.ts'
import { bySystem, type Cases } from './cases.service.ts'
import type { AlertsContext } from './context.ts'
import { matchedOf } from './matched.ts'

/** Time after a recovery until a health alert is closed. */
const recoveredMs = 24 * 3_600_000
/** Maximum number of hosts in a response. */
const hostsShown = 20
/** Time that a removed device still waits for an approval, as in the list of approvals. */
const waitingMs = 7 * 86_400_000

type ListName = 'risk' | 'health'

const unknown = (list: ListName, id: number): AppError =>
  new AppError('not_found', { detail: `${list === 'risk' ? 'Risk' : 'Health'} alert ${id} does not exist.` })

/** The inbox: alerts as an account sees, reads and pins them. */
export const createInbox = (context: AlertsContext, read: AlertsRead, cases: Cases, casesRead: CasesRead) => {
  const { db, clock, events, deliveries, hint } = context
  const store = createAlertsStore()

  const setPin = (actor: Actor, list: ListName, id: number, wanted: boolean | null): Promise<boolean> =>
    db.transaction(async (tx) => {
      const { accountId } = actor
      if (accountId === null) throw new AppError('conflict', { detail: 'Only an account can pin an alert.' })
      const alert = await store.one(tx, list, id, accountId)
      if (alert === undefined) throw unknown(list, id)
      const isPinned = wanted ?? !alert.is_pinned
      if (isPinned && alert.is_dismissed)
        throw new AppError('conflict', { detail: 'The alert is closed, so it cannot be pinned.' })
      const isChanged = await store.pin(tx, accountId, id, isPinned)
      // For other windows of the same person.
      if (isChanged) await hint(tx, 'notices')
      return isChanged
    })

  /** Ends the alerts about these subjects, because a decision answers them. */
  async function end(tx: Tx, kind: AlertKind, subjects: readonly string[], by: string, reason: string): Promise<void> {
    const found = await store.known(
      tx,
      subjects.map((subject) => ({ kind, subject })),
    )
    await cases.end(
      tx,
      found.map(({ notice_id }) => notice_id),
      by,
      reason,
    )
  }

  return {
    counts: (actor: Actor) => read.counts(actor.accountId),
    risk: (actor: Actor, query: Readonly<Record<string, unknown>>) =>
      read.risk(actor.accountId, query as Readonly<Record<string, string | number | undefined>>),
    health: async (actor: Actor) => {
      const [overall, items] = await Promise.all([context.health.overall(), read.health(actor.accountId)])
      return { ...overall, items }
    },

    dismiss: async (actor: Actor, list: ListName, id: number): Promise<boolean> => {
      const isChanged = await cases.dismiss(actor, list, id)
      if (isChanged === undefined) throw unknown(list, id)
      return isChanged
    },

    /** Ends the alert about an attack tool. The audit trail has the acceptance, with its reason. */
    closeAccepted: (tx: Tx, { vid, pid, by }: { vid: string; pid: string; by: string }): Promise<void> =>
      end(tx, 'attackTool', [`${vid}:${pid}`], by, 'The finding was accepted.'),
    /** Ends the alerts about possible duplicates. The audit trail has the decisions. */
    closeDuplicates: (tx: Tx, { agentIds, by }: { agentIds: readonly string[]; by: string }): Promise<void> =>
      end(tx, 'duplicate', agentIds, by, 'Somebody decided whether the hosts are the same computer.'),

    pin: (actor: Actor, list: ListName, id: number, isPinned: boolean): Promise<boolean> =>
      setPin(actor, list, id, isPinned),
    /** Toggles the pin. Always returns true, because the pin changes. */
    togglePin: (actor: Actor, list: ListName, id: number): Promise<boolean> => setPin(actor, list, id, null),

    markRead: (actor: Actor, list: ListName): Promise<boolean> =>
      db.transaction(async (tx) => {
        const isChanged = actor.accountId !== null && (await store.read(tx, list, actor.accountId))
        if (isChanged) await hint(tx, 'notices')
        return isChanged
      }),

    details: async (id: number) => {
      const alert = await read.details(id)
      if (alert === undefined) throw new AppError('not_found', { detail: `Alert ${id} does not exist.` })
      const [history, some, deliveryRows, reached] = await Promise.all([
        casesRead.history(id),
        events.some(alert.events),
        deliveries.about(id),
        read.hostIds(id, hostsShown),
      ])
      const agentIds = [
        ...new Set([
          ...some.flatMap(({ agent_id }) => agent_id ?? []),
          ...reached,
          ...(alert.entity_type === 'Agent' && isId(alert.entity_id) ? [alert.entity_id] : []),
        ]),
      ]
      const devices = some.flatMap(({ agent_id, device_id }) =>
        agent_id === null || device_id === null ? [] : [{ agentId: agent_id, deviceId: device_id }],
      )
      const [matched, hosts] = await Promise.all([
        matchedOf(alert.kind, some, context.peripherals.findings),
        read.hosts(
          agentIds.slice(0, hostsShown),
          devices,
          alert.entity_type === 'Model' ? alert.entity_id : '',
          new Date(clock.now() - waitingMs),
        ),
      ])
      return {
        id,
        title: alert.title,
        kind: alert.kind,
        severity: alert.severity,
        ...alert.handling,
        comment: alert.comment,
        needsVerdict: alert.severity <= verdictSeverity,
        history,
        why:
          alert.kind === 'health'
            ? `A check found a problem with the subsystem "${alert.subject}". Settings, Health shows what to do.`
            : alertCatalogue[alert.kind as AlertKind].meaning,
        matched,
        count: alert.count,
        hosts,
        hostsCount: alert.host_count,
        events: some.map((event) => ({
          eventID: event.event_id,
          creationTime: event.created_at.toISOString(),
          eventEntityID: event.entity,
          details: event.details,
        })),
        told: deliveryRows.map((row) => ({
          groupName: row.group_name,
          channel: row.channel,
          destination: row.destination,
          state: row.state,
          at: row.created_at.toISOString(),
        })),
        dismissedBy: alert.dismissed_by,
      }
    },

    /** Counts the events not yet processed for alerts. */
    behind: async (): Promise<number> => Math.max(0, (await events.head(db)) - (await store.followedTo(db))),

    /** Ends health alerts a day after recovery, and deletes old alerts; 0 days keeps all. */
    forget: (days: number): Promise<number> =>
      db.transaction(async (tx) => {
        const now = clock.now()
        const over = await store.recovered(tx, new Date(now - recoveredMs))
        await cases.end(tx, over, bySystem, 'The part has worked again for a day.')
        return over.length + (days === 0 ? 0 : await store.forget(tx, new Date(now - days * 86_400_000)))
      }),
  }
}
