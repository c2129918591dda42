/** Writing of DER (ITU-T X.690), as much of it as a certificate needs. */

const length = (n: number): Buffer => {
  if (n < 0x80) return Buffer.from([n])
  const bytes: number[] = []
  for (let rest = n; rest > 0; rest = Math.floor(rest / 256)) bytes.unshift(rest % 256)
  return Buffer.from([0x80 | bytes.length, ...bytes])
}

/** Tag, length, value. */
const tlv = (tag: number, ...content: readonly Uint8Array[]): Buffer => {
  const value = Buffer.concat(content)
  return Buffer.concat([Buffer.from([tag]), length(value.length), value])
}

export const sequence = (...content: readonly Uint8Array[]): Buffer => tlv(0x30, ...content)
export const set = (...content: readonly Uint8Array[]): Buffer => tlv(0x31, ...content)
export const boolean = (value: boolean): Buffer => tlv(0x01, Buffer.from([value ? 0xff : 0]))
export const octetString = (...content: readonly Uint8Array[]): Buffer => tlv(0x04, ...content)
export const utf8String = (text: string): Buffer => tlv(0x0c, Buffer.from(text, 'utf8'))
/** Whole bytes only: no unused bits. */
export const bitString = (content: Uint8Array): Buffer => tlv(0x03, Buffer.from([0]), content)
/** Context-specific, constructed. */
export const explicit = (n: number, ...content: readonly Uint8Array[]): Buffer => tlv(0xa0 | n, ...content)
/** Context-specific, primitive. */
export const implicit = (n: number, content: Uint8Array): Buffer => tlv(0x80 | n, content)

/** Non-negative integer in its shortest form. */
export const integer = (bytes: Uint8Array): Buffer => {
  let start = 0
  while (start < bytes.length - 1 && bytes[start] === 0) start++
  const rest = bytes.subarray(start)
  return tlv(0x02, ...((rest[0] ?? 0) >= 0x80 ? [Buffer.from([0])] : []), rest)
}

/** Bits of a named bit list, by number from the left; trailing zero bits are left out. */
export const namedBits = (...bits: readonly number[]): Buffer => {
  const last = Math.max(...bits)
  const bytes = Buffer.alloc(Math.floor(last / 8) + 1)
  for (const bit of bits) bytes[bit >> 3] = (bytes[bit >> 3] as number) | (0x80 >> (bit & 7))
  return tlv(0x03, Buffer.from([7 - (last & 7)]), bytes)
}

export const objectId = (dotted: string): Buffer => {
  const [first = 0, second = 0, ...rest] = dotted.split('.').map(Number)
  const bytes: number[] = []
  for (const part of [first * 40 + second, ...rest]) {
    const septets = [part & 0x7f]
    for (let n = Math.floor(part / 128); n > 0; n = Math.floor(n / 128)) septets.unshift((n & 0x7f) | 0x80)
    bytes.push(...septets)
  }
  return tlv(0x06, Buffer.from(bytes))
}

/** UTCTime until 2049, GeneralizedTime from 2050 on, as RFC 5280 4.1.2.5 wants. */
export const time = (at: number): Buffer => {
  const digits = new Date(at).toISOString().replace(/[-:T]|\.\d+/g, '')
  return digits < '2050' ? tlv(0x17, Buffer.from(digits.slice(2))) : tlv(0x18, Buffer.from(digits))
}
