import type { DeviceReport } from '@portcullis/contract/agent-reports.ts'
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
  RegistryNames,
  VulnerableRow,
} from './knowledge-types.ts'
import { fullName, registeredProducts } from './registered.ts'
import { parseUsbIds } from './usb-ids.ts'
import { evaluatedReport } from './verdict-key.ts'
import { createVulnerabilities } from './vulnerabilities.ts'

/** The raw files of `knowledge/`. */
export interface KnowledgeSources {
  /** Version of the folder, from its manifest. */
  version: string
  usbIdsText: string
  attackTools: readonly AttackToolRow[]
  vulnerable: readonly VulnerableRow[]
  genuine: readonly GenuineRow[]
  supplement: NameSupplement
  registries: RegistryNames
}

/** Serial number patterns in the rows. */
const serialPatterns = ({ attackTools, vulnerable }: KnowledgeSources): RegExp[] => {
  const tests = (row: { when?: DeviceTest; support?: DeviceTest[] }) => [row.when, ...(row.support ?? [])]
  const patterns = [...attackTools, ...vulnerable].flatMap(tests).flatMap((test) => test?.serial ?? [])
  return [...new Set(patterns)].map((pattern) => new RegExp(pattern, 'i'))
}

/** Knowledge about USB devices: names, attack tools and vulnerabilities. It is immutable. */
export const createKnowledge = (sources: KnowledgeSources) => {
  const ids = parseUsbIds(sources.usbIdsText)
  const vendors = new Map(Object.entries(sources.supplement.vendors).map(([vid, { name }]) => [vid, name]))
  const products = new Map(
    Object.entries(sources.supplement.products).map(([key, { name }]) => [key.replace(':', ''), name]),
  )
  const registered = registeredProducts(sources.registries)
  const ownerName = (vid: string): string | null => {
    const name = ids.vendors.get(vid) ?? vendors.get(vid) ?? null
    return name?.startsWith('Unassigned') === true ? null : name
  }
  const productName = (vid: string, pid: string): string | null => {
    const product = registered.get(vid + pid)
    if (product?.isAssigned === true) return product.name
    return ids.products.get(vid + pid) ?? products.get(vid + pid) ?? product?.name ?? null
  }
  const attackTools = createAttackTools(sources.attackTools, sources.genuine, productName)
  const vulnerabilities = createVulnerabilities(sources.vulnerable)
  const serials = serialPatterns(sources)
  return {
    /** The source files. A new set replaces some of them. */
    sources,
    /** Versions and sizes, for health and reports. */
    info: {
      version: sources.version,
      usbIds: ids.version,
      usbIdsNames: ids.vendors.size + ids.products.size,
      vendors: ids.vendors.size + vendors.size,
      products: ids.products.size + products.size + registered.size,
      registries: registered.size,
      attackTools: sources.attackTools.length,
      vulnerabilities: sources.vulnerable.length,
    },
    /**
     * Returns the maker of a product by VID and PID (four upper-case hex digits each), or null, also for an unassigned
     * VID. Without a PID, or for a product that is not registered separately, this is the owner of the VID. A name does
     * not prove an identity.
     */
    vendorName: (vid: string, pid?: string): string | null => {
      const product = pid === undefined ? undefined : registered.get(vid + pid)
      return product?.isAssigned === true ? product.maker : ownerName(vid)
    },
    /** Returns the name of a product by VID and PID, or null. The list that assigns the product has precedence. */
    productName,
    /**
     * Evaluates a device. Omits the vulnerabilities of a product if the device cannot be that product. `kinds` are from
     * `classify`.
     */
    assess: (parsed: ParsedDescriptors, report: DeviceReport, kinds: readonly Kind[]): Assessment => {
      const subject = { parsed, report: evaluatedReport(report), kinds }
      const { finding, contradicts } = attackTools.assess(subject)
      const product = registered.get(parsed.vid + parsed.pid)
      if (finding !== null && product?.isAssigned === true) {
        const title = fullName(product)
        if (!finding.name.includes(product.name)) finding.name += `, ids of ${title}`
        finding.evidence.push(`the ids are registered for ${title} (${product.source})`)
      }
      return { attackTool: finding, vulnerabilities: contradicts ? [] : vulnerabilities.assess(subject) }
    },
    /** Returns the genuine products that the device claims to be but differs from. */
    imitations: (parsed: ParsedDescriptors, report: DeviceReport): Imitation[] =>
      attackTools.imitations({ parsed, report: evaluatedReport(report), kinds: [] }),
    /** Returns true if a row matches this serial number. The verdict then applies only to this device. */
    namesSerial: (serial: string): boolean => serials.some((pattern) => pattern.test(serial)),
  }
}

export type Knowledge = ReturnType<typeof createKnowledge>
