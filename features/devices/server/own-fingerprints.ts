import { cleanText, type Knowledge, parseReport, unescapeText, type VerdictInputs } from '@portcullis/domain'
import { type Accepted, withAcceptance } from './accepted.ts'
import type { DevicesContext } from './context.ts'
import { evaluate, fingerprintKey, type NewFingerprint, verdictVersion } from './fingerprint.ts'
import { createPeripheralsStore } from './peripherals.store.ts'
import { newsOf, reportOf } from './reevaluate.ts'
import { createReevaluationStore, type EvaluatedRow, type SerialRow } from './reevaluation.store.ts'

const rowsAtOnce = 5_000

/** Returns the serial number as knowledge compares it. */
const spelledOf = ({ serial }: SerialRow): string => cleanText(unescapeText(serial))

/** Returns the names as the device reported them. */
const reportedNames = ({ reported = {} }: VerdictInputs) =>
  Object.fromEntries(Object.entries(reported).map(([key, name]) => [key, unescapeText(name)]))

/**
 * Assigns a separate fingerprint to each peripheral whose serial number matches the current knowledge, because that
 * verdict applies to no other device. Earlier knowledge may not have matched these serial numbers.
 */
export const createOwnFingerprints = ({ db, clock, agents, knowledge }: DevicesContext, accepted: Accepted) => {
  const store = createReevaluationStore(db)
  const peripherals = createPeripheralsStore(db)
  /** Splits a shared fingerprint: one for each peripheral. */
  const fingerprintsFor = (
    by: Knowledge,
    rows: readonly SerialRow[],
    rowOf: ReadonlyMap<number, EvaluatedRow>,
    known: Awaited<ReturnType<Accepted['all']>>,
  ) =>
    rows.flatMap((row): { row: SerialRow; from: EvaluatedRow; fingerprint: NewFingerprint }[] => {
      const from = rowOf.get(row.design_id)
      const serial = spelledOf(row)
      if (from === undefined || from.judged_by === null || from.judged_by.serial === serial) return []
      const report = { ...reportOf(from, undefined), serial }
      const parsed = parseReport(report)
      const key = fingerprintKey(by, { ...report, ...reportedNames(from.judged_by) }, parsed)
      const fingerprint = evaluate(by, report, parsed, key)
      return [{ row, from, fingerprint: withAcceptance(fingerprint, known.get(fingerprint.device.ruleFingerprint)) }]
    })

  async function move(named: readonly SerialRow[]): Promise<void> {
    const by = knowledge.current()
    const now = new Date(clock.now())
    const rowOf = new Map(
      (await store.byIds(db, [...new Set(named.map((r) => r.design_id))])).map((r) => [r.design_id, r]),
    )
    const own = fingerprintsFor(by, named, rowOf, await accepted.all(db))
    if (own.length === 0) return
    const unique = [...new Map(own.map(({ fingerprint }) => [fingerprint.fingerprint, fingerprint])).values()]
    const stored = await peripherals.ensureFingerprints(db, unique, verdictVersion(by.info.version), now)
    const idOf = new Map(stored.map((fingerprint) => [fingerprint.fingerprint, fingerprint]))
    const agentIds = [...new Set(own.map(({ row }) => row.agent_id))]
    await db.transaction(async (tx) => {
      await agents.lockStates(tx, agentIds)
      const current = new Map((await store.again(tx, named)).map((r) => [`${r.agent_id} ${r.device_id}`, r]))
      const moves = own.flatMap(({ row, from, fingerprint }) => {
        const now = current.get(`${row.agent_id} ${row.device_id}`)
        const to = idOf.get(fingerprint.fingerprint)?.id
        const isSame = now?.design_id === row.design_id && now.serial === row.serial
        return now === undefined || to === undefined || !isSame ? [] : [{ ...now, to, news: newsOf(from, fingerprint) }]
      })
      if (moves.length === 0) return
      const touched = [...new Set(moves.flatMap((m) => [m.design_id, m.to]))]
      const counts = async () =>
        new Map((await store.presentOf(tx, agentIds, touched)).map((r) => [`${r.agent_id} ${r.design_id}`, r] as const))
      const before = await counts()
      await store.moveTo(tx, moves)
      const after = await counts()
      const deltas = new Map(touched.map((id) => [id, { id, hosts: 0, devices: 0 }]))
      for (const key of new Set([...before.keys(), ...after.keys()])) {
        const [was, is] = [before.get(key), after.get(key)]
        const delta = deltas.get((was ?? is)?.design_id ?? 0)
        if (delta === undefined) continue
        delta.devices += (is?.n ?? 0) - (was?.n ?? 0)
        delta.hosts += Number(is !== undefined) - Number(was !== undefined)
      }
      const models = [...new Set(moves.map((m) => rowOf.get(m.design_id)?.model_id ?? 0))]
      await peripherals.moveCounters(tx, now, {
        models: models.map((id) => ({ id, hosts: 0, devices: 0 })),
        shapes: [],
        fingerprints: [...deltas.values()],
      })
    })
  }

  /** Checks all serial numbers, about 200,000 a second. */
  return async (yieldNow: () => Promise<void>): Promise<void> => {
    const { namesSerial } = knowledge.current()
    for (let after = { agentId: '00000000-0000-0000-0000-000000000000', deviceId: '' }; ; ) {
      const rows = await store.withSerial(after, rowsAtOnce)
      const named = rows.filter((row) => namesSerial(spelledOf(row)))
      if (named.length > 0) await move(named)
      const last = rows.at(-1)
      if (last === undefined) return
      after = { agentId: last.agent_id, deviceId: last.device_id }
      await yieldNow()
    }
  }
}
