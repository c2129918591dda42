import { isRootHub } from './device-id.ts'
import type { Subject } from './device-test.ts'
import { claimsHub, isPlainHub } from './hub.ts'
import type { AttackFinding } from './knowledge-types.ts'
import { isAppleBridge, isDeveloperBoard, isModemVendor, isSecurityKey, isTabletVendor } from './known-kinds.ts'
import { cleanText } from './text.ts'

const BEHAVIOUR_SOURCE = 'behaviour of the device'
/** A name that says keyboard or mouse on a device that also stores: found on disguised IP-KVMs in the field. */
const INPUT_NAME = /keyboard|mouse|receiver|input device/i
/** How the controllers of servers name their virtual devices (OpenBMC, AMI MegaRAC, Avocent, iDRAC, iLO). */
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

/** What a management controller of a server calls itself; it sits inside the host. */
export const looksLikeController = ({ report }: Subject): boolean =>
  report.removable !== 'removable' && CONTROLLER_NAME.test(`${report.manufacturer ?? ''} ${report.product ?? ''}`)

/**
 * Why an ordinary device may be keyboard and disk or network at once, in words; null when nothing explains it. A reason
 * never clears a device: it says that the combination alone proves nothing.
 */
const ordinaryReason = (subject: Subject): string | null => {
  const { parsed, report, kinds } = subject
  const { vid, pid } = parsed
  const text = `${report.manufacturer ?? ''} ${report.product ?? ''}`
  if (looksLikeController(subject))
    return 'management controllers of servers offer a virtual keyboard with virtual media'
  if (report.removable === 'fixed') return 'it is built into the host'
  if (isAppleBridge(vid, pid) && report.removable !== 'removable') return 'the bridge of a Mac is all of that'
  if (kinds.includes('Tablet') || isTabletVendor(vid, pid) || TABLET_NAME.test(text))
    return 'pen tablets carry a small disk with their driver'
  if (isSecurityKey(vid, pid)) return 'authenticators of this maker type and store'
  if (isModemVendor(vid, pid)) return 'modems carry a small disk with their driver'
  if (isDeveloperBoard(vid)) return 'developer boards offer a disk for their programs'
  const storage = parsed.configurations.flatMap((c) => c.interfaces).filter((i) => i.class === 0x08)
  if (storage.length > 0 && storage.every((i) => i.subclass === ATAPI) && !kinds.includes('Network'))
    return 'its only disk is a CD-ROM, as drivers come on'
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
    const evidence = `one device is keyboard and ${text}`
    return reason === null
      ? finding('confirmed', `Keyboard with ${text}`, evidence)
      : finding('suspected', `Keyboard with ${text}`, evidence, reason)
  }
  const interfaces = parsed.configurations.flatMap((c) => c.interfaces)
  if (interfaces.some((i) => i.class === 0xff && i.subclass === 0x42 && i.protocol === 1))
    return finding('suspected', 'Keyboard with a debug bridge', 'one device is keyboard and Android debug bridge')
  return null
}

/** What a device does, whatever it calls itself. */
export const behaviour = (subject: Subject): AttackFinding | null => {
  const { parsed, report, kinds } = subject
  const has = (kind: Subject['kinds'][number]): boolean => kinds.includes(kind)
  const typing = typingAndMore(subject)
  if (typing !== null) return typing
  // Hubs pass every policy, so one that can type or store is a way around it; genuine hubs keep such functions behind a port.
  const hidden = kinds.filter((kind) => kind === 'Keyboard' || kind === 'Mass Storage' || kind === 'Network')
  if (has('Hub') && hidden.length > 0)
    return finding(
      'confirmed',
      'Hub with hidden functions',
      `one device is hub and ${hidden.join(' and ').toLowerCase()}`,
    )
  if (parsed.isComplete && claimsHub(parsed) && !isPlainHub(parsed))
    return finding('suspected', 'False hub', 'claims to be a hub but does not have the descriptors of one')
  if (has('Mouse') && has('Mass Storage') && INPUT_NAME.test(report.product ?? ''))
    return finding(
      'suspected',
      'Input device with mass storage',
      `named "${cleanText(report.product ?? '', 80)}" and offers mass storage`,
    )
  if (isRootHub(parsed) && report.portPath.includes('-'))
    return finding('suspected', 'False root hub', `claims the ids of a root hub at port ${report.portPath}`)
  return null
}
