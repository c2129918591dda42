import { readdirSync, readFileSync } from 'node:fs'
import fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import { patternFault } from './patterns.ts'

const steps = 'million steps'

/** Returns all patterns of this release's knowledge. */
const patternsOf = (value: unknown): string[] =>
  value === null || typeof value !== 'object'
    ? []
    : Object.entries(value).flatMap(([key, member]) =>
        typeof member === 'string' && ['manufacturer', 'product', 'serial', 'configuration'].includes(key)
          ? [member]
          : patternsOf(member),
      )

describe('patterns of knowledge', () => {
  it.each([
    '^Logitech \\(x64\\)$',
    '^\\d&[0-9a-f]{7}&0&1$',
    'a.*b',
    'Kingston.*USB.*Hard Drive',
    '(K9|K21)\\b',
    '(?:USB )?Rubber(?<kind>Ducky|Duck)',
    '[*+(]',
    '[^]]*x',
    '\\)+',
    '\\x41{1,9}',
    'x{3',
    'G5 ?X',
    '',
  ])('accepts %s', (pattern) => expect(patternFault(pattern)).toBeNull())

  it('accepts all patterns of this release', () => {
    const folder = new URL('../../../knowledge/', import.meta.url)
    const patterns = readdirSync(folder)
      .filter((name) => name.endsWith('.json'))
      .flatMap((name) => patternsOf(JSON.parse(readFileSync(new URL(name, folder), 'utf8'))))
    expect(patterns.length).toBeGreaterThan(100)
    for (const pattern of patterns) expect(patternFault(pattern), pattern).toBeNull()
  })

  it.each([
    ['(', 'not a valid regular expression'],
    ['(a+)+$', 'repeats a group'],
    ['(a|a)*', 'repeats a group'],
    ['(ab){2,}', 'repeats a group'],
    ['((?:a)?){2}', 'repeats a group'],
    ['(a)\\1', 'back references'],
    ['(?<n>a)\\k<n>', 'back references'],
    ['(?=a)b', 'look'],
    ['(?<!a)b', 'look'],
    ['.*a.*b.*c', steps],
    ['a{1,99}b{1,99}c{9,}', steps],
    [`${'a{0,8}'.repeat(30)}b`, steps],
    [`${'a?'.repeat(40)}b`, steps],
    [`${'a{0,8}'.repeat(30)}.{255}`, steps],
    [`${'(a|a)'.repeat(38)}b`, steps],
    [`${'(a?)?'.repeat(38)}b`, steps],
    [`${'((a|a)|(a|a))'.repeat(14)}b`, steps],
    [`x|${'\\w{0,2}'.repeat(25)}!`, steps],
  ])('refuses %s', (pattern, why) => expect(patternFault(pattern)).toContain(why))

  it('accepts no pattern that keeps a server busy, whatever names a device reports', () => {
    const atom = fc.constantFrom('a', '.', '[ab]', '\\w', '(a|b)', '(a|a)', '(?:a?|b)', 'b?')
    const repeat = fc.constantFrom('', '', '?', '*', '+?', '{2,5}', '{0,8}', '{1,200}')
    const pattern = fc.array(fc.tuple(atom, repeat), { minLength: 1, maxLength: 24 }).map((p) => p.flat().join(''))
    const name = fc.constantFrom('a'.repeat(255), 'ab'.repeat(127), `${'a'.repeat(254)}!`)
    fc.assert(
      fc.property(pattern, name, (text, device) => {
        if (patternFault(text) !== null) return
        const before = process.cpuUsage()
        // No text ends like this, so the matcher tries every path.
        new RegExp(`(?:${text})#`, 'i').test(device)
        expect(process.cpuUsage(before).user, text).toBeLessThan(3_000_000)
      }),
      { numRuns: 300 },
    )
  })
})
