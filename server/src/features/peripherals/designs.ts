import type { DeviceReport } from '@portcullis/contract'
import {
  type AttackLevel,
  classify,
  cleanText,
  fingerprints,
  hasSerial,
  hex4,
  interfaceSet,
  type Knowledge,
  type ParsedDescriptors,
  parseReport,
  severityOf,
  type Vulnerability,
} from '@portcullis/domain'
import type { Db } from '#platform/db/db.ts'
import { fold } from '#platform/list/columns.ts'
import type { PeripheralsStore } from './peripherals.store.ts'

/**
 * Whether a design counts as vulnerable: the firmware or the model is known to be. A match on a whole family (every
 * device of some vendors) is shown with the device, but would colour half a fleet.
 */
const isVulnerable = (vulnerabilities: readonly Vulnerability[]): boolean =>
  vulnerabilities.some((v) => v.confidence !== 'family')

/** What the server knows of one design: what it is, what is wrong with it, and what its inventory hash is made of. */
export interface Design {
  id: number
  modelId: number
  fingerprint: string
  vid: string
  pid: string
  vendorName: string
  productName: string
  icon: number
  severity: number
  vulnerable: boolean
  attackTool: AttackLevel | null
  attackToolName: string
  evidence: string[]
  vulnerabilities: Vulnerability[]
  /** For the inventory hash; base64 as the agent sent it. */
  descriptors: string
  manufacturer: string
  product: string
  configuration: string
}

/** A report with its design. */
export interface JudgedDevice {
  report: DeviceReport
  design: Design
  serial: string
}

/** A design as it is first seen, before it has an id. */
export interface NewDesign extends Omit<Design, 'id' | 'modelId'> {
  withoutRevision: string
  kinds: string[]
  classCode: string
  subclassCode: string
  protocolCode: string
  interfaces: string
  bcdDevice: string
  folded: string
  findings: string
}

/** Characters of the designs kept in memory: some 20,000 of real devices; made-up ones may have 16,000 each. */
const cacheLimit = 64_000_000
/** What a design takes beside its texts. */
const designOverhead = 2_000

const hex2 = (value: number): string => value.toString(16).toUpperCase().padStart(2, '0')

const findingsText = (
  attack: { level: AttackLevel; name: string } | null,
  vulnerabilities: readonly Vulnerability[],
): string =>
  [
    ...(attack === null
      ? []
      : [`${attack.level === 'confirmed' ? 'Confirmed' : 'Suspected'} attack tool: ${attack.name}`]),
    ...vulnerabilities.map((v) => `${v.id}: ${v.weakness}`),
  ].join('; ')

/** Judges a report by descriptors and knowledge. Pure but for the knowledge it closes over; about 30 µs. */
const judge = (
  knowledge: Knowledge,
  report: DeviceReport,
  parsed: ParsedDescriptors,
  prints: { exact: string; withoutRevision: string },
): NewDesign => {
  const kind = classify(parsed, report)
  const { attackTool, vulnerabilities } = knowledge.assess(parsed, report, kind.kinds)
  const manufacturer = cleanText(report.manufacturer ?? '')
  const product = cleanText(report.product ?? '')
  const vendorName = knowledge.vendorName(parsed.vid) ?? manufacturer
  const productName = knowledge.productName(parsed.vid, parsed.pid) ?? product
  return {
    fingerprint: prints.exact,
    withoutRevision: prints.withoutRevision,
    vid: parsed.vid,
    pid: parsed.pid,
    vendorName,
    productName,
    icon: kind.icon,
    kinds: kind.kinds,
    classCode: hex2(kind.classCode),
    subclassCode: hex2(kind.subclassCode),
    protocolCode: hex2(kind.protocolCode),
    interfaces: interfaceSet(parsed),
    bcdDevice: hex4(parsed.bcdDevice),
    severity: severityOf({ vulnerable: isVulnerable(vulnerabilities), attackTool: attackTool?.level ?? null }),
    vulnerable: isVulnerable(vulnerabilities),
    attackTool: attackTool?.level ?? null,
    attackToolName: attackTool?.name ?? '',
    evidence: attackTool === null ? [] : [attackTool.name, ...attackTool.evidence],
    vulnerabilities,
    descriptors: report.descriptors,
    manufacturer,
    product,
    configuration: cleanText(report.configuration ?? ''),
    folded: fold([parsed.vid, parsed.pid, vendorName, productName, manufacturer, product, kind.kind].join(' ')).slice(
      0,
      1000,
    ),
    findings: findingsText(attackTool, vulnerabilities),
  }
}

/** Finds or makes the designs of reports. Outside of the report's transaction: a rolled back report may leave a design, no harm. */
export const createDesigns = ({
  db,
  store,
  knowledge,
  limit = cacheLimit,
}: {
  db: Db
  store: PeripheralsStore
  knowledge: Knowledge
  limit?: number
}) => {
  const byPrint = new Map<string, Design>()
  const byId = new Map<number, Design>()

  let kept = 0
  const keep = (design: Design): void => {
    if (kept >= limit) {
      byPrint.clear()
      byId.clear()
      kept = 0
    }
    if (!byId.has(design.id)) kept += designOverhead + design.descriptors.length
    byPrint.set(design.fingerprint, design)
    byId.set(design.id, design)
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
      for (const p of parsed) {
        const known = byPrint.get(p.prints.exact)
        if (known !== undefined) found.set(p.prints.exact, known)
        else if (!missing.has(p.prints.exact))
          missing.set(p.prints.exact, judge(knowledge, p.report, p.descriptors, p.prints))
      }
      if (missing.size > 0)
        for (const design of await store.ensureDesigns(db, [...missing.values()], knowledge.info.version, now)) {
          keep(design)
          found.set(design.fingerprint, design)
        }
      return parsed.map(({ report, descriptors, prints }) => ({
        report,
        design: found.get(prints.exact) as Design,
        serial: hasSerial(descriptors, report) ? cleanText(report.serial ?? '') : '',
      }))
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
          keep(design)
          result.set(design.id, design)
        }
      return result
    },
  }
}
