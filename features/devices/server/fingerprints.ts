import { escapeText, mustExist, parseReport } from '@portcullis/domain'
import type { DeviceReport } from '#features/contract.ts'
import { type Accepted, withAcceptance } from './accepted.ts'
import type { DevicesContext } from './context.ts'
import {
  type EvaluatedDevice,
  evaluate,
  type Fingerprint,
  fingerprintKey,
  type NewFingerprint,
  type StoredFingerprint,
  verdictVersion,
} from './fingerprint.ts'
import { levelsBy } from './levels.ts'
import type { PeripheralsStore } from './peripherals.store.ts'

/** Limit on cached characters: about 20,000 fingerprints of real devices. A made-up fingerprint may have 16,000. */
const cacheLimit = 64_000_000
/** Number of fingerprints per statement: about 50 ms of work. */
const namedAtOnce = 500
/** Overhead of a fingerprint in addition to its texts. */
const fingerprintOverhead = 2_000

const sizeOf = ({ descriptors, inputs }: StoredFingerprint): number =>
  descriptors.length + (inputs?.reportDescriptors ?? []).reduce((sum, text) => sum + text.length, 0)

export type Fingerprints = ReturnType<typeof createFingerprints>

/**
 * Finds or creates the fingerprints of reports, outside the report's transaction: a fingerprint left by a rolled-back
 * report is harmless.
 */
export const createFingerprints = ({
  db,
  store,
  knowledge,
  accepted,
  limit = cacheLimit,
}: DevicesContext & {
  store: PeripheralsStore
  accepted: Pick<Accepted, 'all'>
  limit?: number
}) => {
  const byPrint = new Map<string, Fingerprint>()
  const byId = new Map<number, Fingerprint>()

  let kept = 0
  function keep(stored: StoredFingerprint): Fingerprint {
    const levels = levelsBy(knowledge.current(), stored)
    const levelOf: Fingerprint['levelOf'] = (device) => {
      const level = levels(device)
      return level === 'suspected' && stored.accepted ? null : level
    }
    const fingerprint = { ...stored, levelOf }
    if (kept >= limit) {
      byPrint.clear()
      byId.clear()
      kept = 0
    }
    if (!byId.has(fingerprint.id)) kept += fingerprintOverhead + sizeOf(fingerprint)
    byPrint.set(fingerprint.fingerprint, fingerprint)
    byId.set(fingerprint.id, fingerprint)
    return fingerprint
  }

  return {
    evaluateAll: async (reports: readonly DeviceReport[], now: Date): Promise<EvaluatedDevice[]> => {
      const by = knowledge.current()
      const parsed = reports.map((report) => {
        const descriptors = parseReport(report)
        return { report, descriptors, key: fingerprintKey(by, report, descriptors) }
      })
      // Kept here because caching one fingerprint may evict all others.
      const found = new Map<string, Fingerprint>()
      const missing = new Map<string, NewFingerprint>()
      for (const { report, descriptors, key } of parsed) {
        const known = byPrint.get(key.fingerprint)
        if (known !== undefined) found.set(key.fingerprint, known)
        else if (!missing.has(key.fingerprint)) missing.set(key.fingerprint, evaluate(by, report, descriptors, key))
      }
      if (missing.size > 0) {
        const version = verdictVersion(by.info.version)
        // Almost no new fingerprint has a finding.
        const isSuspected = [...missing.values()].some(({ attackTool }) => attackTool === 'suspected')
        const known = isSuspected ? await accepted.all(db) : new Map()
        const evaluated = [...missing.values()].map((one) => withAcceptance(one, known.get(one.device.ruleFingerprint)))
        for (const fingerprint of await store.ensureFingerprints(db, evaluated, version, now))
          found.set(fingerprint.fingerprint, keep(fingerprint))
      }
      return parsed.map(({ report, key }) => ({
        report,
        fingerprint: mustExist(found.get(key.fingerprint), 'the fingerprint of a report'),
        serial: escapeText(report.serial ?? ''),
      }))
    },

    /** Clears the cache, because stored fingerprints changed. */
    forget: (): void => {
      byPrint.clear()
      byId.clear()
      kept = 0
    },

    byIds,

    /** Computes the rule fingerprints of devices that were stored by an earlier release. */
    nameRuleFingerprints: async (): Promise<void> => {
      for (;;) {
        const ids = await store.withoutRuleFingerprint(namedAtOnce)
        if (ids.length === 0) return
        await store.writeRuleFingerprints([...(await byIds(ids)).values()])
      }
    },
  }

  /** Returns fingerprints by id, from memory or the database. */
  async function byIds(ids: readonly number[]): Promise<ReadonlyMap<number, Fingerprint>> {
    const missing = [...new Set(ids)].filter((id) => !byId.has(id))
    const result = new Map<number, Fingerprint>()
    for (const id of ids) {
      const fingerprint = byId.get(id)
      if (fingerprint !== undefined) result.set(id, fingerprint)
    }
    if (missing.length > 0)
      for (const fingerprint of await store.fingerprintsById(missing)) {
        result.set(fingerprint.id, keep(fingerprint))
      }
    return result
  }
}
