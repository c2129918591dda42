import fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import { compareVersions } from '../src/agent-package.ts'

const number = fc.nat(999_999_999)
const identifier = fc.oneof(number.map(String), fc.stringMatching(/^[A-Za-z-][0-9A-Za-z-]{0,5}$/))
const version = fc
  .tuple(number, number, number, fc.array(identifier, { maxLength: 3 }))
  .map(([a, b, c, pre]) => `${a}.${b}.${c}${pre.length > 0 ? `-${pre.join('.')}` : ''}`)

describe('compareVersions', () => {
  it('follows semantic versioning', () => {
    const ordered = [
      ...['0.9.9', '1.0.0-alpha', '1.0.0-alpha.1', '1.0.0-alpha.beta', '1.0.0-beta', '1.0.0-beta.2', '1.0.0-beta.11'],
      ...['1.0.0-rc.1', '1.0.0', '1.0.1', '1.9.0', '1.10.0', '2.0.0-1', '2.0.0', '10.0.0'],
    ]
    for (const [i, a] of ordered.entries())
      for (const [j, b] of ordered.entries())
        expect(Math.sign(compareVersions(a, b)), `${a} ${b}`).toBe(Math.sign(i - j))
    expect(compareVersions('1.0.0+5', '1.0.0+6')).toBe(0)
  })

  it('is a total order', () => {
    fc.assert(
      fc.property(version, version, version, (a, b, c) => {
        expect(Math.sign(compareVersions(a, b))).toBe(-Math.sign(compareVersions(b, a)))
        expect(compareVersions(a, b) === 0).toBe(a === b)
        if (compareVersions(a, b) < 0 && compareVersions(b, c) < 0) expect(compareVersions(a, c)).toBeLessThan(0)
      }),
    )
  })
})
