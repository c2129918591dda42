import { mustExist } from './must-exist.ts'

/** Capabilities that a HID report descriptor declares (HID 1.11, 6.2.2; HID Usage Tables). */
export interface HidFunctions {
  /** Letters of the keyboard page, in a device for which the Linux kernel creates an input device. */
  keyboard: boolean
  mouse: boolean
  /** FIDO authenticator (usage page F1D0). */
  fido: boolean
  /** Digitizer or pen (usage page 0D). */
  pen: boolean
  /** Touch screen (usage page 0D, usage 04). */
  touchscreen: boolean
  /** Joystick, game pad or multi-axis controller. */
  game: boolean
  /** Power device or battery system (usage pages 84, 85). */
  power: boolean
  /** Sensor (usage page 20). */
  sensor: boolean
  /** Bar-code scanner (usage page 8C). */
  barcode: boolean
  /** Consumer control (usage page 0C). */
  consumer: boolean
}

const PAGE_DESKTOP = 0x01
const PAGE_KEYBOARD = 0x07
const PAGE_CONSUMER = 0x0c
const PAGE_DIGITIZER = 0x0d
const PAGE_SENSOR = 0x20
const PAGE_POWER = 0x84
const PAGE_BATTERY = 0x85
const PAGE_BARCODE = 0x8c
const PAGE_FIDO = 0xf1d0

/** The result for a descriptor without any of these usages. */
export const noFunctions: Readonly<HidFunctions> = {
  keyboard: false,
  mouse: false,
  fido: false,
  pen: false,
  touchscreen: false,
  game: false,
  power: false,
  sensor: false,
  barcode: false,
  consumer: false,
}

const desktopUsages: Readonly<Record<number, keyof HidFunctions>> = {
  1: 'mouse',
  2: 'mouse',
  4: 'game',
  5: 'game',
  8: 'game',
}
/** 01 and 02 are tablets, 04 is a touch screen. Touch pads (05) have a mouse collection and do not count. */
const digitizerUsages: Readonly<Record<number, keyof HidFunctions>> = { 1: 'pen', 2: 'pen', 4: 'touchscreen' }
const pages: Readonly<Record<number, keyof HidFunctions>> = {
  [PAGE_CONSUMER]: 'consumer',
  [PAGE_SENSOR]: 'sensor',
  [PAGE_POWER]: 'power',
  [PAGE_BATTERY]: 'power',
  [PAGE_BARCODE]: 'barcode',
  [PAGE_FIDO]: 'fido',
}

const functionOf = (page: number, usage: number): keyof HidFunctions | undefined => {
  if (page === PAGE_DESKTOP) return desktopUsages[usage]
  if (page === PAGE_DIGITIZER) return digitizerUsages[usage]
  return pages[page]
}

/** Returns true for the usages for whose collections the kernel creates input devices (IS_INPUT_APPLICATION in include/linux/hid.h). */
const isInputApplication = (usage: number): boolean =>
  (usage >= 0x10000 && usage <= 0x10008) ||
  (usage >= 0xd0001 && usage <= 0xd0006) ||
  usage === 0x10080 ||
  usage === 0xc0001 ||
  usage === 0x1000c

const [PHYSICAL, APPLICATION] = [0, 1]
const FIRST_LETTER = 0x04
const LAST_LETTER = 0x1d
/** HID_MAX_USAGES, HID_GLOBAL_STACK_SIZE and HID_MAX_BUFFER_SIZE in include/linux/hid.h. */
const limits = { usages: 12_288, stack: 4, reportBits: (16_384 - 1) * 8 }

interface Item {
  type: number
  tag: number
  size: number
  value: number
}

/** Splits a report descriptor into items. Undefined for a truncated or long item, which the kernel rejects. */
const itemsOf = (bytes: Uint8Array): Item[] | undefined => {
  const items: Item[] = []
  for (let at = 0; at < bytes.length; ) {
    const prefix = mustExist(bytes[at], 'an item')
    const size = (prefix & 3) === 3 ? 4 : prefix & 3
    if (prefix >> 4 === 0x0f || at + size >= bytes.length) return undefined
    let value = 0
    for (let i = size; i > 0; i--) value = value * 256 + mustExist(bytes[at + i], 'a byte of an item')
    items.push({ type: (prefix >> 2) & 3, tag: prefix >> 4, size, value })
    at += 1 + size
  }
  return items
}

/** Usages from a single item or a range. Without `page`, the items contained it. */
interface Usages {
  from: number
  to: number
  page?: number
}

const firstOf = ({ from, page }: Usages): number => (page === undefined ? from : page * 0x10000 + (from & 0xffff))
const hasLetter = ({ from, to, page }: Usages): boolean => {
  const start = page === undefined ? PAGE_KEYBOARD * 0x10000 : 0
  return (page === undefined || page === PAGE_KEYBOARD) && from <= start + LAST_LETTER && to >= start + FIRST_LETTER
}

const signed = ({ size, value }: Item): number =>
  size > 0 && value >= 2 ** (size * 8 - 1) ? value - 2 ** (size * 8) : value

/** Returns the collections, and whether an input field has letters. Undefined if the kernel rejects the descriptor. */
const parse = (bytes: Uint8Array) => {
  const collections: { type: number; usage: number }[] = []
  const sizes = new Map<string, number>()
  let letters = false
  let global = { page: 0, size: 0, count: 0, minimum: 0, maximum: 0, report: 0 }
  const stack: (typeof global)[] = []
  let usages: Usages[] = []
  let usageCount = 0
  let usageMinimum = 0
  let depth = 0
  let branch = 0
  let open = 0

  function addUsages(from: number, to: number, size: number): boolean {
    if (usageCount >= limits.usages) return false
    usages.push(size > 2 ? { from, to } : { from, to, page: global.page & 0xffff })
    usageCount += to - from + 1
    return true
  }
  /** A main item uses the last page, also for usages before it (HID 1.11, 6.2.2.8). */
  function completeUsages(): void {
    for (const usage of usages.toReversed()) {
      if (usage.page === undefined) continue
      if (usage.page === global.page) break
      usage.page = global.page & 0xffff
    }
  }
  function readField({ tag, value }: Item): boolean {
    if (global.maximum < global.minimum) return false
    const report = `${tag} ${global.report}`
    const bits = (sizes.get(report) ?? 0) + global.size * global.count
    sizes.set(report, bits)
    const isConstant = (value & 1) !== 0
    if (tag === 0x8 && !isConstant && global.count > 0) letters ||= usages.some(hasLetter)
    return bits <= limits.reportBits
  }
  function readMain(item: Item): boolean {
    const { tag, value } = item
    completeUsages()
    let isValid = true
    if (tag === 0xa) {
      const [first] = usages
      collections.push({ type: value & 0xff, usage: first === undefined ? 0 : firstOf(first) })
      open++
    } else if (tag === 0xc) open--
    else if (tag === 0x8 || tag === 0x9 || tag === 0xb) isValid = readField(item)
    usages = []
    usageCount = 0
    usageMinimum = 0
    depth = 0
    branch = 0
    return isValid && open >= 0
  }
  function readGlobal(item: Item): boolean {
    const { tag, value } = item
    if (tag === 0x0) global.page = value
    else if (tag === 0x1) global.minimum = signed(item)
    else if (tag === 0x2) global.maximum = global.minimum < 0 ? signed(item) : value
    else if (tag === 0x7) global.size = value
    else if (tag === 0x8) {
      global.report = value
      return value > 0 && value < 256
    } else if (tag === 0x9) global.count = value
    else if (tag === 0xa) return stack.length < limits.stack && stack.push({ ...global }) > 0
    else if (tag === 0xb) {
      const saved = stack.pop()
      if (saved === undefined) return false
      global = saved
    }
    return tag <= 0xb && global.size <= 256 && global.count <= limits.usages
  }
  function readLocal({ tag, value, size }: Item): boolean {
    if (tag === 0xa) {
      // Only the first of several alternative sets counts.
      if (value !== 0) branch++
      depth += value !== 0 ? 1 : -1
      return depth === 0 || depth === 1
    }
    if (branch > 1) return true
    if (tag === 0x0) return addUsages(value, value, size)
    if (tag === 0x1) usageMinimum = value
    else if (tag === 0x2) {
      // The kernel cuts a range that is too long, and takes one that ends before it begins for too long.
      const isTooLong = value < usageMinimum || value - usageMinimum + usageCount >= limits.usages
      const last = isTooLong ? usageMinimum + limits.usages - usageCount - 1 : value
      return last < usageMinimum || addUsages(usageMinimum, last, size)
    }
    return true
  }
  const read = [readMain, readGlobal, readLocal, () => true]
  const items = itemsOf(bytes)
  if (items === undefined || !items.every((item) => mustExist(read[item.type], 'a reader of items')(item)))
    return undefined
  return open === 0 && depth === 0 ? { collections, letters } : undefined
}

/**
 * Identifies a HID interface by its report descriptor, which it reads as the Linux kernel does (drivers/hid/hid-core.c,
 * hid-input.c). Accepts any bytes. The result is empty for a descriptor that the kernel rejects.
 */
export const hidFunctions = (bytes: Uint8Array): HidFunctions => {
  const found: HidFunctions = { ...noFunctions }
  const parsed = parse(bytes)
  if (parsed === undefined) return found
  for (const { type, usage } of parsed.collections) {
    const [page, id] = [Math.floor(usage / 0x10000), usage % 0x10000]
    const key = type === APPLICATION ? functionOf(page, id) : undefined
    if (key !== undefined) found[key] = true
  }
  const isInput = ({ type, usage }: { type: number; usage: number }): boolean =>
    (type === APPLICATION || type === PHYSICAL) && isInputApplication(usage)
  // A list of collections without items says what they are for.
  const isBareKeyboard = ({ usage }: { usage: number }): boolean => usage === 0x10006 || usage === 0x10007
  found.keyboard = isBare(bytes)
    ? parsed.collections.some(isBareKeyboard)
    : parsed.collections.some(isInput) && parsed.letters
  return found
}

const le16 = (value: number): [number, number] => [value & 0xff, (value >> 8) & 0xff]
/** Hex of a collection with a usage and nothing else, as `usageDescriptor` writes it. */
const BARE_COLLECTIONS = /^(?:06.{4}0a.{4}a101c0)+$/

/**
 * Returns a report descriptor in Base64 that only declares top-level collections, for systems that return the usages of a HID
 * interface but not its report descriptor.
 *
 * @param usages page and ID of each collection
 */
export const usageDescriptor = (usages: readonly (readonly [page: number, id: number])[]): string =>
  Buffer.from(usages.flatMap(([page, id]) => [0x06, ...le16(page), 0x0a, ...le16(id), 0xa1, 0x01, 0xc0])).toString(
    'base64',
  )

const isBare = (bytes: Uint8Array): boolean => BARE_COLLECTIONS.test(Buffer.from(bytes).toString('hex'))

/** Returns true for a report descriptor of `usageDescriptor`. A real device with such a descriptor cannot send data. */
export const isUsageDescriptor = (text: string): boolean => isBare(Buffer.from(text, 'base64'))
