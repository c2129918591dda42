import type { Kind } from './icons.ts'
import type { AttackLevel } from './risk.ts'

/** The conditions of a row. All of them must match. Patterns are case-insensitive regular expressions. */
export interface DeviceTest {
  manufacturer?: string
  product?: string
  serial?: string
  configuration?: string
  /** Number of distinct interfaces in the first configuration. */
  interfaceCount?: number
  maxPowerMa?: number
  /** Four hex digits. */
  bcdDevice?: string
  selfPowered?: boolean
  hasSerial?: boolean
  /** Minimum negotiated speed in Mbit/s. */
  minSpeedMbps?: number
  /** The device has at least one of these kinds. */
  anyKind?: Kind[]
}

/**
 * A row of `attack-tools.json`. `own`: VID and PID of the tool itself; a match is a finding. `board`: developer boards; a
 * finding if the board can type and `when` matches, otherwise a name for a keyboard with the structure of a board. `real`:
 * VID and PID of ordinary products; a finding only with `when`, and any match in `support` confirms it. `strings`: only
 * `when` counts, for any VID and PID. `policy`: known, but never a finding.
 */
export interface AttackToolRow {
  id: string
  group: 'own' | 'board' | 'real' | 'strings' | 'policy'
  vid?: string
  /** Absent: all products of the vendor. */
  pid?: string
  /** Last PID of a range that starts at `pid`. */
  pidTo?: string
  name: string
  kind: string
  when?: DeviceTest
  support?: DeviceTest[]
  /** An ordinary product with the same VID and PID. The finding names both unless an entry in `support` matches. */
  sharedWith?: string
  source: string
}

/** Basis of a vulnerability match: the firmware, the model, or only the product family. */
export type Confidence = 'firmware' | 'model' | 'family'

/** Affected firmware as bcdDevice in four hex digits. Ranges are half-open. Other firmware is not affected. */
export interface FirmwareCondition {
  exact?: string[]
  branches?: { from: string; below: string; confidence?: Confidence }[]
}

/** A row of `vulnerable-peripherals.json`. */
export interface VulnerableRow {
  /** CVE ID or name of the advisory. */
  id: string
  /** `id`: by VID and PID. `strings`: by `when`, within `vid` if present. `none`: known, but not detectable over USB. */
  match: 'id' | 'strings' | 'none'
  vid: string | null
  pid: string | null
  pidTo?: string
  vendor: string
  product: string
  when?: DeviceTest
  firmware?: FirmwareCondition
  /** Confidence of rows without `firmware`. Default: `model`. */
  confidence?: Confidence
  /** Other products with the same VID and PID. Without `when`, a match has the confidence `family`. */
  sharedWith?: string
  /** The condition as text, from the source. */
  condition: string
  weakness: string
  cvss: number | null
  cvssVersion?: string
  note?: string
  source: string
}

/** A row of `genuine-descriptors.json`: a product that has only HID interfaces. */
export interface GenuineRow {
  vid: string
  pid: string
  name: string
  /** Interface classes of the product, two lower-case hex digits each. */
  classes: string[]
  /** Number of computers on which it had only these classes; 0 if they follow from what the product is. */
  samples: number
  source: string
  /** Present in rows of older sets that describe few recordings. Such rows have no effect. */
  bcd?: string[]
}

/** Names for vendors and products (`VVVV:PPPP`) that usb.ids lacks. */
export interface NameSupplement {
  vendors: Record<string, { name: string; source: string }>
  products: Record<string, { name: string; source: string }>
}

/** Products in public lists (`registries.json`), by `VVVV:PPPP`, or `VVVV:PPPP-PPPP` for a range. */
export interface RegistryNames {
  /** A source with `vid` assigns the products of that vendor ID, so its names are authoritative. */
  sources: Record<string, { url: string; version: string; date: string; licence: string; vid?: string | undefined }>
  /** `[source, product]` or `[source, product, maker]`. */
  products: Record<string, string[]>
}

/** A finding that a device is, or may be, an attack tool. */
export interface AttackFinding {
  level: AttackLevel
  /** Name of the tool, or of the imitated product. */
  name: string
  /** Evidence, as text. */
  evidence: string[]
  source: string
}

/** A device that has the VID and PID of a genuine product but differs from it. */
export interface Imitation {
  level: AttackLevel
  name: string
  /** The claimed product. */
  row: GenuineRow
  /** The differences, as text. */
  evidence: string[]
}

/** A published vulnerability of a device. */
export interface Vulnerability {
  id: string
  weakness: string
  /** CVSS base score. Null if none was published. */
  cvss: number | null
  confidence: Confidence
  /** Affected firmware, as text. Empty if the source names none. */
  firmwareCondition: string
  source: string
}

/** The findings of the knowledge about a device. */
export interface Assessment {
  attackTool: AttackFinding | null
  vulnerabilities: Vulnerability[]
}
