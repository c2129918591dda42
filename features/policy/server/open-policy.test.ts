import { type CapabilityKind, decide, type PolicyDevice } from '@portcullis/domain'
import fc from 'fast-check'
import { expect, it } from 'vitest'
import type { PolicyRule } from '#features/contract.ts'
import type { Fingerprint } from '#features/devices/server/index.ts'
import { createRuleSet } from './open-policy.ts'

// Few values, so that rules often match devices. Rules treat all but two of the serial numbers as equal.
const serials = ['', 'Ab c', 'aB_C', 'ab%20c', 'abc', 'ab%07c']
const rule = fc.record(
  {
    effect: fc.constantFrom('allow' as const, 'deny' as const),
    level: fc.constantFrom('tag' as const, 'global' as const),
    vid: fc.constantFrom('0781', '0951'),
    pid: fc.constantFrom('5581', '1666'),
    kinds: fc.constantFrom<CapabilityKind>('Mass Storage', 'Keyboard').map((kind) => [kind]),
    fingerprint: fc.constantFrom('one', 'other'),
    serial: fc.constantFrom(...serials),
    hasCleanedSerial: fc.boolean(),
  },
  { requiredKeys: ['effect', 'level'] },
)

it('decides by the rules for a serial number as by all rules', () => {
  fc.assert(
    fc.property(fc.array(rule, { maxLength: 12 }), fc.constantFrom(...serials), (drafts, serial) => {
      const rules = drafts.map((draft, i): PolicyRule => ({ ...draft, id: String(i) }))
      const device: PolicyDevice = {
        ...{ vid: '0781', pid: '5581', serial, kinds: ['Mass Storage'], mayType: false, isHub: false },
        ...{ fingerprint: 'one', fingerprintWithoutRevision: 'one', ruleFingerprint: 'one', attackTool: null },
      }
      const wide = rules.map((one) => ({ rule: one, tag: one.level === 'tag' ? 'lab' : null }))
      const host = createRuleSet(1, wide).hostPolicy({ armed: true, hashtags: 'Lab', own: [] })
      const found = host.rulesFor({ id: 1, vid: '0781', device } as Partial<Fingerprint> as Fingerprint, serial)
      expect(decide(found, device, 0)).toEqual(decide(host.all(), device, 0))
    }),
    { numRuns: 3_000 },
  )
})
