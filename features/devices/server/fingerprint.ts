import {
  type AttackLevel,
  type Classification,
  classify,
  evaluatedReport,
  fingerprints,
  hex4,
  interfaceSet,
  isSynthetic,
  type Kind,
  type Knowledge,
  missingEvidence,
  type ParsedDescriptors,
  type PolicyDevice,
  policyDevice,
  poseWarning,
  severityOf,
  type VerdictInputs,
  type Vulnerability,
  verdictInputs,
  verdictKey,
} from '@portcullis/domain'
import { fold } from '@portcullis/platform/server/list/columns.ts'
import type { DeviceReport, MissingEvidence } from '#features/contract.ts'

/**
 * Returns whether a fingerprint counts as vulnerable: its firmware or its model has a known vulnerability. A match on a
 * whole family (every device of some vendors) is shown with the device, but would flag half a fleet.
 */
const isVulnerable = (vulnerabilities: readonly Vulnerability[]): boolean =>
  vulnerabilities.some((v) => v.confidence !== 'family')

/** The properties of a device that a verdict reads in addition to its fingerprint. */
export interface FingerprintedDevice {
  /** Escaped; empty if the device has none. */
  serial: string
  /** Mbit/s; 0 if unknown. */
  speed: number
  portPath: string
}

/** Returns the attack-tool level of one device with a fingerprint. */
export type LevelOf = (device: FingerprintedDevice) => AttackLevel | null

/** A model fingerprint: what the device is, its findings, and the input of its inventory hash. */
export interface Fingerprint {
  id: number
  modelId: number
  /** Model with its set of interfaces. */
  shapeId: number
  /** Cache key of the verdict: two devices share it if and only if the verdict reads the same inputs for both. */
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
  /** A person accepted the suspected finding about it. */
  accepted: boolean
  evidence: string[]
  vulnerabilities: Vulnerability[]
  /** For the inventory hash; base64 as the agent sent it. */
  descriptors: string
  manufacturer: string
  product: string
  configuration: string
  /** The properties that the policy reads and that all devices with this fingerprint share. */
  device: Omit<PolicyDevice, 'serial' | 'attackTool'>
  /** The attack-tool level that hosts find by the knowledge in force. */
  levelOf: LevelOf
  /** Inputs of the verdict besides descriptors and texts; null: stored by an earlier release. */
  inputs: VerdictInputs | null
}

/** Increase this when the code for verdicts changes, so that an upgrade re-evaluates stored fingerprints. */
const evaluation = 5

export const verdictVersion = (knowledgeVersion: string): string => `${knowledgeVersion} r${evaluation}`

/** A stored fingerprint, without the parts that depend on the knowledge in force. */
export type StoredFingerprint = Omit<Fingerprint, 'levelOf'>

/** Returns the properties of a device that a decision reads, the same as its host sees. */
export const deviceOf = (fingerprint: Fingerprint, device: FingerprintedDevice): PolicyDevice => ({
  ...fingerprint.device,
  serial: device.serial,
  attackTool: fingerprint.levelOf(device),
})

export interface EvaluatedDevice {
  report: DeviceReport
  fingerprint: Fingerprint
  /** Escaped; empty if the device has none. */
  serial: string
}

/** A new fingerprint without an id. */
export interface NewFingerprint extends Omit<StoredFingerprint, 'id' | 'modelId' | 'shapeId' | 'inputs'> {
  inputs: VerdictInputs
  /** Fingerprint over descriptors and texts, as people see it. */
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
  /** Evidence that the verdict could not examine. */
  missingEvidence: MissingEvidence[]
}

const hex2 = (value: number): string => value.toString(16).toUpperCase().padStart(2, '0')

export const findingsText = (
  attack: { level: AttackLevel; name: string } | null,
  vulnerabilities: readonly Vulnerability[],
): string =>
  [
    ...(attack === null
      ? []
      : [`${attack.level === 'confirmed' ? 'Confirmed' : 'Suspected'} attack tool: ${attack.name}`]),
    ...vulnerabilities.map((v) => `${v.id}: ${v.weakness}`),
  ].join('; ')

/** The findings of the knowledge about a device. */
export type Verdict = Pick<
  NewFingerprint,
  | 'severity'
  | 'vulnerable'
  | 'attackTool'
  | 'attackToolName'
  | 'accepted'
  | 'evidence'
  | 'missingEvidence'
  | 'vulnerabilities'
  | 'findings'
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
    accepted: false,
    evidence: [
      ...(attackTool === null ? [] : [attackTool.name, ...attackTool.evidence]),
      ...poseWarning(parsed, kinds),
    ],
    missingEvidence: missingEvidence(parsed, report),
    vulnerabilities,
    findings: findingsText(attackTool, vulnerabilities),
  }
}

/** Returns the names of a model, or the names that the device reports if the knowledge has none. */
export const namesBy = (
  knowledge: Knowledge,
  device: Pick<NewFingerprint, 'vid' | 'pid' | 'manufacturer' | 'product'>,
): { vendorName: string; productName: string } => ({
  vendorName: knowledge.vendorName(device.vid, device.pid) ?? device.manufacturer,
  productName: knowledge.productName(device.vid, device.pid) ?? device.product,
})

/** Returns the text in which a search finds a fingerprint. */
export const foldedText = (
  d: Pick<NewFingerprint, 'vid' | 'pid' | 'vendorName' | 'productName' | 'manufacturer' | 'product'>,
  kind: string,
): string => fold([d.vid, d.pid, d.vendorName, d.productName, d.manufacturer, d.product, kind].join(' ')).slice(0, 1000)

export interface FingerprintKey {
  fingerprint: string
  exactFingerprint: string
  withoutRevision: string
  inputs: VerdictInputs
}

export const fingerprintKey = (
  knowledge: Knowledge,
  report: DeviceReport,
  parsed: ParsedDescriptors,
): FingerprintKey => {
  const { exact, withoutRevision } = fingerprints(parsed, report)
  const inputs = verdictInputs(parsed, report, knowledge.namesSerial)
  return { fingerprint: verdictKey(exact, inputs), exactFingerprint: exact, withoutRevision, inputs }
}

/** Evaluates a report by its descriptors and the knowledge. Pure except for that knowledge; about 30 µs. */
export const evaluate = (
  knowledge: Knowledge,
  given: DeviceReport,
  parsed: ParsedDescriptors,
  key: FingerprintKey,
): NewFingerprint => {
  const report = evaluatedReport(given)
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
    // A system that shows no descriptors may not know all interfaces, so its devices are not compared with others.
    interfaces: `${isSynthetic(parsed) ? '~' : ''}${interfaceSet(parsed)}`,
    bcdDevice: hex4(parsed.bcdDevice),
    descriptors: given.descriptors,
    configuration,
    device: policyDevice(parsed, given, null),
    folded: foldedText({ ...device, ...names }, kind.kind),
  }
}

export const classified = (kind: Classification) => ({
  icon: kind.icon,
  kinds: kind.kinds,
  classCode: hex2(kind.classCode),
  subclassCode: hex2(kind.subclassCode),
  protocolCode: hex2(kind.protocolCode),
})
