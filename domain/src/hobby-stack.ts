import type { ParsedDescriptors } from './descriptors.ts'
import type { Subject } from './device-test.ts'
import type { AttackFinding } from './knowledge-types.ts'

/**
 * Characteristics of USB stacks for hobby keyboards that commercial keyboards do not have. Each is a default in the source
 * code of a stack: V-USB, LUFA, Arduino's PluggableUSB, TinyUSB, Maple, CH55xduino, Linux's f_hid and raw-gadget.
 */
interface Habit {
  points: number
  /** True if many ordinary devices have this characteristic, so it counts only together with another one. */
  isCommon?: boolean
  evidence: string
}

const INTERRUPT = 3
const BOOT_REPORT = 8
const HIGH_SPEED = 480

/** Default VIDs and PIDs of stacks, and those for hobbyists (V-USB, pid.codes, OpenMoko, TinyUSB, Maple, raw-gadget's example). */
const hobbyVendors: ReadonlySet<string> = new Set(['16C0', '1209', '1D50', '1EAF', 'CAFE', 'F055', '4242', '1D6B'])
/**
 * Vendors of mechanical keyboards with QMK or ZMK firmware, which uses the same stacks (VIDs in the keyboards of
 * qmk_firmware and zmk, facts). Characteristics alone prove nothing about these. FEED is the VID of keyboards without a
 * vendor.
 */
const keyboardFirmwareVendors: ReadonlySet<string> = new Set([
  'FEED',
  '3434',
  '3297',
  '4653',
  '4B42',
  '5957',
  '6D66',
  '8968',
  'A103',
  'C2AB',
  'CB10',
  'D010',
  'FC32',
  '320F',
  '342D',
  '36B0',
  '3151',
  '1D50',
  '1EA7',
])
const keyboardFirmwareText = /\bqmk\b|\bzmk\b|\bvial\b|keychron|drop\b|ergodox|moonlander|planck|glorious|corne|ploopy/i

const keyboardsOf = (parsed: ParsedDescriptors) =>
  (parsed.configurations[0]?.interfaces ?? []).filter((i) => i.class === 0x03 && (i.protocol === 1 || i.subclass === 0))

const habitsOf = ({ parsed, report }: Subject): Habit[] => {
  const found: Habit[] = []
  const count = new Set(parsed.configurations[0]?.interfaces.map((i) => i.number)).size
  const add = (points: number, evidence: string) => found.push({ points, evidence })
  const common = (evidence: string) => found.push({ points: 1, evidence, isCommon: true })
  const [configuration] = parsed.configurations
  const keyboards = keyboardsOf(parsed)
  const endpoints = keyboards.flatMap((i) => i.endpoints.filter((e) => (e.attributes & 3) === INTERRUPT))
  const boot = keyboards.filter((i) => i.protocol === 1)
  const bootIn = boot.flatMap((i) => i.endpoints.filter((e) => (e.address & 0x80) !== 0))
  if ((report.speedMbps ?? 0) >= HIGH_SPEED && boot.length > 0)
    add(2, `the keyboard runs at ${report.speedMbps} Mbit/s`)
  if (bootIn.some((e) => (e.maxPacketSize & 0x7ff) > BOOT_REPORT))
    add(
      1,
      `its boot keyboard sends packets of ${Math.max(...bootIn.map((e) => e.maxPacketSize & 0x7ff))} bytes instead of 8`,
    )
  if (boot.some((i) => i.endpoints.some((e) => (e.address & 0x80) === 0)))
    add(1, 'its boot keyboard has an output endpoint, as in Linux gadgets and LUFA')
  if (keyboards.some((i) => i.hid?.bcdHid === 0x0101))
    add(1, 'its HID version is 1.01, as in V-USB, PluggableUSB and f_hid')
  if (parsed.maxPacketSize0 === 64 && parsed.bcdDevice === 0x0100)
    common('it has revision 0100 and control packets of 64 bytes')
  if (count === 1 && parsed.maxPacketSize0 === 64) common('it has a single interface and control packets of 64 bytes')
  if (((configuration?.attributes ?? 0) & 0x40) !== 0) common('it claims to be self-powered')
  if ((configuration?.maxPowerMa ?? 0) === 500 && count === 1) common('it requests 500 mA with a single interface')
  const texts = [report.manufacturer, report.product].filter((text) => text !== undefined)
  if (texts.length === 0 && parsed.iManufacturer === 0 && parsed.iProduct === 0) common('it has no name')
  if (texts.some((text) => text.length === 1)) add(2, 'its name is a single letter')
  if (
    texts.some((text) =>
      /^(?:arduino|tinyusb|leaflabs|maple|stm32duino|dean camera|obdev\.at|lufa|ch55x)\b/i.test(text),
    )
  )
    add(2, `its name is that of a stack or board: "${texts.join(' ')}"`)
  if (hobbyVendors.has(parsed.vid)) add(1, `vendor id ${parsed.vid} is common in hobby projects`)
  if ((configuration?.interfaces ?? []).some((i) => i.class === 0x02 && i.subclass === 2) && endpoints.length > 0)
    common('it combines a keyboard and a serial port')
  return found
}

/** Minimum number of points for a finding. */
const enough = 3

/**
 * Detects keyboards with characteristics of a hobby USB stack. The result is at most suspected, because mechanical keyboards
 * also use these stacks. Ignores keyboards of known vendors, and hosts that report no endpoints.
 */
export const hobbyKeyboard = (subject: Subject): AttackFinding | null => {
  const { parsed, report, kinds } = subject
  if (!kinds.includes('Keyboard') || !parsed.isComplete || report.removable === 'fixed') return null
  if (!keyboardsOf(parsed).some((i) => i.endpoints.length > 0)) return null
  const text = `${report.manufacturer ?? ''} ${report.product ?? ''}`
  if (keyboardFirmwareVendors.has(parsed.vid)) return null
  if (keyboardFirmwareText.test(text)) return null
  const habits = habitsOf(subject)
  if (habits.every((habit) => habit.isCommon)) return null
  if (habits.reduce((sum, { points }) => sum + points, 0) < enough) return null
  return {
    level: 'suspected',
    name: 'Keyboard from a hobby USB stack',
    evidence: habits.map(({ evidence }) => evidence),
    source: 'defaults in the source code of V-USB, LUFA, PluggableUSB, TinyUSB, Maple, CH55xduino and Linux gadgets',
  }
}
