/** What the top-level collections and input items of a HID report descriptor can do (HID 1.11, 6.2.2; HID Usage Tables). */
export interface HidFunctions {
  keyboard: boolean
  mouse: boolean
  /** FIDO authenticator (usage page F1D0). */
  fido: boolean
}

const PAGE_DESKTOP = 0x01
const PAGE_KEYBOARD = 0x07
const PAGE_FIDO = 0xf1d0

/**
 * Tells keyboard, mouse and security key apart by the report descriptor; any bytes are accepted. A keyboard is also
 * who sends items of the keyboard page under another name: what counts is that it can type.
 */
export const hidFunctions = (bytes: Uint8Array): HidFunctions => {
  const found: HidFunctions = { keyboard: false, mouse: false, fido: false }
  let page = 0
  let usage = 0
  let isUsagePageOwn = false
  for (let at = 0; at < bytes.length; ) {
    const prefix = bytes[at]!
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
      const usagePage = isUsagePageOwn ? Math.floor(usage / 0x10000) : page
      const id = usage & 0xffff
      if (usagePage === PAGE_DESKTOP && (id === 6 || id === 7)) found.keyboard = true
      else if (usagePage === PAGE_DESKTOP && (id === 1 || id === 2)) found.mouse = true
      else if (usagePage === PAGE_FIDO) found.fido = true
    } else if (item === 0x80 && page === PAGE_KEYBOARD && (value & 1) === 0) found.keyboard = true
    at += 1 + size
  }
  return found
}
