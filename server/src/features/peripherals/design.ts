import type { DeviceReport } from '@portcullis/contract'
import {
  type AttackLevel,
  classify,
  cleanText,
  hex4,
  interfaceSet,
  type Knowledge,
  type ParsedDescriptors,
  type PolicyDevice,
  policyDevice,
  severityOf,
  type Vulnerability,
} from '@portcullis/domain'
import { fold } from '#platform/list/columns.ts'

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
  /** Model with its set of interfaces. */
  shapeId: number
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
  /** What the policy looks at, but for the serial number. */
  device: PolicyDevice
}

/** A report with its design. */
export interface JudgedDevice {
  report: DeviceReport
  design: Design
  serial: string
}

/** A design as it is first seen, before it has an id. */
export interface NewDesign extends Omit<Design, 'id' | 'modelId' | 'shapeId'> {
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
export const judge = (
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
    device: policyDevice(parsed, report, attackTool?.level ?? null),
    folded: fold([parsed.vid, parsed.pid, vendorName, productName, manufacturer, product, kind.kind].join(' ')).slice(
      0,
      1000,
    ),
    findings: findingsText(attackTool, vulnerabilities),
  }
}
