import type { DeviceReport } from '@portcullis/contract/agent-protocol'
import { assignDeviceIds, classify, fingerprints, parseReport } from '@portcullis/domain'
import { buildDevice, type DeviceSpec, devicePresets, storageStick, unless } from '@portcullis/domain/testing'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import type { WindowsDevice, WindowsScan } from '../../agent/src/platform/windows/inventory.ts'
import { hubDataFor, windowsNodes } from '../../agent/test/windows-nodes.ts'
import { createWineRoot, type WineRoot, whyNoWine } from '../../scripts/wine/root.ts'
import { bundleForWine } from './bundle.ts'

/** Written from documentation, not recorded: VID, PID, product, serial number and interfaces. */
const WRITTEN: readonly [string, string, string, string | undefined, NonNullable<DeviceSpec['interfaces']>][] = [
  ['04F2', '0402', 'Slim Keyboard', undefined, ['03:01:01']],
  ['045E', '0823', 'Classic IntelliMouse', undefined, ['03:01:02']],
  ['0951', '1666', 'DataTraveler 3.0', '60A44C3FACC0B2A1C9A3014D', ['08:06:50']],
  ['0BC2', '231A', 'Expansion', 'NA8TPZ2K', ['08:06:50', '08:06:62']],
  ['04E8', '6860', 'Galaxy', 'R58M12ABCDE', ['06:01:01']],
  ['05AC', '12A8', 'iPhone', '00008101000A1D2E3C80001E', ['06:01:01', 'ff:fe:02']],
  ['0BDA', '8153', 'USB 10/100/1000 LAN', '001000001', ['ff:ff:00']],
  ['0B95', '1790', 'AX88179A', '00B5A1B2C3', ['ff:ff:00']],
  ['0403', '6001', 'FT232R USB UART', 'A50285BI', ['ff:ff:ff']],
  ['10C4', 'EA60', 'CP2102 UART Bridge', '0001', ['ff:00:00']],
  ['2341', '0043', 'Arduino Uno', '85430353531351F0E1B2', ['02:02:01', '0a:00:00']],
  ['03F0', '0C17', 'LaserJet 1010', '00CNFB123456', ['07:01:02']],
  ['04B8', '0202', 'TM-T88V', 'J5MF012345', ['07:01:02']],
  ['076B', '3031', 'Smart Card Reader', undefined, ['0b:00:00']],
  ['08E6', '3437', 'PC Twin Reader', undefined, ['0b:00:00']],
  ['0D8C', '0014', 'Audio Adapter', undefined, ['01:01:00', '01:02:00', '03:00:00']],
  ['046D', '0A44', 'Headset H390', undefined, ['01:01:00', '01:02:00', '03:00:00']],
  ['045E', '028E', 'Controller', '0E12AB34', ['ff:5d:01']],
  ['056A', '0374', 'Intuos S', '8KH00T1000001', ['03:00:00', '03:00:00']],
  ['05E0', '1200', 'Bar Code Scanner', 'S/N:ABCDEF0123', ['03:01:01']],
  ['0A5C', '21E8', 'BCM20702A0', '5CF370660000', ['e0:01:01', 'e0:01:01', 'fe:01:01']],
  ['0CF3', 'E300', 'Bluetooth', undefined, ['e0:01:01', 'e0:01:01']],
  ['1199', '9071', 'EM7455', 'LF64320001', ['02:0e:00', '0a:00:02']],
  ['0483', 'DF11', 'DFU in FS Mode', '335231583531', ['fe:01:02']],
  ['2109', '0102', 'USB 2.0 BILLBOARD', '0000000000000001', ['11:00:00']],
  ['1D50', '6018', 'Black Magic Probe', 'C3D2B1A0', ['02:02:01', '0a:00:00']],
]

/** Thirty-eight devices at the ports 1 to 38 of one controller. */
const reports: DeviceReport[] = [
  ...Object.values(devicePresets),
  ...WRITTEN.map(
    ([vid, pid, product, serial, interfaces]) =>
      ({ portPath }: { portPath: string }) =>
        buildDevice({ vid, pid, product, portPath, interfaces, ...(serial === undefined ? {} : { serial }) }),
  ),
].map((make, index) => make({ portPath: `1-${index + 1}` }))

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

  it('names the missing evidence of a device whose hub returns nothing', () => {
    const [stick] = scan([storageStick({ portPath: '1-39', serial: '4C530001230615119999' })], false).devices.filter(
      ({ instanceId }) => instanceId === 'USB\\VID_0781&PID_5581\\4C530001230615119999',
    )
    expect(stick).toMatchObject({ missing: ['descriptors', 'strings', 'speed'], hasOwnSerial: true })
  })
})
