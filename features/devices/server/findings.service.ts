import { cleanText } from '@portcullis/domain'
import { AppError } from '@portcullis/platform/server/app-error.ts'
import { type Tx, transactionAgain } from '@portcullis/platform/server/db/db.ts'
import type { Actor } from '@portcullis/platform/server/http/actor.ts'
import { assertFresh } from '@portcullis/platform/server/http/fresh.ts'
import {
  type AlertVerdict,
  type AuditAction,
  alertVerdictLabels,
  type BodyOf,
  type closeFindings,
  harmlessAtOnce,
  harmlessVerdicts,
  type ResponseOf,
  type reopenFindings,
} from '#features/contract.ts'
import { deviceDetails, eventOrigin } from '#features/events/server/index.ts'
import type { DevicesContext } from './context.ts'
import type { FindingRow, FindingsStore } from './findings.store.ts'
import type { DecisionsPort } from './ports.ts'

/** Hosts whose risk is calculated again in one transaction. */
const hostsAtOnce = 500

const nameOf = ({ device, host }: FindingRow): string => `${device} on ${host}`
const conflict = (detail: string): AppError => new AppError('conflict', { detail })

/** The verdicts of people about findings, and the risk of findings about removed devices. */
export const createFindings = (
  { db, clock, agents, audit, events, decisions }: DevicesContext & { decisions: DecisionsPort },
  store: FindingsStore,
) => {
  /** Locks findings and their hosts. Throws if one does not exist. */
  async function take(tx: Tx, ids: readonly number[]): Promise<FindingRow[]> {
    await agents.lockStates(tx, await store.hostsOf(tx, ids))
    const rows = await store.take(tx, ids)
    const found = new Set(rows.map((row) => row.finding_id))
    const missing = ids.find((id) => !found.has(id))
    if (missing !== undefined) throw new AppError('not_found', { detail: `Finding ${missing} does not exist.` })
    return rows
  }

  async function finish(
    tx: Tx,
    actor: Actor,
    rows: readonly FindingRow[],
    action: AuditAction & ('finding.closed' | 'finding.reopened'),
    said: { details: string; before: string; after: string; comment: string; event: string },
  ): Promise<number> {
    const hosts = [...new Map(rows.map((row) => [row.agent_id, row.host]))]
    await decisions.reassess(tx, hosts.map(([id]) => id).sort(), false)
    const comment = said.comment === '' ? '' : `. Comment: ${cleanText(said.comment, 500)}`
    const note = `${said.event} by ${actor.userName}${comment}`
    await events.append(
      tx,
      rows.map((row) => ({
        ...eventOrigin(row),
        kind: action === 'finding.closed' ? 'findingClosed' : 'findingReopened',
        deviceId: row.device_id,
        icon: row.icon,
        details: deviceDetails({ ...row, vulnerable: false }, note),
      })),
    )
    const [first] = rows.map(nameOf)
    await audit.write(tx, actor, {
      action,
      entity: `${first}${rows.length === 1 ? '' : ` and ${rows.length - 1} more`}`.slice(0, 300),
      details: said.details,
      ...(said.comment === '' ? {} : { reason: said.comment }),
      objects: [
        ...hosts.map(([id, name]) => ({ kind: 'host' as const, id, name })),
        ...[...new Set(rows.map(({ device }) => device))].map((name) => ({
          kind: 'device' as const,
          id: name.slice(0, 9),
          name,
        })),
      ].slice(0, 1_000),
      facts: [{ name: 'Verdict', before: said.before, after: said.after }],
    })
    return rows.length
  }

  function assertClosable(rows: readonly FindingRow[], verdict: AlertVerdict): void {
    for (const row of rows) {
      if (row.verdict !== null) throw conflict(`The finding about ${nameOf(row)} is already closed.`)
      if (row.detached_at === null && (verdict === 'true' || verdict === 'test'))
        throw conflict(
          `${nameOf(row)} is still attached. Unplug it before you close its finding as ${alertVerdictLabels[verdict].toLowerCase()}.`,
        )
    }
  }

  /** Closes all findings or none, in the caller's transaction. */
  async function closeIn(tx: Tx, actor: Actor, body: BodyOf<typeof closeFindings>): Promise<number> {
    const comment = (body.comment ?? '').trim()
    const { verdict, ids } = body
    if (harmlessVerdicts.includes(verdict) && ids.length > harmlessAtOnce) assertFresh(actor, clock.now())
    const rows = await take(tx, ids)
    assertClosable(rows, verdict)
    await store.close(tx, ids, { verdict, comment, at: new Date(clock.now()), by: actor.userName })
    const label = alertVerdictLabels[verdict]
    return finish(tx, actor, rows, 'finding.closed', {
      details: `${label}${comment === '' ? '' : `: ${comment}`}`,
      before: 'open',
      after: label,
      comment,
      event: `closed as ${label.toLowerCase()}`,
    })
  }

  return {
    closeIn,

    close: async (actor: Actor, body: BodyOf<typeof closeFindings>): Promise<ResponseOf<typeof closeFindings>> => ({
      closed: await transactionAgain(db, (tx) => closeIn(tx, actor, body)),
    }),

    reopen: async (
      actor: Actor,
      { ids }: BodyOf<typeof reopenFindings>,
    ): Promise<ResponseOf<typeof reopenFindings>> => {
      const reopened = await transactionAgain(db, async (tx) => {
        const rows = await take(tx, ids)
        for (const row of rows) {
          if (row.verdict === null) throw conflict(`The finding about ${nameOf(row)} is open.`)
          if (row.is_old) throw conflict(`${nameOf(row)} has a later finding.`)
          if (row.verdict === 'accepted' || row.verdict === 'withdrawn')
            throw conflict(`The finding about ${nameOf(row)} has no verdict of a person, so it cannot be reopened.`)
        }
        await store.reopen(tx, ids)
        const before = [...new Set(rows.map(({ verdict }) => alertVerdictLabels[verdict as AlertVerdict]))].join(', ')
        return finish(tx, actor, rows, 'finding.reopened', {
          details: `was ${before}`,
          before,
          after: 'open',
          comment: '',
          event: 'reopened',
        })
      })
      return { reopened }
    },

    /** Halves the points of findings whose devices were removed a further week ago. */
    halve: async (): Promise<void> => {
      async function step(tx: Tx): Promise<boolean> {
        const now = new Date(clock.now())
        const hosts = await store.halvingHosts(tx, now, hostsAtOnce)
        if (hosts.length === 0) return false
        await agents.lockStates(tx, hosts)
        await decisions.reassess(tx, hosts, false)
        await store.halved(tx, await store.halving(tx, hosts, now), now)
        return true
      }
      while (await transactionAgain(db, step));
    },
  }
}

export type Findings = ReturnType<typeof createFindings>
