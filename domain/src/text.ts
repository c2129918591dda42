/**
 * Text that a USB device or a host chose. It crosses every boundary of the product (database, console, CSV, mail, log),
 * so it is cleaned once, on the way in; each sink still encodes for itself.
 */

/** C0 and C1 control characters, line and paragraph separators. */
const CONTROL = /[\u0000-\u001f\u007f-\u009f\u2028\u2029]+/gu
/** Bidirectional marks, embeddings, overrides and isolates; zero-width characters, word joiner, soft hyphen, BOM; tag characters. */
const INVISIBLE =
  /[\u00ad\u061c\u180e\u200b-\u200f\u202a-\u202e\u2060-\u2069\ufeff\ufff9-\ufffb\u{1bca0}-\u{1bca3}\u{e0000}-\u{e007f}]/gu
/** Printable ASCII without outer blanks: what nearly every device says, and what needs no work. */
const PLAIN = /^[\x21-\x7e]$|^[\x21-\x7e][\x20-\x7e]*[\x21-\x7e]$/

/**
 * Cleans text chosen by a device or host: NFC, control characters become a blank, bidirectional and invisible marks go,
 * lone surrogates become U+FFFD, outer blanks go, at most `max` code points remain. Idempotent.
 */
export const cleanText = (text: string, max = 255): string => {
  if (text.length <= max && PLAIN.test(text)) return text
  // A string longer than this cannot matter: 18 code points is the longest NFC expansion of one, 4 units are plenty.
  let clean = text.length > max * 8 ? text.slice(0, max * 8) : text
  clean = clean.toWellFormed().replace(CONTROL, ' ').replace(INVISIBLE, '').normalize('NFC').trim()
  if (clean.length <= max) return clean
  let end = 0
  for (let taken = 0; taken < max && end < clean.length; taken++) end += clean.codePointAt(end)! > 0xffff ? 2 : 1
  return clean.slice(0, end).trimEnd()
}

/** True when a device says something cleaning has to change beyond outer blanks and length: worth a look by a person. */
export const isOddText = (text: string): boolean => {
  if (PLAIN.test(text) || text === '') return false
  return !text.isWellFormed() || text.replace(CONTROL, '').replace(INVISIBLE, '') !== text
}
