import { expect, it } from 'vitest'
import { coveringIds } from './rule-cover.ts'

const none = { vid: null, pid: null, serial: null, fingerprint: null }
const print = (n: number): string => n.toString(16).padStart(32, '0')

it('compares a rule for a variant with the rules for this variant and for all of them', () => {
  const variants = Array.from({ length: 1_000 }, (_, n) => ({
    ...none,
    vid: '0781',
    pid: '5581',
    fingerprint: print(n),
  }))
  const model = { ...none, vid: '0781', pid: '5581' }
  const anywhere = { ...none, fingerprint: print(7) }
  const vendor = { ...none, vid: '0781' }
  const kind = { ...none }
  const candidates = coveringIds([...variants, model, anywhere, vendor, kind])
  expect(new Set(candidates({ ...model, serial: 'A1', fingerprint: print(7) }))).toEqual(
    new Set([variants[7], model, anywhere, vendor, kind]),
  )
  expect(candidates({ ...model, serial: 'A1', fingerprint: 'old', rule_fingerprint: print(7) })).toHaveLength(5)
  expect(candidates(model)).toEqual([model, vendor, kind])
})
