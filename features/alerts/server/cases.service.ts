import { cleanText } from '@portcullis/domain'
import { AppError, invalid } from '@portcullis/platform/server/app-error.ts'
import { type Tx, transactionAgain } from '@portcullis/platform/server/db/db.ts'
import { type Actor, assertPermission } from '@portcullis/platform/server/http/actor.ts'
import { assertFresh } from '@portcullis/platform/server/http/fresh.ts'
import { requireTime } from '@portcullis/platform/server/time.ts'
import type { AuditEntry } from '#features/audit/server/index.ts'
import {
  type AlertAction,
  type AlertKind,
  type AlertVerdict,
  alertCatalogue,
  alertVerdictLabels,
  type assignAlerts,
  type BodyOf,
  type closeAlerts,
  type commentAlerts,
  harmlessAtOnce,
  harmlessVerdicts,
  mutableKinds,
  type muteAlert,
  muteDaysMost,
  type snoozeAlerts,
  snoozeDaysMost,
  verdictSeverity,
} from '#features/contract.ts'
import type { NewEvent, OtherEventKind } from '#features/events/server/index.ts'
import { nameKey } from '#features/identity/server/accounts/index.ts'
import { createAlertsStore } from './alerts.store.ts'
import type { CasesRead } from './cases.read.ts'
import { type CaseRow, createCasesStore } from './cases.store.ts'
import type { AlertsContext } from './context.ts'
import { createMutesStore } from './mutes.store.ts'

const dayMs = 86_400_000

/** Name of the server in the history. */
export const bySystem = 'system'

const unknown = (ids: readonly number[]): AppError =>
  new AppError('not_found', {
    detail:
      ids.length === 1 ? `Alert ${ids[0]} does not exist.` : `Alerts ${ids.slice(0, 20).join(', ')} do not exist.`,
  })

/** Refuses a call that one closed alert would make incomplete. */
const requireOpen = (rows: readonly CaseRow[], verb: string): void => {
  const closed = rows.filter(({ is_closed }) => is_closed).map(({ notice_id }) => notice_id)
  if (closed.length > 0)
    throw new AppError('conflict', {
      detail: `${closed.length === 1 ? `Alert ${closed[0]} is` : `Alerts ${closed.slice(0, 20).join(', ')} are`} closed and cannot be ${verb}. Reopen closed alerts first.`,
    })
}

/** One change of a person: what the history, the events and the audit trail say about it. */
interface Change {
  action: AlertAction
  detail?: string | ((row: CaseRow) => string)
  comment?: string
  event: OtherEventKind
  /** End of the sentence of the event, for example `closed as benign by jane`. */
  said: string
  audit: Pick<AuditEntry, 'action' | 'details' | 'facts' | 'reason'>
}

/** Returns the event about a change of an alert. */
export const caseEvent = (
  { notice_id, title, severity }: Pick<CaseRow, 'notice_id' | 'title' | 'severity'>,
  kind: OtherEventKind,
  said: string,
  comment = '',
): NewEvent => ({
  kind,
  agentId: null,
  entity: `Alert ${notice_id}`,
  hashtags: '',
  details: cleanText(`${title} (severity ${severity}): ${said}${comment === '' ? '' : `. Comment: ${comment}`}`, 2_000),
})

const heldBack = (events: number): string =>
  `The mute is over. It held back ${events === 1 ? '1 event' : `${events.toLocaleString('en')} events`}.`

/** How people handle alerts: owner, snooze, closing with a verdict, comments and the history. */
export const createCases = (
  { db, clock, audit, events, hint, agents, peripherals }: AlertsContext,
  read: CasesRead,
) => {
  const store = createCasesStore()
  const alerts = createAlertsStore()
  const mutes = createMutesStore()

  async function lock(tx: Tx, ids: readonly number[]): Promise<CaseRow[]> {
    const rows = await store.lock(tx, ids)
    const found = new Set(rows.map(({ notice_id }) => notice_id))
    const missing = ids.filter((id) => !found.has(id))
    if (missing.length > 0) throw unknown(missing)
    return rows
  }

  const secondsSince = (at: Date): number => Math.max(0, Math.round((clock.now() - at.getTime()) / 1_000))

  /** Records a change of alerts: history, events and audit, in this order. */
  async function record(
    tx: Tx,
    actor: Actor,
    rows: readonly CaseRow[],
    change: Change,
  ): Promise<{ changed: number[] }> {
    const ids = rows.map(({ notice_id }) => notice_id)
    if (ids.length === 0) return { changed: [] }
    const now = new Date(clock.now())
    // An undone closing does not acknowledge an alert.
    if (change.action !== 'undone') await store.acknowledge(tx, ids, now)
    await store.note(
      tx,
      rows.map((row) => ({
        alertId: row.notice_id,
        by: actor.userName,
        action: change.action,
        detail: typeof change.detail === 'function' ? change.detail(row) : (change.detail ?? ''),
        comment: change.comment ?? '',
        acknowledgedS: row.acknowledged_at === null && change.action !== 'undone' ? secondsSince(row.opened_at) : null,
        closedS: change.action === 'closed' ? secondsSince(row.opened_at) : null,
      })),
      now,
    )
    await hint(tx, 'notices')
    await events.append(
      tx,
      rows.map((row) => caseEvent(row, change.event, `${change.said} by ${actor.userName}`, change.comment)),
    )
    const [first] = rows as [CaseRow]
    await audit.write(tx, actor, {
      ...change.audit,
      entity: (ids.length === 1 ? first.title : `${ids.length} alerts`).slice(0, 300),
      details: `${change.audit.details ?? ''}${change.audit.details === undefined ? '' : ', '}${ids.length === 1 ? 'notice' : 'notices'} ${ids.join(', ')}`,
      objects: rows.map(({ notice_id, title }) => ({ kind: 'alert', id: String(notice_id), name: title })),
    })
    return { changed: ids }
  }

  async function closeRows(
    tx: Tx,
    actor: Actor,
    rows: readonly CaseRow[],
    verdict: AlertVerdict | '',
    comment: string,
  ) {
    const open = rows.filter(({ is_closed }) => !is_closed)
    const ids = open.map(({ notice_id }) => notice_id)
    if (ids.length === 0) return { changed: [] }
    await store.close(tx, ids, new Date(clock.now()), actor.userName, verdict, comment)
    const label = verdict === '' ? '' : alertVerdictLabels[verdict]
    return record(tx, actor, open, {
      action: 'closed',
      detail: verdict,
      comment,
      event: 'alertClosed',
      said: label === '' ? 'closed without a verdict' : `closed as ${label.toLowerCase()}`,
      audit:
        verdict === ''
          ? { action: 'notice.dismissed' }
          : {
              action: 'notice.closed',
              facts: [{ name: 'Verdict', before: '', after: label }],
              ...(comment === '' ? {} : { reason: comment }),
            },
    })
  }

  return {
    assign: (actor: Actor, { ids, owner: wanted }: BodyOf<typeof assignAlerts>) =>
      db.transaction(async (tx) => {
        const account = wanted === null ? null : await store.owner(tx, nameKey(wanted))
        if (account === undefined) throw invalid('body.owner', 'must be the user name of an enabled account')
        const ownerId = account?.account_id ?? null
        const owner = account?.user_name ?? ''
        const rows = await lock(tx, ids)
        requireOpen(rows, 'assigned')
        const changing = rows.filter((row) => row.owner_id !== ownerId)
        await store.assign(
          tx,
          changing.map(({ notice_id }) => notice_id),
          ownerId,
        )
        return record(tx, actor, changing, {
          action: ownerId === null ? 'released' : 'assigned',
          detail: owner,
          event: 'alertAssigned',
          said: ownerId === null ? 'owner removed' : `assigned to ${owner}`,
          audit: {
            action: 'notice.assigned',
            facts: [{ name: 'Owner', before: changing.length === 1 ? (changing[0]?.owner ?? '') : '', after: owner }],
          },
        })
      }),

    snooze: (actor: Actor, { ids, until }: BodyOf<typeof snoozeAlerts>) =>
      db.transaction(async (tx) => {
        const at = until === null ? null : requireTime('body.until', until).from
        const now = clock.now()
        if (at !== null && (at.getTime() <= now || at.getTime() > now + snoozeDaysMost * dayMs))
          throw invalid('body.until', `must be in the future, at most ${snoozeDaysMost} days from now`)
        const rows = await lock(tx, ids)
        requireOpen(rows, 'snoozed')
        const changing = rows.filter((row) => row.snoozed_until?.getTime() !== at?.getTime())
        await store.snooze(
          tx,
          changing.map(({ notice_id }) => notice_id),
          at,
        )
        const text = at === null ? '' : at.toISOString()
        return record(tx, actor, changing, {
          action: at === null ? 'woken' : 'snoozed',
          detail: text,
          event: 'alertSnoozed',
          said: at === null ? 'snooze ended' : `snoozed until ${text}`,
          audit: {
            action: 'notice.snoozed',
            facts: [{ name: 'Snoozed until', before: '', after: text }],
          },
        })
      }),

    close: async (actor: Actor, { ids, verdict, comment = '', findings = [] }: BodyOf<typeof closeAlerts>) => {
      if (findings.length > 0) assertPermission(actor, 'fleet:write')
      if (verdict !== undefined && harmlessVerdicts.includes(verdict) && ids.length > harmlessAtOnce)
        assertFresh(actor, clock.now())
      return transactionAgain(db, async (tx) => {
        // Lock order: hosts before alerts.
        if (findings.length > 0) await agents.lockStates(tx, await peripherals.hostsOfFindings(tx, findings))
        const rows = await lock(tx, ids)
        const severe = rows.filter(({ is_closed, severity }) => !is_closed && severity <= verdictSeverity)
        const [first] = severe
        if (verdict === undefined && first !== undefined)
          throw invalid(
            'body.verdict',
            `is required: ${severe.length === 1 ? `alert ${first.notice_id} is` : `${severe.length} of the alerts are`} Critical or above`,
          )
        if (findings.length > 0) {
          if (verdict === undefined) throw invalid('body.verdict', 'is required to close findings')
          const other = await store.otherFinding(tx, ids, findings)
          if (other !== null)
            throw new AppError('conflict', {
              detail: `These alerts are not about finding ${other}. Reload their findings.`,
            })
          await peripherals.closeFindings(tx, actor, { ids: findings, verdict, comment })
        }
        return closeRows(tx, actor, rows, verdict ?? '', comment.trim())
      })
    },

    /**
     * Closes an alert of a list without a verdict, as the calls of the specification do. Returns false if it was closed,
     * undefined if it does not exist.
     */
    dismiss: (actor: Actor, list: 'risk' | 'health', id: number): Promise<boolean | undefined> =>
      db.transaction(async (tx) => {
        const rows = (await store.lock(tx, [id])).filter(({ kind }) => (kind === 'health') === (list === 'health'))
        if (rows.length === 0) return undefined
        return (await closeRows(tx, actor, rows, '', '')).changed.length > 0
      }),

    reopen: (actor: Actor, ids: readonly number[]) =>
      transactionAgain(db, async (tx) => {
        const closed = (await lock(tx, ids)).filter(({ is_closed }) => is_closed)
        const closedIds = closed.map(({ notice_id }) => notice_id)
        await store.reopen(tx, closedIds)
        const unmuted = new Set(await mutes.endOf(tx, closedIds))
        return record(tx, actor, closed, {
          action: 'undone',
          detail: ({ notice_id }) => (unmuted.has(notice_id) ? 'This also ended the mute.' : ''),
          event: 'alertReopened',
          said: 'reopened',
          audit: { action: 'notice.reopened' },
        })
      }),

    mute: (actor: Actor, { id, until, reason }: BodyOf<typeof muteAlert>) =>
      db.transaction(async (tx) => {
        const at = requireTime('body.until', until).from
        const now = clock.now()
        if (at.getTime() <= now || at.getTime() > now + muteDaysMost * dayMs)
          throw invalid('body.until', `must be in the future, at most ${muteDaysMost} days from now`)
        const rows = await lock(tx, [id])
        const [row] = rows as [CaseRow]
        if (row.entity_type !== 'Model' || !mutableKinds.includes(row.kind as AlertKind))
          throw new AppError('conflict', {
            detail: `Alert ${id} cannot be muted: it is about an attack, or not about one model.`,
          })
        const text = at.toISOString()
        const comment = reason.trim()
        if (!row.is_closed) await store.close(tx, [id], new Date(now), actor.userName, '', comment)
        const muteId = await mutes.add(
          tx,
          { kind: row.kind, model: row.subject, until: at, reason: comment, by: actor.userName },
          new Date(now),
        )
        await record(tx, actor, rows, {
          action: 'muted',
          detail: text,
          comment,
          event: 'alertClosed',
          said: `muted until ${text}`,
          audit: {
            action: 'notice.muted',
            reason: comment,
            facts: [{ name: 'Muted until', before: '', after: text }],
          },
        })
        return { id: muteId }
      }),

    endMute: (actor: Actor, id: number): Promise<boolean> =>
      db.transaction(async (tx) => {
        const mute = await mutes.end(tx, id, new Date(clock.now()))
        if (mute === undefined) throw new AppError('not_found', { detail: `Mute ${id} does not exist.` })
        await hint(tx, 'notices')
        await audit.write(tx, actor, {
          action: 'notice.unmuted',
          entity: `${alertCatalogue[mute.kind].title} ${mute.model}`,
          details: `mute ${id}`,
          objects: [{ kind: 'device', id: mute.model, name: mute.model }],
        })
        return true
      }),

    mutes: () => mutes.list(db, new Date(clock.now())),

    comment: (actor: Actor, { ids, comment }: BodyOf<typeof commentAlerts>) =>
      db.transaction(async (tx) =>
        record(tx, actor, await lock(tx, ids), {
          action: 'commented',
          comment: comment.trim(),
          event: 'alertCommented',
          said: 'comment added',
          audit: { action: 'notice.commented', reason: comment.trim() },
        }),
      ),

    /**
     * Ends alerts whose condition ended, or that a decision answers. Returns those that were open. `by`: an account, or the
     * server. The caller audits its decision.
     */
    end: async (tx: Tx, ids: readonly number[], by: string, reason: string): Promise<number[]> => {
      const open = (await store.lock(tx, ids)).filter(({ is_closed }) => !is_closed)
      if (open.length === 0) return []
      const now = new Date(clock.now())
      await store.close(
        tx,
        open.map(({ notice_id }) => notice_id),
        now,
        by,
        '',
        '',
      )
      await store.note(
        tx,
        open.map(({ notice_id }) => ({ alertId: notice_id, by, action: 'ended', detail: reason })),
        now,
      )
      await hint(tx, 'notices')
      return open.map(({ notice_id }) => notice_id)
    },

    /** Returns alerts whose snooze is over to the lists, and ends mutes. Alerts that a mute held back reopen. */
    wake: async (): Promise<void> => {
      const now = new Date(clock.now())
      if (!(await store.isDue(db, now)) && !(await mutes.isDue(db, now))) return
      await db.transaction(async (tx) => {
        const at = await alerts.lockFollower(tx)
        if (at === undefined) return
        const turn = at.turn + 1
        await store.lockDue(tx, now)
        const woken = await store.wake(tx, now, turn)
        const held = (await mutes.takeOver(tx, now)).filter(({ suppressed }) => suppressed > 0)
        const reopened = held.length === 0 ? [] : await mutes.reopen(tx, held, turn, now)
        await alerts.moveFollower(tx, at.event_id, turn)
        await store.note(
          tx,
          [
            ...woken.map(({ notice_id }) => ({
              alertId: notice_id,
              by: bySystem,
              action: 'woken' as const,
              detail: 'The snooze is over.',
            })),
            ...reopened.map(({ notice_id, suppressed }) => ({
              alertId: notice_id,
              by: bySystem,
              action: 'reopened' as const,
              detail: heldBack(suppressed),
            })),
          ],
          now,
        )
        await hint(tx, 'notices')
        await events.append(
          tx,
          reopened.map((row) => caseEvent(row, 'alertReopened', `reopened. ${heldBack(row.suppressed)}`)),
        )
      })
    },

    times: async () => {
      const since = (days: number) => read.times(new Date(clock.now() - days * dayMs))
      const [days7, days30] = await Promise.all([since(7), since(30)])
      return { days7, days30 }
    },
  }
}
export type Cases = ReturnType<typeof createCases>
