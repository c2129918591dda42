import { classify, parseReport, steadyReport } from '@portcullis/domain'
import {
  flipperBadUsb,
  hub,
  plainKeyboard,
  rubberDucky,
  spoofedUnifying,
  storageStick,
  unifyingReceiver1207,
} from '@portcullis/domain/testing'
import fc from 'fast-check'
import { expect, it } from 'vitest'
import { loadKnowledge } from '#features/knowledge/server/index.ts'
import { levelsBy } from './levels.ts'

const presets = [
  flipperBadUsb,
  hub,
  plainKeyboard,
  rubberDucky,
  spoofedUnifying,
  storageStick,
  unifyingReceiver1207,
] as const

it('finds the same levels as a host that reads the whole device, in any order', async () => {
  const knowledge = await loadKnowledge(new URL('../../../knowledge', import.meta.url).pathname)
  const found = new Set<string | null>()
  fc.assert(
    fc.property(
      fc.constantFrom(...presets),
      fc.array(
        fc.record({
          portPath: fc.constantFrom('1-1', '2-1.4'),
          serial: fc.constantFrom('', 'S1', '0', 'flip_Test'),
          speedMbps: fc.constantFrom(1.5, 12, 480, 5000),
        }),
        { minLength: 1, maxLength: 6 },
      ),
      (preset, devices) => {
        const base = preset({ portPath: '1-1' })
        const fingerprint = {
          descriptors: base.descriptors,
          manufacturer: base.manufacturer ?? '',
          product: base.product ?? '',
          inputs: null,
        }
        const levelOf = levelsBy(knowledge, fingerprint)
        for (const device of devices) {
          const steady = steadyReport({ ...base, ...device })
          const parsed = parseReport(steady)
          const { attackTool } = knowledge.assess(parsed, steady, classify(parsed, steady).kinds)
          found.add(attackTool?.level ?? null)
          expect(levelOf({ serial: device.serial, speed: device.speedMbps, portPath: device.portPath })).toBe(
            attackTool?.level ?? null,
          )
        }
      },
    ),
    { numRuns: 300 },
  )
  expect([...found].sort()).toEqual(['confirmed', null, 'suspected'].sort())
})
