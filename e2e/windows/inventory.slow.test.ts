import type { DeviceReport } from '@portcullis/contract/agent-protocol.ts'
import { assignDeviceIds, classify, fingerprints, missingEvidence, parseReport } from '@portcullis/domain'
import { storageStick, unless } from '@portcullis/domain/testing'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import type { WindowsDevice, WindowsScan } from '../../agent/src/platform/windows/inventory.ts'
import { hubDataFor, windowsNodes } from '../../agent/test/windows-nodes.ts'
import { bundleForWine } from '../../proof/kit/windows/bundle.ts'
import { createWineRoot, type WineRoot, whyNoWine } from '../../scripts/wine/root.ts'
import { fixtureDevices as reports } from './fixture-devices.ts'

const identity = (all: readonly DeviceReport[]) => {
  const parsed = all.map((report) => parseReport(report))
  const ids = assignDeviceIds(
    all.map(({ serial, portPath }, i) => ({
      vid: parsed[i]?.vid ?? '',
      pid: parsed[i]?.pid ?? '',
      serial,
      portPath,
    })),
  )
  return all.map((report, i) => {
    const descriptors = parseReport(report)
    const { kind } = classify(descriptors, report)
    return { id: ids[i], fingerprints: fingerprints(descriptors, report), kind, product: report.product }
  })
}

interface Result extends Pick<WindowsScan, 'phantoms' | 'problems'> {
  devices: WindowsDevice[]
  stampLines: number
  stampMs: number
}

describe('the inventory of Windows under Wine', unless(whyNoWine()), () => {
  let root: WineRoot
  let program: string
  beforeAll(async () => {
    root = await createWineRoot()
    program = await bundleForWine('e2e/windows/guest/inventory.ts')
    root.add('inventory.cjs', program)
  }, 600_000)
  afterAll(() => root?.remove())

  const scan = (devices: readonly DeviceReport[], withHub: boolean): Result => {
    const nodes = devices.flatMap((report) => windowsNodes(report))
    root.add(
      'fixture.json',
      JSON.stringify({
        nodes: nodes.map(({ instanceId, properties }) => ({
          instanceId,
          properties: Object.entries(properties).map(([name, { type, data }]) => [
            name,
            type,
            Buffer.from(data ?? []).toString('base64'),
          ]),
        })),
        hub: Object.fromEntries(
          (withHub ? devices : []).map((report) => {
            const data = hubDataFor(report)
            return [report.portPath.slice(2), { ...data, descriptors: data.descriptors.toString('base64') }]
          }),
        ),
      }),
    )
    const { status, all } = root.node('inventory.cjs')
    expect(all).toBe('')
    expect(status).toBe(0)
    return JSON.parse(root.read('scan.json')) as Result
  }

  it('gives 38 devices the ids, fingerprints and kinds of Linux', () => {
    const result = scan(reports, true)
    expect(result.problems).toEqual([])
    expect(result.devices.map(({ report }) => report.portPath)).toEqual(reports.map(({ portPath }) => portPath))
    expect(identity(result.devices.map(({ report }) => report))).toEqual(identity(reports))
    expect(result.stampLines).toBeGreaterThanOrEqual(reports.length)
    // A poll of 31 devices took 7 ms of processor time; the limit is for slow machines.
    expect(result.stampMs).toBeLessThan(1000)
  })

  it('lacks evidence of a device whose hub returns nothing', () => {
    const [stick] = scan([storageStick({ portPath: '1-39', serial: '4C530001230615119999' })], false).devices.filter(
      ({ instanceId }) => instanceId === 'USB\\VID_0781&PID_5581\\4C530001230615119999',
    )
    const { report, hasOwnSerial } = stick as WindowsDevice
    expect(hasOwnSerial).toBe(true)
    expect(missingEvidence(parseReport(report), report)).toEqual(['descriptors', 'strings', 'speed'])
  })
})
