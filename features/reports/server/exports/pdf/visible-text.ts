/**
 * Makes strings of devices and hosts printable: nothing invisible, nothing that changes the direction, nothing that
 * draws over its neighbours. Unprintable characters are named in brackets, as in the console's titles.
 */

/**
 * Control, format, private and unassigned characters; line and paragraph separators; blanks other than the space;
 * letters without a visible glyph; variation selectors; the replacement character.
 */
const hidden =
  /[\p{C}\p{Zl}\p{Zp}\u00A0\u1680\u2000-\u200A\u202F\u205F\u3000\u115F\u1160\u3164\uFFA0\u2800\uFFFD]|[\uFE00-\uFE0F]/u
const combining = /\p{M}/u
/** More combining marks would draw over other rows; no written language needs four. */
const combiningAllowed = 3
const names: Readonly<Record<number, string>> = {
  0: 'NUL',
  7: 'BEL',
  8: 'BS',
  9: 'TAB',
  10: 'LF',
  13: 'CR',
  27: 'ESC',
  127: 'DEL',
}

const printable = /^[\x20-\x7e]*$/

const labelOf = (codePoint: number): string =>
  names[codePoint] ?? `U+${codePoint.toString(16).toUpperCase().padStart(4, '0')}`

/** Replaces hidden characters of a text by their names; `has` returns whether a font has a glyph. */
export const visibleText = (text: string, has: (codePoint: number) => boolean): string => {
  if (printable.test(text)) return text
  let shown = ''
  let marks = 0
  let label = ''
  let count = 0
  function flush() {
    if (count > 0) shown += count > 1 ? `[${label} ×${count}]` : `[${label}]`
    count = 0
  }
  for (const character of text) {
    const codePoint = character.codePointAt(0) as number
    marks = combining.test(character) ? marks + 1 : 0
    const isShown = marks <= combiningAllowed && !hidden.test(character) && has(codePoint)
    if (isShown) {
      flush()
      shown += character
      continue
    }
    const next = marks > combiningAllowed ? 'M+' : labelOf(codePoint)
    if (next !== label) flush()
    label = next
    count += 1
  }
  flush()
  return shown
}
