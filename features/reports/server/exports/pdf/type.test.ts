import fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import { levelsOf, mirror, visualRuns } from './direction.ts'
import { visibleText } from './visible-text.ts'

describe('a text on paper', () => {
  it('hides no character and changes no direction, whatever it contains', () => {
    fc.assert(
      fc.property(fc.string({ unit: 'binary', maxLength: 60 }), (text) => {
        const shown = visibleText(text, (codePoint) => codePoint < 0x3000)
        expect(shown).not.toMatch(/[\p{C}\p{Zl}\p{Zp}]|[\uFE00-\uFE0F]/u)
        expect(shown).not.toMatch(/\p{M}{4}/u)
        expect([...shown].every((character) => (character.codePointAt(0) as number) < 0x3000)).toBe(true)
      }),
    )
  })

  it.each([
    ['gpj.\u202eexe', 'gpj.[U+202E]exe'],
    ['pass\u200bword', 'pass[U+200B]word'],
    ['a\u2028b', 'a[U+2028]b'],
    ['two\nlines', 'two[LF]lines'],
    ['a\u0301\u0302\u0303', 'a\u0301\u0302\u0303'],
    ['a\u0301\u0302\u0303\u0304\u0305', 'a\u0301\u0302\u0303[M+ ×2]'],
  ])('names the hidden characters of %j: %j', (text, expected) => {
    expect(visibleText(text, () => true)).toBe(expected)
  })

  it.each(['SanDisk Cruzer Fit', 'Clavier français', 'キーボード', 'لوحة مفاتيح', 'हिन्दी'])(
    'keeps %s unchanged',
    (text) => {
      expect(visibleText(text, () => true)).toBe(text)
    },
  )

  /** Right-to-left letters are written as capitals, as in the annex of the algorithm. */
  const drawn = (text: string): string => {
    const characters = [...text].map((c) => (/[A-Z]/.test(c) ? String.fromCharCode(c.charCodeAt(0) - 65 + 0x5d0) : c))
    const levels = levelsOf(characters)
    return visualRuns(characters.map((character, i) => ({ character, level: levels[i] as number })))
      .map(({ character, level }) => (level % 2 === 1 ? mirror(character) : character))
      .map((character) =>
        character >= '\u05d0' ? String.fromCharCode(character.charCodeAt(0) - 0x5d0 + 65) : character,
      )
      .join('')
  }

  it.each([
    ['abc def', 'abc def'],
    ['ABC', 'CBA'],
    ['car is THE CAR in arabic', 'car is RAC EHT in arabic'],
    ['CAR 123 DEF', 'FED 123 RAC'],
    ['usb 3.0 ABC', 'usb 3.0 CBA'],
    ['ABC usb 3.0', 'CBA usb 3.0'],
    ['ABC (usb)', 'CBA (usb)'],
    ['A(B)C', 'C(B)A'],
  ])('%s is drawn as %s', (text, expected) => {
    expect(drawn(text)).toBe(expected)
  })

  it('draws every character in any order', () => {
    const unit = fc.constantFrom('a', 'b', 'א', 'ב', 'ع', '1', '٢', ' ', '(', ')', '-')
    fc.assert(
      fc.property(fc.array(unit, { maxLength: 30 }), (characters) => {
        const levels = levelsOf(characters)
        expect(levels).toHaveLength(characters.length)
        const runs = visualRuns(characters.map((character, i) => ({ character, level: levels[i] as number })))
        expect(runs.map((run) => run.character).toSorted()).toEqual(characters.toSorted())
      }),
    )
  })
})
