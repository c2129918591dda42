import { describe, expect, it } from 'vitest'
import type { Peripheral } from '#features/contract.ts'
import { compareDevices, compareRules } from './compare.ts'

const device = (pid: string, more: Partial<Peripheral> = {}): Peripheral =>
  ({ vid: '0781', pid, present: true, policyState: 'allowed', severity: 10, ...more }) as Peripheral

describe('the comparison of two hosts', () => {
  it('sorts models into only here, only there, different and the same', () => {
    const here = [device('0001'), device('0002'), device('0003'), device('0005', { present: false })]
    const there = [device('0002'), device('0003', { policyState: 'blocked' }), device('0004')]
    expect(compareDevices(here, there).map(({ model, side }) => [model, side])).toEqual([
      ['0781:0001', 'here'],
      ['0781:0004', 'there'],
      ['0781:0003', 'different'],
      ['0781:0002', 'same'],
    ])
    expect(compareDevices([device('0001'), device('0001')], [device('0001')])[0]?.side).toBe('different')
  })

  it('names the rules of one host only', () => {
    const rule = (id: string) => ({ id, effect: 'allow' as const, level: 'global' as const, sentence: id })
    expect(compareRules([rule('a'), rule('b')], [rule('b'), rule('c')])).toEqual([
      { rule: rule('a'), side: 'here' },
      { rule: rule('c'), side: 'there' },
    ])
  })
})
