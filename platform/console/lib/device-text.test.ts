import fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import { decoded, isOdd, plainText, segmentsOf } from './device-text.ts'

const labels = (value: string) => segmentsOf(value).flatMap((s) => (s.kind === 'mark' ? [`${s.label}×${s.count}`] : []))

describe('strings of devices', () => {
  it.each([
    ['a NUL', 'a\u0000b', ['NUL×1']],
    ['a right-to-left override', 'invoice\u202Egpj.exe', ['U+202E×1']],
    ['zero-width blanks', 'a\u200B\u200Bb', ['U+200B×2']],
    ['255 times the last code point', '\u{10FFFF}'.repeat(255), ['U+10FFFF×255']],
    ['a lone surrogate', 'x\uD800', ['U+D800×1']],
    ['an invisible tag character', 'x\u{E0041}', ['U+E0041×1']],
    ['line separators', 'a\u2028b\nc', ['U+2028×1', 'LF×1']],
    ['a Hangul filler', '\u3164', ['U+3164×1']],
    ['stacked combining marks', `e${'\u0301'.repeat(10)}`, ['M+×7']],
    ['a no-break blank', 'a\u00A0b', ['U+00A0×1']],
  ])('show %s as a box', (_what, value, expected) => {
    expect(labels(value)).toEqual(expected)
    expect(isOdd(value)).toBe(true)
  })

  it('are decoded from the codes of the API', () => {
    expect(labels(decoded('King%u202Eston%00%u{E0041}'))).toEqual(['U+202E×1', 'NUL×1', 'U+E0041×1'])
    expect(decoded('100% %zz %25 %u{FFFFFF}')).toBe('100% %zz % %u{FFFFFF}')
  })

  it.each(['SanDisk Cruzer Fit', 'Clavier français', 'キーボード', 'لوحة مفاتيح', 'Ünïcode 5.0 (rev. 2)', '#1 Mouse'])(
    'leave %s as it is',
    (value) => {
      expect(segmentsOf(value)).toEqual([{ kind: 'text', text: value }])
      expect(isOdd(value)).toBe(false)
    },
  )

  it.each(['<img src=x onerror=alert(1)>', "=cmd|' /C calc'!A0", ' padded', '{{constructor}}'])(
    'set %s in monospace',
    (value) => {
      expect(isOdd(value)).toBe(true)
      expect(plainText(value)).toBe(value)
    },
  )

  it('never show an invisible or direction-changing character as text', () => {
    fc.assert(
      fc.property(fc.string({ unit: 'binary', maxLength: 60 }), (value) => {
        const shown = segmentsOf(value).flatMap((s) => (s.kind === 'text' ? [s.text] : []))
        expect(shown.join('')).not.toMatch(/[\p{C}\p{Zl}\p{Zp}]/u)
        expect(plainText(value)).not.toMatch(/[\p{C}\p{Zl}\p{Zp}]/u)
      }),
    )
  })

  it('account for every character', () => {
    fc.assert(
      fc.property(fc.string({ unit: 'binary', maxLength: 60 }), (value) => {
        const counted = segmentsOf(value).reduce((n, s) => n + (s.kind === 'text' ? [...s.text].length : s.count), 0)
        expect(counted).toBe([...value].length)
      }),
    )
  })
})
