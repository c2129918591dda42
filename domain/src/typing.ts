import { functionsByInterface } from './classify.ts'
import { type Interface, isBootKeyboard } from './descriptors.ts'
import type { Subject } from './device-test.ts'
import type { Kind } from './icons.ts'
import type { AttackFinding } from './knowledge-types.ts'
import { isKeyboardProduct, isSecurityKey, isTabletVendor } from './known-kinds.ts'

const HID = 0x03
const INTERRUPT = 3
const REMOTE_WAKEUP = 0x20
const SELF_POWERED = 0x40
const HIGH_SPEED = 480

/** Returns the HID interfaces that can type: boot keyboards, and the others if a report descriptor has keyboard items. */
const keyboardsOf = ({ parsed, report }: Subject): Interface[] => {
  const functions = functionsByInterface(parsed, report)
  const interfaces = parsed.configurations.flatMap((c) => c.interfaces)
  return interfaces.filter((i) => isBootKeyboard(i) || functions.get(i)?.keyboard === true)
}

/** Returns true if the device can type, according to its interfaces and report descriptors. Its name does not matter. */
export const canType = (subject: Subject): boolean => keyboardsOf(subject).length > 0

/** A property that development boards and gadgets have and most keyboards lack. */
export interface Mark {
  points: number
  evidence: string
}

/** Kinds that explain such properties: a keyboard is a side function of these devices. */
const explaining: ReadonlySet<Kind> = new Set([
  'Hub',
  'Audio',
  'Video',
  'Wireless',
  'Smart Card',
  'Security Key',
  'Tablet',
  'Touchscreen',
  'Game Controller',
  'Barcode Scanner',
  'Modem',
])

/**
 * Returns the marks of a development board or gadget on a device that can type. Only the structure of the descriptors
 * counts: nothing that the speed of the port changes, and no text.
 */
export const marksOf = (subject: Subject): Mark[] => {
  const { parsed, report, kinds } = subject
  const keyboards = keyboardsOf(subject)
  const isOrdinary =
    kinds.some((kind) => explaining.has(kind)) ||
    isSecurityKey(parsed.vid, parsed.pid) ||
    isTabletVendor(parsed.vid, parsed.pid) ||
    isKeyboardProduct(parsed.vid, report)
  const [first] = parsed.configurations
  // Stryker disable next-line ConditionalExpression: Without a configuration, there are no keyboards either.
  const isEmpty = first === undefined || keyboards.length === 0
  if (isEmpty || isOrdinary || !parsed.isComplete || report.removable === 'fixed') return []
  const { interfaces, attributes } = first
  const hid = interfaces.filter((i) => i.class === HID)
  const found: Mark[] = []
  const add = (points: number, evidence: string) => found.push({ points, evidence })
  if ((attributes & REMOTE_WAKEUP) === 0) {
    add(2, 'it cannot wake the host, as nearly all keyboards can')
    if ((attributes & SELF_POWERED) !== 0) add(1, 'it claims to have its own power supply')
  }
  const isOut = keyboards.some((i) => i.endpoints.some((e) => e.address < 0x80 && (e.attributes & 3) === INTERRUPT))
  if (isOut) add(1, 'its keyboard has an output endpoint')
  if (isOut && (report.speedMbps ?? 0) >= HIGH_SPEED) add(2, 'it does so at high speed, as Linux gadgets do')
  // Stryker disable next-line MethodExpression: The list has one element.
  if (hid.length === 1 && !hid.some(isBootKeyboard)) add(1, 'its only HID interface is not a boot keyboard')
  if (parsed.deviceClass === 0xef) add(1, 'it is a composite device with grouped interfaces')
  if (interfaces.some((i) => i.class === 0x02 && i.subclass === 2)) add(1, 'it combines a keyboard and a serial port')
  return found
}

/** Minimum number of points for a finding. */
const enough = 3

export const areEnough = (marks: readonly Mark[]): boolean =>
  marks.reduce((sum, { points }) => sum + points, 0) >= enough

/** Detects boards and gadgets that act as keyboards, whatever ids and texts they claim. */
export const boardKeyboard = (marks: readonly Mark[]): AttackFinding | null =>
  areEnough(marks)
    ? {
        // Stryker disable next-line StringLiteral: merge only compares the level with confirmed.
        level: 'suspected',
        name: 'Keyboard built like a development board',
        evidence: marks.map(({ evidence }) => evidence),
        source: 'structure of the descriptors',
      }
    : null
