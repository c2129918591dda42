import type { DeviceReport } from '@portcullis/contract'
import { createAttackTools } from './attack-tools.ts'
import type { ParsedDescriptors } from './descriptors.ts'
import type { Kind } from './icons.ts'
import type {
  Assessment,
  AttackToolRow,
  DeviceTest,
  GenuineRow,
  Imitation,
  NameSupplement,
  VulnerableRow,
} from './knowledge-types.ts'
import { parseUsbIds } from './usb-ids.ts'
import { judgedReport } from './verdict-key.ts'
import { createVulnerabilities } from './vulnerabilities.ts'

/** The files of `knowledge/`, read but not yet understood. */
export interface KnowledgeSources {
  /** Version of the whole folder, from its manifest. */
  version: string
  usbIdsText: string
  attackTools: readonly AttackToolRow[]
  vulnerable: readonly VulnerableRow[]
  genuine: readonly GenuineRow[]
  supplement: NameSupplement
}

/** Serial number patterns in the rows. */
const serialPatterns = ({ attackTools, vulnerable }: KnowledgeSources): RegExp[] => {
  const tests = (row: { when?: DeviceTest; support?: DeviceTest[] }) => [row.when, ...(row.support ?? [])]
  const patterns = [...attackTools, ...vulnerable].flatMap(tests).flatMap((test) => test?.serial ?? [])
  return [...new Set(patterns)].map((pattern) => new RegExp(pattern, 'i'))
}

/** What the product knows about USB devices: names, attack tools, weaknesses. Built once, then only read. */
export const createKnowledge = (sources: KnowledgeSources) => {
  const ids = parseUsbIds(sources.usbIdsText)
  const vendors = new Map(Object.entries(sources.supplement.vendors).map(([vid, { name }]) => [vid, name]))
  const products = new Map(
    Object.entries(sources.supplement.products).map(([key, { name }]) => [key.replace(':', ''), name]),
  )
  const attackTools = createAttackTools(sources.attackTools, sources.genuine)
  const vulnerabilities = createVulnerabilities(sources.vulnerable)
  const serials = serialPatterns(sources)
  return {
    /** What it was built from; another set is made of these with some replaced. */
    sources,
    /** Versions and sizes, for health pages and reports. */
    info: {
      version: sources.version,
      usbIds: ids.version,
      usbIdsNames: ids.vendors.size + ids.products.size,
      vendors: ids.vendors.size + vendors.size,
      products: ids.products.size + products.size,
      attackTools: sources.attackTools.length,
      vulnerabilities: sources.vulnerable.length,
    },
    /** Name of a vendor by its id (four upper-case hex digits), null when unknown. A name proves no identity. */
    vendorName: (vid: string): string | null => ids.vendors.get(vid) ?? vendors.get(vid) ?? null,
    /** Name of a product by its ids, null when unknown. */
    productName: (vid: string, pid: string): string | null =>
      ids.products.get(vid + pid) ?? products.get(vid + pid) ?? null,
    /**
     * Judges one device. Weaknesses of a product are left out for a device that cannot be that product.
     * `kinds` as `classify` gives them.
     */
    assess: (parsed: ParsedDescriptors, report: DeviceReport, kinds: readonly Kind[]): Assessment => {
      const subject = { parsed, report: judgedReport(report), kinds }
      const { finding, contradicts } = attackTools.assess(subject)
      return { attackTool: finding, vulnerabilities: contradicts ? [] : vulnerabilities.assess(subject) }
    },
    /** The genuine products it claims to be by its ids and is out of line with. */
    imitations: (parsed: ParsedDescriptors, report: DeviceReport): Imitation[] =>
      attackTools.imitations({ parsed, report: judgedReport(report), kinds: [] }),
    /** Returns true if a row matches this serial number. The verdict then applies to this device alone. */
    namesSerial: (serial: string): boolean => serials.some((pattern) => pattern.test(serial)),
  }
}

/** See `createKnowledge`. */
export type Knowledge = ReturnType<typeof createKnowledge>
