/**
 * Cleans text that a USB device or host chose. The server cleans it once, on input, because it reaches the database, the
 * console, CSV files, emails and logs. Each output still encodes it.
 */

/** C0 and C1 control characters, line and paragraph separators. */
const CONTROL = /[\u0000-\u001f\u007f-\u009f\u2028\u2029]+/gu
/** Bidirectional marks, embeddings, overrides and isolates; zero-width characters, word joiner, soft hyphen, BOM; tag characters. */
const INVISIBLE =
  /[\u00ad\u061c\u180e\u200b-\u200f\u202a-\u202e\u2060-\u2069\ufeff\ufff9-\ufffb\u{1bca0}-\u{1bca3}\u{e0000}-\u{e007f}]/gu
/** Printable ASCII without outer spaces. Nearly all devices send such text, and it needs no cleaning. */
const PLAIN = /^[\x21-\x7e]$|^[\x21-\x7e][\x20-\x7e]*[\x21-\x7e]$/

/**
 * Cleans text from a device or host. Converts it to NFC, replaces control characters with a space and lone surrogates
 * with U+FFFD, and removes bidirectional marks, invisible marks and outer spaces. Keeps at most `max` code points.
 * Idempotent.
 */
export const cleanText = (text: string, max = 255): string => {
  if (text.length <= max && PLAIN.test(text)) return text
  // Longer input cannot affect the result: NFC expands a code point to at most 18, and 4 units are enough.
  let clean = text.length > max * 8 ? text.slice(0, max * 8) : text
  clean = clean.toWellFormed().replace(CONTROL, ' ').replace(INVISIBLE, '').normalize('NFC').trim()
  if (clean.length <= max) return clean
  let end = 0
  for (let taken = 0; taken < max && end < clean.length; taken++) end += (clean.codePointAt(end) ?? 0) > 0xffff ? 2 : 1
  return clean.slice(0, end).trimEnd()
}

/** Returns true if cleaning changes more than outer spaces and length. A person should check such a device. */
export const isOddText = (text: string): boolean => {
  if (PLAIN.test(text) || text === '') return false
  return !text.isWellFormed() || text.replace(CONTROL, '').replace(INVISIBLE, '') !== text
}

/** Characters that `escapeText` replaces: invisible ones, those that change other text, a `%` before a code, and the backslash. */
const HIDDEN =
  /[\p{Cc}\p{Cf}\p{Cs}\p{Zl}\p{Zp}\p{Default_Ignorable_Code_Point}\\]|%(?=[0-9a-f]{2}|u[0-9a-f{])|(?! )\p{Zs}|^ | $| (?= )/giu
const NOT_ASCII = /[^\0-\x7f]/gu

const escaped = (character: string): string => {
  const code = character.codePointAt(0) ?? 0
  const hex = code.toString(16).toUpperCase()
  return code <= 0xff ? `%${hex.padStart(2, '0')}` : code <= 0xffff ? `%u${hex.padStart(4, '0')}` : `%u{${hex}}`
}

/**
 * Shows each character of a text: hidden ones as `%07`, `%u200B` or `%u{E0041}`, and a `%` that could begin a code as `%25`.
 * Different texts stay different, so the result can identify a device. `unescapeText` returns the original.
 */
export const escapeText = (text: string): string => {
  if (PLAIN.test(text) && !/[%\\]| {2}/.test(text)) return text
  const shown = text.replace(HIDDEN, escaped)
  // Texts that look alike may differ in their normal form. Few devices send such text.
  return text.isWellFormed() && text.normalize('NFC') === text ? shown : shown.replace(NOT_ASCII, escaped)
}

/** Returns the original of an escaped text. A `%` without a code stays, because people write texts too. */
export const unescapeText = (text: string): string =>
  text.includes('%')
    ? text.replace(/%(?:([0-9a-f]{2})|u([0-9a-f]{4})|u\{([0-9a-f]{1,6})\})/gi, (whole, ...codes) => {
        const code = Number.parseInt(codes.slice(0, 3).find((hex) => hex !== undefined) ?? '', 16)
        return code <= 0x10ffff ? String.fromCodePoint(code) : whole
      })
    : text
