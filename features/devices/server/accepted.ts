import { createHmac, timingSafeEqual } from 'node:crypto'
import { severityOf } from '@portcullis/domain'
import type { Queryable, Tx } from '@portcullis/platform/server/db/db.ts'
import { type AcceptedRow, createAcceptedStore } from './accepted.store.ts'
import type { DevicesContext } from './context.ts'
import { findingsText, type Verdict } from './fingerprint.ts'

/** Returns a verdict without its suspected finding, if a person accepted this finding. */
export const withAcceptance = <T extends Verdict>(verdict: T, accepted: AcceptedRow | undefined): T =>
  accepted === undefined || verdict.attackTool !== 'suspected' || verdict.attackToolName !== accepted.finding
    ? verdict
    : {
        ...verdict,
        accepted: true,
        attackTool: null,
        attackToolName: '',
        severity: severityOf({ vulnerable: verdict.vulnerable }),
        evidence: [`Accepted by ${accepted.accepted_by}: ${accepted.reason}`, ...verdict.evidence],
        findings: findingsText(null, verdict.vulnerabilities),
      }

/** Stores accepted findings, and ignores rows that this server did not write. */
export const createAccepted = ({ keys, log }: DevicesContext) => {
  const key = keys.derive('accepted-findings')
  const store = createAcceptedStore()
  const reported = new Set<string>()
  const sealOf = (row: Omit<AcceptedRow, 'seal'>): Buffer =>
    createHmac('sha256', key.reveal())
      .update(
        JSON.stringify([
          row.acceptance_id,
          row.fingerprint,
          row.finding,
          row.vid,
          row.pid,
          row.reason,
          row.accepted_at.toISOString(),
          row.accepted_by,
        ]),
      )
      .digest()

  function isAuthentic(row: AcceptedRow): boolean {
    const seal = sealOf(row)
    if (row.seal.length === seal.length && timingSafeEqual(row.seal, seal)) return true
    if (!reported.has(row.acceptance_id))
      log.error({ acceptanceId: row.acceptance_id }, 'ignoring an accepted finding that this server did not write')
    reported.add(row.acceptance_id)
    return false
  }

  return {
    /** Returns the accepted findings by rule fingerprint. */
    all: async (q: Queryable): Promise<ReadonlyMap<string, AcceptedRow>> =>
      new Map((await store.all(q)).filter(isAuthentic).map((row) => [row.fingerprint, row])),
    add: (tx: Tx, row: Omit<AcceptedRow, 'seal'>): Promise<void> => store.add(tx, { ...row, seal: sealOf(row) }),
    remove: store.remove,
    list: store.list,
    inForce: async (q: Queryable): Promise<string[]> => {
      const known = await store.all(q)
      if (known.length === 0) return []
      const open = await store.contested(
        q,
        known.map((row) => row.fingerprint),
      )
      return known.flatMap((row) => (isAuthentic(row) && !open.has(row.fingerprint) ? [row.fingerprint] : []))
    },
    isFoundElsewhere: store.isFoundElsewhere,
    fingerprintIds: store.fingerprintIds,
  }
}

export type Accepted = ReturnType<typeof createAccepted>
