import { expect, it } from 'vitest'
import { root } from '../kit/root.ts'
import { isMet } from '../kit/verdict.ts'
import { sources } from './sources.ts'

it('finds no unlisted dangerous construct in the sources', { timeout: 180_000 }, async () => {
  const { findings, notes } = await sources.run({ root, isQuick: true, minutes: undefined, seed: 1 })
  expect(findings.length).toBeGreaterThan(5)
  expect([findings.filter((one) => !isMet(one)).map(({ what }) => what), notes]).toEqual([[], []])
})
