import type { DeviceReport } from '@portcullis/contract'
import { cleanText, fingerprints, hasSerial, type Knowledge, parseReport } from '@portcullis/domain'
import type { Db } from '#platform/db/db.ts'
import { type Design, type JudgedDevice, judge, type NewDesign, type StoredDesign } from './design.ts'
import { levelsBy } from './levels.ts'
import type { PeripheralsStore } from './peripherals.store.ts'

/** Characters of the designs kept in memory: some 20,000 of real devices; made-up ones may have 16,000 each. */
const cacheLimit = 64_000_000
/** What a design takes beside its texts. */
const designOverhead = 2_000

/** Finds or makes the designs of reports. Outside of the report's transaction: a rolled back report may leave a design, no harm. */
export const createDesigns = ({
  db,
  store,
  knowledge,
  onReports = async () => {},
  limit = cacheLimit,
}: {
  db: Db
  store: PeripheralsStore
  /** The knowledge in force. */
  knowledge(): Knowledge
  /** A design was judged without report descriptors, and here is a report that has them. */
  onReports?(designId: number, report: DeviceReport): Promise<void>
  limit?: number
}) => {
  const byPrint = new Map<string, Design>()
  const byId = new Map<number, Design>()

  let kept = 0
  const keep = (stored: StoredDesign): Design => {
    const design = { ...stored, levelOf: levelsBy(knowledge(), stored) }
    if (kept >= limit) {
      byPrint.clear()
      byId.clear()
      kept = 0
    }
    if (!byId.has(design.id)) kept += designOverhead + design.descriptors.length
    byPrint.set(design.fingerprint, design)
    byId.set(design.id, design)
    return design
  }

  return {
    judgeAll: async (reports: readonly DeviceReport[], now: Date): Promise<JudgedDevice[]> => {
      const parsed = reports.map((report) => {
        const descriptors = parseReport(report)
        return { report, descriptors, prints: fingerprints(descriptors, report) }
      })
      // Held here, because keeping one design may let go of all the others.
      const found = new Map<string, Design>()
      const missing = new Map<string, NewDesign>()
      const by = knowledge()
      for (const p of parsed) {
        const known = byPrint.get(p.prints.exact)
        if (known !== undefined) found.set(p.prints.exact, known)
        else if (!missing.has(p.prints.exact)) missing.set(p.prints.exact, judge(by, p.report, p.descriptors, p.prints))
      }
      if (missing.size > 0)
        for (const design of await store.ensureDesigns(db, [...missing.values()], by.info.version, now)) {
          found.set(design.fingerprint, keep(design))
        }
      const again = new Map<number, DeviceReport>()
      for (const { report, prints } of parsed) {
        const design = found.get(prints.exact)
        if (design?.sawReports === false && (report.reportDescriptors ?? []).length > 0) again.set(design.id, report)
      }
      for (const [id, report] of again) await onReports(id, report)
      if (again.size > 0)
        for (const design of await store.designsById([...again.keys()])) {
          found.set(design.fingerprint, keep(design))
        }
      return parsed.map(({ report, descriptors, prints }) => ({
        report,
        design: found.get(prints.exact) as Design,
        serial: hasSerial(descriptors, report) ? cleanText(report.serial ?? '') : '',
      }))
    },

    /** Lets go of all that is in memory: what is stored changed. */
    forget: (): void => {
      byPrint.clear()
      byId.clear()
      kept = 0
    },

    /** Designs by id, from memory or the database. */
    byIds: async (ids: readonly number[]): Promise<ReadonlyMap<number, Design>> => {
      const missing = [...new Set(ids)].filter((id) => !byId.has(id))
      const result = new Map<number, Design>()
      for (const id of ids) {
        const design = byId.get(id)
        if (design !== undefined) result.set(id, design)
      }
      if (missing.length > 0)
        for (const design of await store.designsById(missing)) {
          result.set(design.id, keep(design))
        }
      return result
    },
  }
}
