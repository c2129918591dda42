import { describe, expect, it } from 'vitest'
import { parseReport, policyDevice, whyNotWorking } from '../src/index.ts'
import { buildDevice, type Change } from '../src/testing.ts'

const device = (change: Change & { configurationValue?: number } = {}) =>
  buildDevice({ vid: '1A2B', pid: '0001', interfaces: ['08:06:50'], speedMbps: 480, ...change })
const why = (report: ReturnType<typeof device>) => whyNotWorking(parseReport(report), report)

describe('why a device does not work', () => {
  it('is empty for a configured device, for a blocked one and for hosts that do not show it', () => {
    for (const report of [
      device({ configurationValue: 1 }),
      device(),
      device({ configurationValue: 0, authorized: false, maxPowerMa: 510 }),
    ])
      expect(why(report)).toBe('')
  })

  it.each([
    [510, 480, '1-2', 'it needs 510 mA, and a port supplies 500 mA'],
    [500, 480, '1-2.3', 'it needs 500 mA, probably more than the port of its hub supplies'],
    [500, 480, '1-2', 'the kernel log of the host gives the reason'],
    [100, 480, '1-2.3', 'the kernel log of the host gives the reason'],
  ])(
    'names the power of a device that needs %i mA at %i Mbit/s and port %s',
    (maxPowerMa, speedMbps, portPath, text) => {
      const report = device({ configurationValue: 0, maxPowerMa, speedMbps, portPath })
      expect(why(report)).toBe(`The kernel did not configure the device: ${text}.`)
    },
  )

  it('names each interface that stays closed with its reason', () => {
    const closedInterfaces = [
      { interface: 0, reason: 'no-driver' as const },
      { interface: 7, reason: 'not-described' as const },
    ]
    expect(why({ ...device({ configurationValue: 1 }), closedInterfaces })).toBe(
      'Interface 0 stays closed: no allowed driver bound to it. Interface 7 stays closed: the descriptors do not contain it.',
    )
  })

  it('never changes what rules compare', () => {
    const plain = device({ moreConfigurations: [['03:01:01']] })
    const shown = { ...plain, configurationValue: 2, isOverNetwork: true, closedInterfaces: [] }
    expect(policyDevice(parseReport(shown), shown, null)).toEqual(policyDevice(parseReport(plain), plain, null))
  })
})
