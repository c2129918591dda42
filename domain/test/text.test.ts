import { cleanText, isOddText } from '@portcullis/domain'
import { hostileTexts } from '@portcullis/domain/testing'
import fc from 'fast-check'
import { describe, expect, it } from 'vitest'

const anyText = fc.oneof(
  fc.string({ unit: 'binary', maxLength: 400 }),
  fc.string({ unit: 'grapheme', maxLength: 100 }),
  fc.array(fc.nat(0xffff), { maxLength: 400 }).map((units) => String.fromCharCode(...units)),
)

describe('cleanText', () => {
  it('does not change ordinary names', () => {
    for (const name of [
      'USB Receiver',
      'Ünïcøde Tastatur',
      '日本語キーボード',
      'ﾩSymbol Technologies, Inc, 2002',
      '👩‍💻'.replace('\u200d', ''),
    ])
      expect(cleanText(name)).toBe(name)
  })

  it('removes characters that must not reach logs, tables or users', () => {
    expect(cleanText(hostileTexts.nul)).toBe('before after')
    expect(cleanText(hostileTexts.newline)).toBe('first second third')
    expect(cleanText(hostileTexts.rightToLeft)).toBe('gnp.exe abc')
    expect(cleanText(hostileTexts.surrogate)).toBe('half \uFFFD a pair')
    expect(cleanText(hostileTexts.escape)).toBe('[2J ]0;owned')
    expect(cleanText('cafe\u0301')).toBe('café')
    expect(cleanText(' \t padded \n')).toBe('padded')
  })

  it('keeps markup, because outputs encode it', () => {
    expect(cleanText(hostileTexts.html)).toBe(hostileTexts.html)
    expect(cleanText(hostileTexts.formula)).toBe(hostileTexts.formula)
  })

  it('truncates by code points without splitting them', () => {
    expect([...cleanText(hostileTexts.longest)]).toHaveLength(255)
    expect([...cleanText('\u{1F600}'.repeat(300), 10)]).toHaveLength(10)
    expect(cleanText('a'.repeat(300))).toHaveLength(255)
  })

  it('is idempotent, well-formed, without control and direction characters, and within the limit', () => {
    fc.assert(
      fc.property(anyText, fc.integer({ min: 1, max: 300 }), (text, max) => {
        const clean = cleanText(text, max)
        expect(cleanText(clean, max)).toBe(clean)
        expect(clean.isWellFormed()).toBe(true)
        expect(clean).toBe(clean.trim())
        expect([...clean].length).toBeLessThanOrEqual(max)
        expect(/[\p{Cc}\u2028\u2029\u202a-\u202e\u2066-\u2069\u200b-\u200f\ufeff]/u.test(clean)).toBe(false)
        expect(isOddText(clean)).toBe(false)
      }),
      { numRuns: 2000 },
    )
  })
})

describe('isOddText', () => {
  it('is true for text that a person should check', () => {
    for (const key of ['nul', 'rightToLeft', 'surrogate', 'newline', 'escape'] as const)
      expect(isOddText(hostileTexts[key]), key).toBe(true)
  })

  it('is false for other scripts, markup and spaces', () => {
    for (const text of ['', ' padded ', '日本語', hostileTexts.html, hostileTexts.formula, hostileTexts.longest])
      expect(isOddText(text)).toBe(false)
  })
})
