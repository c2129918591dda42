import { isRootHub } from './device-id.ts'
import type { Subject } from './device-test.ts'
import { claimsHub, isPlainHub } from './hub.ts'
import type { AttackFinding } from './knowledge-types.ts'
import {
  isAppleBridge,
  isKeyboardProduct,
  isModemVendor,
  isSecurityKey,
  isSharedVendor,
  isTabletVendor,
} from './known-kinds.ts'
import { cleanText } from './text.ts'
import { areEnough, canType, type Mark } from './typing.ts'

const BEHAVIOUR_SOURCE = 'behaviour of the device'
/** Names of keyboards and mice. On a device with storage they are suspicious: disguised IP-KVMs use such names. */
const INPUT_NAME = /keyboard|mouse|receiver|input device/i
/** Names that server management controllers give their virtual devices (OpenBMC, AMI MegaRAC, Avocent, iDRAC, iLO). */
const CONTROLLER_NAME =
  /open ?bmc|virtual[ _-]?(?:input|media|keyboard|hid|usb)|\bbmc\b|idrac|\bilo\b|avocent|american megatrends|megarac|supermicro|aspeed|\bxcc\b/i
const TABLET_NAME = /tablet|digiti[sz]er|\bpen\b|huion|gaomon|xp-?pen|ugee|veikk|parblo|wacom|10moons|letsketch|vson/i
const ATAPI = 0x02

const finding = (level: AttackFinding['level'], name: string, ...evidence: string[]): AttackFinding => ({
  level,
  name,
  evidence,
  source: BEHAVIOUR_SOURCE,
})

// Stryker disable next-line StringLiteral: No pattern matches this text.
const namesOf = ({ manufacturer = '', product = '' }: Subject['report']): string => `${manufacturer} ${product}`

/** Returns true if a device has the name of a server management controller and may be inside the host. */
export const looksLikeController = ({ report }: Subject): boolean =>
  report.removable !== 'removable' && CONTROLLER_NAME.test(namesOf(report))

/** Returns true if an ordinary device may combine a keyboard with a disk, network or debug bridge. */
const isOrdinary = (subject: Subject): boolean => {
  const { parsed, report, kinds } = subject
  const { vid, pid } = parsed
  if (report.removable === 'fixed' || looksLikeController(subject)) return true
  if (isAppleBridge(vid, pid) && report.removable !== 'removable') return true
  if (kinds.includes('Tablet') || kinds.includes('Modem') || isTabletVendor(vid, pid)) return true
  if (TABLET_NAME.test(namesOf(report))) return true
  if (isSecurityKey(vid, pid) || isModemVendor(vid, pid) || isKeyboardProduct(vid, report)) return true
  const storage = parsed.configurations.flatMap((c) => c.interfaces).filter((i) => i.class === 0x08)
  return storage.length > 0 && storage.every((i) => i.subclass === ATAPI) && !kinds.includes('Network')
}

/** The combination alone is suspected. It is confirmed with the marks of a gadget that claims the ids of a vendor. */
const typingAndMore = (subject: Subject, marks: readonly Mark[]): AttackFinding | null => {
  const { parsed, kinds } = subject
  if (!canType(subject)) return null
  const interfaces = parsed.configurations.flatMap((c) => c.interfaces)
  const others: string[] = kinds.filter((kind) => kind === 'Mass Storage' || kind === 'Network')
  if (interfaces.some((i) => i.class === 0xff && i.subclass === 0x42 && i.protocol === 1)) others.push('debug bridge')
  if (others.length === 0 || isOrdinary(subject)) return null
  const text = others.join(' and ').toLowerCase()
  const level = areEnough(marks) && !isSharedVendor(parsed.vid) ? 'confirmed' : 'suspected'
  return finding(level, `Keyboard with ${text}`, `one device combines a keyboard and ${text}`)
}

/** Evaluates the capabilities of a device, whatever its name. */
export const behaviour = (subject: Subject, marks: readonly Mark[]): AttackFinding | null => {
  const { parsed, report, kinds } = subject
  // Stryker disable next-line StringLiteral: No pattern matches this text.
  const { product = '' } = report
  const has = (kind: Subject['kinds'][number]): boolean => kinds.includes(kind)
  // Every policy allows hubs, so a hub that can type or store data bypasses it. Genuine hubs have such functions behind a port.
  const hidden = kinds.filter((kind) => kind === 'Keyboard' || kind === 'Mass Storage' || kind === 'Network')
  if (has('Hub') && hidden.length > 0)
    return finding(
      'confirmed',
      'Hub with hidden functions',
      `one device combines a hub and ${hidden.join(' and ').toLowerCase()}`,
    )
  const typing = typingAndMore(subject, marks)
  if (typing !== null) return typing
  // Without an endpoint of another class, the device cannot act at all.
  const acts = parsed.configurations.some((c) => c.interfaces.some((i) => i.class !== 9 || i.endpoints.length > 0))
  if (acts && parsed.isComplete && claimsHub(parsed) && !isPlainHub(parsed))
    return finding('suspected', 'False hub', 'claims to be a hub but does not have the descriptors of a hub')
  if (has('Mouse') && has('Mass Storage') && INPUT_NAME.test(product))
    return finding(
      'suspected',
      'Input device with mass storage',
      `named "${cleanText(product, 80)}" but has mass storage`,
    )
  if (isRootHub(parsed) && report.portPath.includes('-'))
    // The port is not part of the evidence, because devices with the same fingerprint share a verdict.
    return finding('suspected', 'False root hub', 'claims to be a root hub but is plugged into a port')
  return null
}
