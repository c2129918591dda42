import { mustExist } from './must-exist.ts'

/** Capabilities of the top-level collections and input items of a HID report descriptor (HID 1.11, 6.2.2; HID Usage Tables). */
export interface HidFunctions {
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
  6: 'keyboard',
  7: 'keyboard',
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

/**
 * Identifies a HID interface by its report descriptor. Accepts any bytes. An interface that sends items of the keyboard
 * page in another collection also counts as a keyboard, because it can type.
 */
export const hidFunctions = (bytes: Uint8Array): HidFunctions => {
  const found: HidFunctions = { ...noFunctions }
  let page = 0
  let usage = 0
  let isUsagePageOwn = false
  for (let at = 0; at < bytes.length; ) {
    const prefix = mustExist(bytes[at], 'an item')
    if (prefix === 0xfe) {
      at += 3 + (bytes[at + 1] ?? 0)
      continue
    }
    const size = (prefix & 3) === 3 ? 4 : prefix & 3
    let value = 0
    for (let i = size; i > 0; i--) value = value * 256 + (bytes[at + i] ?? 0)
    const item = prefix & 0xfc
    if (item === 0x04) page = value & 0xffff
    else if (item === 0x08) {
      usage = value
      isUsagePageOwn = size === 4
    } else if (item === 0xa0 && value === 1) {
      const key = functionOf(isUsagePageOwn ? Math.floor(usage / 0x10000) : page, usage & 0xffff)
      if (key !== undefined) found[key] = true
    } else if (item === 0x80 && page === PAGE_KEYBOARD && (value & 1) === 0) found.keyboard = true
    at += 1 + size
  }
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

/** Returns true for a report descriptor of `usageDescriptor`. A real device with such a descriptor cannot send data. */
export const isUsageDescriptor = (text: string): boolean =>
  BARE_COLLECTIONS.test(Buffer.from(text, 'base64').toString('hex'))
