/** Names of vendors and products by VID and PID. */
export interface UsbIds {
  /** Value of the `# Version:` line. Empty: none. */
  version: string
  /** By VID, four upper-case hex digits. */
  vendors: ReadonlyMap<string, string>
  /** By VID and PID without a separator. */
  products: ReadonlyMap<string, string>
}

const isHex4 = (text: string, at: number): boolean => {
  for (let i = at; i < at + 4; i++) {
    const c = text.charCodeAt(i)
    if (!((c >= 48 && c <= 57) || (c >= 97 && c <= 102) || (c >= 65 && c <= 70))) return false
  }
  return true
}

/**
 * Parses the vendor section of usb.ids and skips unknown lines. The section ends at the first list of another kind
 * (`C 00`), because these use the same indentation.
 */
export const parseUsbIds = (text: string): UsbIds => {
  const vendors = new Map<string, string>()
  const products = new Map<string, string>()
  const version = /^# Version:\s*(\S+)/m.exec(text.slice(0, 4096))?.[1] ?? ''
  let vendor = ''
  for (let at = 0; at < text.length; ) {
    let end = text.indexOf('\n', at)
    if (end < 0) end = text.length
    const first = text.charCodeAt(at)
    if (first === 9) {
      if (vendor !== '' && isHex4(text, at + 1))
        products.set(vendor + text.slice(at + 1, at + 5).toUpperCase(), text.slice(at + 5, end).trim())
    } else if (first !== 35 && isHex4(text, at) && text.charCodeAt(at + 4) === 32) {
      vendor = text.slice(at, at + 4).toUpperCase()
      vendors.set(vendor, text.slice(at + 4, end).trim())
    } else if (vendor !== '' && first !== 35 && end > at + 1) break
    at = end + 1
  }
  return { version, vendors, products }
}
