/** Bytes that need a backslash in a literal string, and the character behind it. */
const escapes = new Uint8Array(256)
for (const [byte, character] of [
  [10, 'n'],
  [13, 'r'],
  [40, '('],
  [41, ')'],
  [92, '\\'],
] as const)
  escapes[byte] = character.charCodeAt(0)

const [backslash, minus, point, zero, open, close] = [92, 45, 46, 48, 40, 41]

export type Bytes = ReturnType<typeof createBytes>

/**
 * Collects the operators of a page as bytes. Strings would be too slow: a table of 10,000 rows has seven million glyphs
 * and a million numbers.
 */
export const createBytes = () => {
  let bytes = Buffer.allocUnsafe(64 * 1024)
  let length = 0

  function reserve(count: number): void {
    if (length + count <= bytes.length) return
    const larger = Buffer.allocUnsafe(Math.max(2 * bytes.length, length + count))
    bytes.copy(larger, 0, 0, length)
    bytes = larger
  }

  // The loops below use local variables, because variables of the closure are read from memory each time.

  /** Adds a text whose characters are bytes. */
  function text(part: string): void {
    reserve(part.length)
    const to = bytes
    let at = length
    for (let i = 0; i < part.length; i++) to[at++] = part.charCodeAt(i)
    length = at
  }

  function digits(value: number): void {
    if (value >= 10) digits(Math.floor(value / 10))
    bytes[length++] = zero + (value % 10)
  }

  return {
    text,
    /** Adds a number of hundredths in its shortest form. */
    hundredths: (value: number): void => {
      reserve(24)
      const size = Math.abs(value)
      if (value < 0) bytes[length++] = minus
      digits(Math.floor(size / 100))
      const rest = size % 100
      if (rest === 0) return
      bytes[length++] = point
      bytes[length++] = zero + Math.floor(rest / 10)
      if (rest % 10 !== 0) bytes[length++] = zero + (rest % 10)
    },
    /** Adds an ASCII text as a literal string of the two bytes of each glyph. */
    glyphs: (ascii: string, ids: Uint16Array): void => {
      reserve(4 * ascii.length + 2)
      const to = bytes
      let at = length
      to[at++] = open
      for (let i = 0; i < ascii.length; i++) {
        const id = ids[ascii.charCodeAt(i)] as number
        const [high, low] = [escapes[id >> 8] as number, escapes[id & 255] as number]
        if (high !== 0) to[at++] = backslash
        to[at++] = high === 0 ? id >> 8 : high
        if (low !== 0) to[at++] = backslash
        to[at++] = low === 0 ? id & 255 : low
      }
      to[at++] = close
      length = at
    },
    /** Returns what was added since the last call. The next addition overwrites it. */
    take: (): Buffer => {
      const taken = bytes.subarray(0, length)
      length = 0
      return taken
    },
  }
}
