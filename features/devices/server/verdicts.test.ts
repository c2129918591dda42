// Invariant: The verdict on a device does not depend on similar devices that were seen before.

import { classify, type Knowledge, parseReport, poseWarning } from '@portcullis/domain'
import { buildDevice, type DeviceSpec } from '@portcullis/domain/testing'
import type { Db } from '@portcullis/platform/server/db/db.ts'
import { contextOf } from '@portcullis/server/test/capability-app.ts'
import fc from 'fast-check'
import { beforeAll, expect, it } from 'vitest'
import type { DeviceReport } from '#features/contract.ts'
import { loadKnowledge } from '#features/knowledge/server/index.ts'
import { fakeStore } from './fingerprints.test-store.ts'
import { createFingerprints } from './fingerprints.ts'

/** Top-level usages on the desktop page: keyboard and mouse; and a FIDO authenticator. */
const keyboard = Buffer.from('05010906a101c0', 'hex').toString('base64')
const mouse = Buffer.from('05010902a101c0', 'hex').toString('base64')
const fido = Buffer.from('06d0f10901a101c0', 'hex').toString('base64')

/**
 * Devices whose verdict depends on more than ids: a tablet with a disk, a security key, a receiver, an adapter, a hub.
 */
const bases: DeviceSpec[] = [
  { vid: '256C', pid: '006D', product: 'Pen', interfaces: ['03:00:00', '08:06:50'] },
  { vid: '1050', pid: '0120', manufacturer: 'Yubico', product: 'Security Key', interfaces: ['03:00:00'] },
  {
    vid: '046D',
    pid: 'C52B',
    manufacturer: 'Logitech',
    product: 'USB Receiver',
    interfaces: ['03:01:01', '03:01:02', '03:00:00'],
  },
  { vid: '0B95', pid: '772A', product: 'AX88772A', serial: '000001', interfaces: ['ff:ff:00'] },
  { vid: '2E8A', pid: '000B', product: 'Pico', interfaces: ['02:02:01', '0a:00:00', '08:06:50', '03:00:00'] },
  { vid: '1D6B', pid: '0002', deviceCode: '09:00:00', interfaces: ['09:00:00'] },
]

/** Each field that a verdict may read, with values that change only this field. */
const changes: { [K in keyof DeviceSpec]?: DeviceSpec[K][] } = {
  portPath: ['1-2', '2-1.4'],
  bcdDevice: ['0110', '1207'],
  bcdUsb: [0x0110, 0x0300],
  deviceCode: ['09:00:00', 'ef:02:01'],
  maxPacketSize0: [8, 64],
  maxPowerMa: [100, 500],
  selfPowered: [true, false],
  manufacturer: ['HAK5', 'Flipper Devices Inc.', 'Logitech'],
  product: ['Keyboard', 'Duck', 'P4wnP1 by MaMe82'],
  serial: ['90CEA2000001', 'flip_Test', '7', 'deadbeef1337'],
  configuration: ['RQR12.07_B0029', 'x'],
  speedMbps: [1.5, 12, 480, 5000],
  removable: ['removable', 'fixed', 'unknown'],
  reportDescriptors: [[keyboard], [mouse], [fido], [mouse, keyboard]],
  interfaces: [['03:01:01'], ['03:00:00', '08:06:50'], ['ff:42:01', '03:01:01']],
  moreConfigurations: [[['03:01:01']], [['02:02:ff']]],
}

let knowledge: Knowledge
beforeAll(async () => {
  knowledge = await loadKnowledge(new URL('../../../knowledge', import.meta.url).pathname)
})

/** Returns the verdict on a device when no other device was seen before. */
const alone = (report: DeviceReport) => {
  const parsed = parseReport(report)
  const kind = classify(parsed, report, knowledge.productName(parsed.vid, parsed.pid) ?? '')
  const { attackTool, vulnerabilities } = knowledge.assess(parsed, report, kind.kinds)
  return {
    icon: kind.icon,
    attackTool: attackTool?.level ?? null,
    evidence: [
      ...(attackTool === null ? [] : [attackTool.name, ...attackTool.evidence]),
      ...poseWarning(parsed, kind.kinds),
    ],
    vulnerabilities,
  }
}

const cached = async (reports: DeviceReport[]) => {
  const fingerprints = createFingerprints(
    contextOf({
      db: {} as Db,
      store: fakeStore().store,
      knowledge: { current: () => knowledge },
      accepted: { all: async () => new Map() },
    }),
  )
  const found = []
  // Different hosts report them one after the other.
  for (const report of reports) found.push(...(await fingerprints.evaluateAll([report], new Date(0))))
  return found.map(({ fingerprint: { icon, attackTool, evidence, vulnerabilities } }) => ({
    icon,
    attackTool,
    evidence,
    vulnerabilities,
  }))
}

it('does not depend on similar devices that were seen before', async () => {
  const variants = Object.entries(changes).flatMap(([key, values]) => values.map((value) => ({ [key]: value })))
  for (const base of bases)
    for (const variant of variants) {
      const pair = [buildDevice(base), buildDevice({ ...base, ...variant })]
      for (const order of [pair, pair.toReversed()])
        expect(await cached(order), `${base.vid}:${base.pid} ${JSON.stringify(variant)}`).toEqual(order.map(alone))
    }
})

it('does not depend on devices that differ in several fields', async () => {
  const variant = fc.record(
    Object.fromEntries(
      Object.entries(changes).map(([key, values]) => [key, fc.constantFrom(...(values as unknown[]))]),
    ),
    { requiredKeys: [] },
  ) as fc.Arbitrary<Partial<DeviceSpec>>
  await fc.assert(
    fc.asyncProperty(
      fc.constantFrom(...bases),
      fc.array(variant, { minLength: 2, maxLength: 5 }),
      async (base, all) => {
        const reports = all.map((change) => buildDevice({ ...base, ...change }))
        expect(await cached(reports)).toEqual(reports.map(alone))
      },
    ),
    { numRuns: 200 },
  )
})
