import { isRootHub } from './device-id.ts'
import type { Subject } from './device-test.ts'
import { claimsHub, isPlainHub } from './hub.ts'
import type { AttackFinding } from './knowledge-types.ts'
import { isAppleBridge, isDeveloperBoard, isModemVendor, isSecurityKey, isTabletVendor } from './known-kinds.ts'
import { cleanText } from './text.ts'

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

/** Returns true if a device has the name of a server management controller and may be inside the host. */
export const looksLikeController = ({ report }: Subject): boolean =>
  report.removable !== 'removable' && CONTROLLER_NAME.test(`${report.manufacturer ?? ''} ${report.product ?? ''}`)

/**
 * Returns the reason why an ordinary device may combine a keyboard with a disk or network, or null. A
 * reason never clears a device: it only means that the combination alone proves nothing.
 */
const ordinaryReason = (subject: Subject): string | null => {
  const { parsed, report, kinds } = subject
  const { vid, pid } = parsed
  const text = `${report.manufacturer ?? ''} ${report.product ?? ''}`
  if (looksLikeController(subject)) return 'server management controllers provide a virtual keyboard and virtual media'
  if (report.removable === 'fixed') return 'the device is built into the host'
  if (isAppleBridge(vid, pid) && report.removable !== 'removable')
    return 'the internal bridge of a Mac combines these functions'
  if (kinds.includes('Tablet') || isTabletVendor(vid, pid) || TABLET_NAME.test(text))
    return 'pen tablets often include a small disk with their driver'
  if (isSecurityKey(vid, pid)) return 'authenticators from this vendor can type and store data'
  if (isModemVendor(vid, pid)) return 'modems often include a small disk with their driver'
  if (isDeveloperBoard(vid)) return 'developer boards provide a disk for programs'
  const storage = parsed.configurations.flatMap((c) => c.interfaces).filter((i) => i.class === 0x08)
  if (storage.length > 0 && storage.every((i) => i.subclass === ATAPI) && !kinds.includes('Network'))
    return 'its only disk is a CD-ROM, which often contains drivers'
  return null
}

const typingAndMore = (subject: Subject): AttackFinding | null => {
  const { parsed, report, kinds } = subject
  if (!kinds.includes('Keyboard')) return null
  const others = kinds.filter((kind) => kind === 'Mass Storage' || kind === 'Network')
  if (others.length > 0) {
    const text = others.join(' and ').toLowerCase()
    const reason = ordinaryReason(subject)
    if (reason !== null && isAppleBridge(parsed.vid, parsed.pid) && report.removable === 'fixed') return null
    const evidence = `one device combines a keyboard and ${text}`
    return reason === null
      ? finding('confirmed', `Keyboard with ${text}`, evidence)
      : finding('suspected', `Keyboard with ${text}`, evidence, reason)
  }
  const interfaces = parsed.configurations.flatMap((c) => c.interfaces)
  if (interfaces.some((i) => i.class === 0xff && i.subclass === 0x42 && i.protocol === 1))
    return finding(
      'suspected',
      'Keyboard with a debug bridge',
      'one device combines a keyboard and an Android debug bridge',
    )
  return null
}

/** Evaluates the capabilities of a device, whatever its name. */
export const behaviour = (subject: Subject): AttackFinding | null => {
  const { parsed, report, kinds } = subject
  const has = (kind: Subject['kinds'][number]): boolean => kinds.includes(kind)
  const typing = typingAndMore(subject)
  if (typing !== null) return typing
  // Every policy allows hubs, so a hub that can type or store data bypasses it. Genuine hubs have such functions behind a port.
  const hidden = kinds.filter((kind) => kind === 'Keyboard' || kind === 'Mass Storage' || kind === 'Network')
  if (has('Hub') && hidden.length > 0)
    return finding(
      'confirmed',
      'Hub with hidden functions',
      `one device combines a hub and ${hidden.join(' and ').toLowerCase()}`,
    )
  if (parsed.isComplete && claimsHub(parsed) && !isPlainHub(parsed))
    return finding('suspected', 'False hub', 'claims to be a hub but does not have the descriptors of a hub')
  if (has('Mouse') && has('Mass Storage') && INPUT_NAME.test(report.product ?? ''))
    return finding(
      'suspected',
      'Input device with mass storage',
      `named "${cleanText(report.product ?? '', 80)}" but has mass storage`,
    )
  if (isRootHub(parsed) && report.portPath.includes('-'))
    // The port is not part of the evidence, because devices with the same fingerprint share a verdict.
    return finding('suspected', 'False root hub', 'claims to be a root hub but is plugged into a port')
  return null
}
