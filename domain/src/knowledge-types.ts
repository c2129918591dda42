import type { Kind } from './icons.ts'
import type { AttackLevel } from './risk.ts'

/** What a row may ask of a device. Every member that is there has to hold; patterns are regular expressions, case ignored. */
export interface DeviceTest {
  manufacturer?: string
  product?: string
  serial?: string
  configuration?: string
  /** Distinct interfaces of the first configuration. */
  interfaceCount?: number
  maxPowerMa?: number
  /** Four hex digits. */
  bcdDevice?: string
  selfPowered?: boolean
  hasSerial?: boolean
  /** Negotiated speed in Mbit/s at least this. */
  minSpeedMbps?: number
  /** At least one of these kinds. */
  anyKind?: Kind[]
}

/**
 * A row of `attack-tools.json`. `own`: ids of the tool itself, a match is enough. `board`: developer boards, a finding
 * when one can type. `real`: ids of products in the shops, a finding only with `when`; each of `support` that holds
 * confirms it. `strings`: `when` alone, whatever the id. `policy`: known, never a finding by itself.
 */
export interface AttackToolRow {
  id: string
  group: 'own' | 'board' | 'real' | 'strings' | 'policy'
  vid?: string
  /** Absent: every product of the vendor. */
  pid?: string
  /** Last product id of a range that starts at `pid`. */
  pidTo?: string
  name: string
  kind: string
  when?: DeviceTest
  support?: DeviceTest[]
  /** An ordinary product with the same ids. The finding names both, unless an entry of `support` tells them apart. */
  sharedWith?: string
  source: string
}

/** How sure it is that the weakness is in this device: by its firmware, by its model, or by its maker only. */
export type Confidence = 'firmware' | 'model' | 'family'

/** Which firmware is affected, as bcdDevice in four hex digits; ranges are half-open. Anything outside is not. */
export interface FirmwareCondition {
  exact?: string[]
  branches?: { from: string; below: string; confidence?: Confidence }[]
}

/** A row of `vulnerable-peripherals.json`. */
export interface VulnerableRow {
  /** CVE or the advisory's name. */
  id: string
  /** `id`: by vid and pid; `strings`: by `when` (within `vid`, when given); `none`: known, cannot be told from outside. */
  match: 'id' | 'strings' | 'none'
  vid: string | null
  pid: string | null
  pidTo?: string
  vendor: string
  product: string
  when?: DeviceTest
  firmware?: FirmwareCondition
  /** When the row does not say `firmware`: `model` unless given. */
  confidence?: Confidence
  /** The condition in words, as the source has it. */
  condition: string
  weakness: string
  cvss: number | null
  cvssVersion?: string
  note?: string
  source: string
}

/** Facts of a genuine product that an impostor tends to get wrong; a row of `genuine-descriptors.json`. */
export interface GenuineRow {
  vid: string
  pid: string
  name: string
  /** Interface classes (two lower-case hex digits) the product has; any other one is no part of it. */
  classes: string[]
  interfaceSets?: string[]
  serial?: 'never'
  maxSpeedMbps?: number
  ep0?: number[]
  /** First two digits of bcdDevice. */
  bcdMajor?: string[]
  /** Recorded revisions, four hex digits each. For other revisions, a single difference proves nothing. */
  bcd?: string[]
  /** Current in mA that the first configuration requests. */
  powerMa?: number[]
  /** Length of the longest interrupt IN packet of a boot keyboard or mouse. */
  bootPacket?: number[]
  manufacturer?: string
  product?: string
  configuration?: string
  /** Number of recordings of genuine devices with these facts; 0 if the facts follow from what the product is. */
  samples: number
  source: string
}

/** Names for vendors and products (`VVVV:PPPP`) that usb.ids lacks. */
export interface NameSupplement {
  vendors: Record<string, { name: string; source: string }>
  products: Record<string, { name: string; source: string }>
}

/** A device found to be, or to look like, an attack tool. */
export interface AttackFinding {
  level: AttackLevel
  /** Name of the tool, or what the device pretends to be. */
  name: string
  /** What was seen, for people. */
  evidence: string[]
  source: string
}

/** A device that claims the ids of a genuine product and is out of line with it. */
export interface Imitation {
  level: AttackLevel
  name: string
  /** The product it claims to be. */
  row: GenuineRow
  /** What differs, for people. */
  evidence: string[]
}

/** A published weakness of a device. */
export interface Vulnerability {
  id: string
  weakness: string
  /** CVSS base score; null when none was published. */
  cvss: number | null
  confidence: Confidence
  /** Affected firmware in words; empty when the source names none. */
  firmwareCondition: string
  source: string
}

/** What the knowledge says about one device. */
export interface Assessment {
  attackTool: AttackFinding | null
  vulnerabilities: Vulnerability[]
}
