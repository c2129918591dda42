import fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import { patternFault } from './knowledge.patterns.ts'

describe('patterns of knowledge', () => {
  it.each(['^Logitech \\(x64\\)$', '^\\d&[0-9a-f]{7}&0&1$', 'a.*b', '(K9|K21)\\b', '[*+(]', '\\)+', 'x{3', 'G5 ?X'])(
    'takes %s',
    (pattern) => expect(patternFault(pattern)).toBeNull(),
  )

  it.each([
    ['(', 'no regular expression'],
    ['(a+)+$', 'repeats a group'],
    ['(a|a)*', 'repeats a group'],
    ['(ab){2,}', 'repeats a group'],
    ['(a)\\1', 'back references'],
    ['(?<n>a)\\k<n>', 'back references'],
    ['(?=a)b', 'look'],
    ['(?<!a)b', 'look'],
    ['.*a.*b.*c', '3 long repetitions'],
    ['a{1,99}b{1,99}c{9,}', '3 long repetitions'],
  ])('refuses %s', (pattern, why) => expect(patternFault(pattern)).toContain(why))

  it('takes none that keeps a server busy, whatever a device calls itself', () => {
    const atom = fc.constantFrom('a', '.', '[ab]', '\\w', '(a|b)', 'b?')
    const repeat = fc.constantFrom('', '', '*', '+', '{2,5}', '{1,200}')
    const pattern = fc.array(fc.tuple(atom, repeat), { minLength: 1, maxLength: 12 }).map((p) => p.flat().join(''))
    fc.assert(
      fc.property(pattern, (text) => {
        if (patternFault(text) !== null) return
        const before = process.cpuUsage()
        new RegExp(`${text}$`, 'i').test(`${'ab'.repeat(127)}!`)
        expect(process.cpuUsage(before).user, text).toBeLessThan(2_000_000)
      }),
    )
  })
})
