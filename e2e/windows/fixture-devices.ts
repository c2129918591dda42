/** Devices for tests under Wine. */
import type { DeviceReport } from '@portcullis/contract/agent-protocol.ts'
import { buildDevice, type DeviceSpec, devicePresets } from '@portcullis/domain/testing'

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
export const fixtureDevices: readonly DeviceReport[] = [
  ...Object.values(devicePresets),
  ...WRITTEN.map(
    ([vid, pid, product, serial, interfaces]) =>
      ({ portPath }: { portPath: string }) =>
        buildDevice({ vid, pid, product, portPath, interfaces, ...(serial === undefined ? {} : { serial }) }),
  ),
].map((make, index) => make({ portPath: `1-${index + 1}` }))
