import type { DeviceReport } from '@portcullis/contract'
import {
  type AttackLevel,
  type Classification,
  classify,
  fingerprints,
  hex4,
  interfaceSet,
  isSynthetic,
  judgedReport,
  type Kind,
  type Knowledge,
  type ParsedDescriptors,
  type PolicyDevice,
  policyDevice,
  severityOf,
  type VerdictInputs,
  type Vulnerability,
  verdictInputs,
  verdictKey,
} from '@portcullis/domain'
import { fold } from '#platform/list/columns.ts'

/**
 * Whether a design counts as vulnerable: the firmware or the model is known to be. A match on a whole family (every
 * device of some vendors) is shown with the device, but would colour half a fleet.
 */
const isVulnerable = (vulnerabilities: readonly Vulnerability[]): boolean =>
  vulnerabilities.some((v) => v.confidence !== 'family')

/** What a verdict looks at beside the design. */
export interface DeviceOfDesign {
  /** Cleaned; empty when the device has none. */
  serial: string
  /** Mbit/s; 0 when not known. */
  speed: number
  portPath: string
}

/** Attack-tool level of one device of a design. */
export type LevelOf = (device: DeviceOfDesign) => AttackLevel | null

/** What the server knows of one design: what it is, what is wrong with it, and what its inventory hash is made of. */
export interface Design {
  id: number
  modelId: number
  /** Model with its set of interfaces. */
  shapeId: number
  /** Cache key of the verdict: two devices share a design if and only if the verdict reads the same inputs for both. */
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
  /** What the policy looks at in every device of it. */
  device: Omit<PolicyDevice, 'serial' | 'attackTool'>
  /** What the hosts of its devices find by the knowledge in force. */
  levelOf: LevelOf
  /** Inputs of the verdict besides descriptors and texts; null for designs that an earlier release stored. */
  judgedBy: VerdictInputs | null
}

/** Increase this when the code for verdicts changes, so that an upgrade re-evaluates stored designs. */
const judgement = 3

/** Knowledge and code revision that produced a stored verdict. */
export const verdictVersion = (knowledgeVersion: string): string => `${knowledgeVersion} r${judgement}`

/** A design as it is stored: without what the knowledge in force says of its devices. */
export type StoredDesign = Omit<Design, 'levelOf'>

/** What a decision about a device of a design looks at: the same as its host sees. */
export const deviceOf = (design: Design, device: DeviceOfDesign): PolicyDevice => ({
  ...design.device,
  serial: device.serial,
  attackTool: design.levelOf(device),
})

/** A report with its design. */
export interface JudgedDevice {
  report: DeviceReport
  design: Design
  serial: string
}

/** A design as it is first seen, before it has an id. */
export interface NewDesign extends Omit<StoredDesign, 'id' | 'modelId' | 'shapeId' | 'judgedBy'> {
  judgedBy: VerdictInputs
  /** Fingerprint over descriptors and texts, as shown to people. */
  exactFingerprint: string
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

/** What the knowledge says is wrong with a device. */
export type Verdict = Pick<
  NewDesign,
  'severity' | 'vulnerable' | 'attackTool' | 'attackToolName' | 'evidence' | 'vulnerabilities' | 'findings'
>

export const verdictBy = (
  knowledge: Knowledge,
  report: DeviceReport,
  parsed: ParsedDescriptors,
  kinds: readonly Kind[],
): Verdict => {
  const { attackTool, vulnerabilities } = knowledge.assess(parsed, report, kinds)
  return {
    severity: severityOf({ vulnerable: isVulnerable(vulnerabilities), attackTool: attackTool?.level ?? null }),
    vulnerable: isVulnerable(vulnerabilities),
    attackTool: attackTool?.level ?? null,
    attackToolName: attackTool?.name ?? '',
    evidence: attackTool === null ? [] : [attackTool.name, ...attackTool.evidence],
    vulnerabilities,
    findings: findingsText(attackTool, vulnerabilities),
  }
}

/** Names of a model; what the device calls itself where the knowledge has none. */
export const namesBy = (
  knowledge: Knowledge,
  device: Pick<NewDesign, 'vid' | 'pid' | 'manufacturer' | 'product'>,
): { vendorName: string; productName: string } => ({
  vendorName: knowledge.vendorName(device.vid) ?? device.manufacturer,
  productName: knowledge.productName(device.vid, device.pid) ?? device.product,
})

/** What a search finds a design by. */
export const foldedText = (
  d: Pick<NewDesign, 'vid' | 'pid' | 'vendorName' | 'productName' | 'manufacturer' | 'product'>,
  kind: string,
): string => fold([d.vid, d.pid, d.vendorName, d.productName, d.manufacturer, d.product, kind].join(' ')).slice(0, 1000)

/** Identity of a design. */
export interface DesignKey {
  fingerprint: string
  exactFingerprint: string
  withoutRevision: string
  judgedBy: VerdictInputs
}

export const designKey = (knowledge: Knowledge, report: DeviceReport, parsed: ParsedDescriptors): DesignKey => {
  const { exact, withoutRevision } = fingerprints(parsed, report)
  const judgedBy = verdictInputs(parsed, report, knowledge.namesSerial)
  return { fingerprint: verdictKey(exact, judgedBy), exactFingerprint: exact, withoutRevision, judgedBy }
}

/** Judges a report by descriptors and knowledge. Pure but for the knowledge it closes over; about 30 µs. */
export const judge = (
  knowledge: Knowledge,
  given: DeviceReport,
  parsed: ParsedDescriptors,
  key: DesignKey,
): NewDesign => {
  const report = judgedReport(given)
  const kind = classify(parsed, report, knowledge.productName(parsed.vid, parsed.pid) ?? '')
  const verdict = verdictBy(knowledge, report, parsed, kind.kinds)
  const { manufacturer = '', product = '', configuration = '' } = report
  const device = { vid: parsed.vid, pid: parsed.pid, manufacturer, product }
  const names = namesBy(knowledge, device)
  return {
    ...verdict,
    ...device,
    ...names,
    ...key,
    ...classified(kind),
    // A system that shows no descriptors may not know all interfaces: not to be compared with those that do.
    interfaces: `${isSynthetic(parsed) ? '~' : ''}${interfaceSet(parsed)}`,
    bcdDevice: hex4(parsed.bcdDevice),
    descriptors: given.descriptors,
    configuration,
    device: policyDevice(parsed, given, null),
    folded: foldedText({ ...device, ...names }, kind.kind),
  }
}

/** A stored classification. */
export const classified = (kind: Classification) => ({
  icon: kind.icon,
  kinds: kind.kinds,
  classCode: hex2(kind.classCode),
  subclassCode: hex2(kind.subclassCode),
  protocolCode: hex2(kind.protocolCode),
})
