import { strings } from './strings.ts'
/** A part of a string from a host or a device: text to show as it is, or a mark to show as a label. */
export type Segment = { kind: 'text'; text: string } | { kind: 'mark'; label: string; title: string; count: number }

const names: Readonly<Record<number, string>> = {
  0: 'NUL',
  7: 'BEL',
  8: 'BS',
  9: 'TAB',
  10: 'LF',
  13: 'CR',
  27: 'ESC',
  127: 'DEL',
  160: 'no-break space',
  173: 'soft hyphen',
  1564: strings.arabicLetterMark,
  8203: 'zero-width space',
  8204: 'zero-width non-joiner',
  8205: 'zero-width joiner',
  8206: 'left-to-right mark',
  8207: 'right-to-left mark',
  8232: 'line separator',
  8233: 'paragraph separator',
  8234: 'left-to-right embedding',
  8235: 'right-to-left embedding',
  8236: 'pop directional formatting',
  8237: 'left-to-right override',
  8238: 'right-to-left override',
  8288: 'word joiner',
  8294: 'left-to-right isolate',
  8295: 'right-to-left isolate',
  8296: 'first strong isolate',
  8297: 'pop directional isolate',
  65279: 'byte order mark',
  65533: 'replaced character',
}

/** Decodes the hidden characters that the API escapes, such as `%07`, `%u202E` and `%u{E0041}`. */
export const decoded = (text: string): string =>
  text.replace(/%(?:([0-9a-f]{2})|u([0-9a-f]{4})|u\{([0-9a-f]{1,6})\})/gi, (whole, ...codes: string[]) => {
    const code = Number.parseInt(codes.slice(0, 3).find((hex) => hex !== undefined) ?? '', 16)
    return code <= 0x10ffff ? String.fromCodePoint(code) : whole
  })

// Control, format, surrogate, private use and unassigned characters; line and paragraph separators; blanks other than
// U+0020; letters that look empty (Hangul fillers, Braille blank); variation selectors; the replacement character.
const markPattern =
  /[\p{C}\p{Zl}\p{Zp}\u00A0\u1680\u2000-\u200A\u202F\u205F\u3000\u115F\u1160\u3164\uFFA0\u2800\uFFFD]|[\uFE00-\uFE0F]/u

const combiningPattern = /\p{M}/u

// More combining marks on one letter cover the neighbouring rows; no written language needs a fourth.
const combiningAllowed = 3

const labelOf = (codePoint: number) => `U+${codePoint.toString(16).toUpperCase().padStart(4, '0')}`

/** Splits a string into text and marks. A run of one mark is one segment with its count. */
export const segmentsOf = (value: string): Segment[] => {
  const segments: Segment[] = []
  const pushText = (text: string) => {
    const last = segments.at(-1)
    if (last?.kind === 'text') last.text += text
    else segments.push({ kind: 'text', text })
  }
  const pushMark = (label: string, title: string) => {
    const last = segments.at(-1)
    if (last?.kind === 'mark' && last.label === label) last.count += 1
    else segments.push({ kind: 'mark', label, title, count: 1 })
  }
  let combining = 0
  for (const character of value) {
    combining = combiningPattern.test(character) ? combining + 1 : 0
    if (combining > combiningAllowed) {
      pushMark('M+', 'combining mark')
      continue
    }
    if (!markPattern.test(character)) {
      pushText(character)
      continue
    }
    const codePoint = character.codePointAt(0) ?? 0
    const label = names[codePoint] !== undefined && codePoint < 0x80 ? names[codePoint] : labelOf(codePoint)
    pushMark(label, names[codePoint] ?? 'character that is not shown')
  }
  return segments
}

/** Returns whether a string is shown in a monospaced font: it contains marks, markup or outer blanks. */
export const isOdd = (value: string): boolean =>
  value !== value.trim() || /[<>{}`|\\^]|^[=+@]/.test(value) || segmentsOf(value).some((s) => s.kind === 'mark')

/** Returns one line for titles and accessible names, with the labels of marks in brackets. */
export const plainText = (value: string): string =>
  segmentsOf(value)
    .map((segment) =>
      segment.kind === 'text' ? segment.text : `[${segment.label}${segment.count > 1 ? ` ×${segment.count}` : ''}]`,
    )
    .join('')
