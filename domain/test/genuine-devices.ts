import type { DeviceReport } from '@portcullis/contract/agent-reports.ts'
import {
  buildDevice,
  type DeviceSpec,
  deviceSpec,
  keyboardBehindHubs,
  securityKeyBehindHub,
  unifyingReceiver1207,
} from '@portcullis/domain/testing'

const device = (row: string, more: Partial<DeviceSpec> = {}): DeviceReport =>
  buildDevice({ ...deviceSpec(row), ...more })

/** Devices and root hubs of a virtual workstation, with the VIDs, PIDs, classes, revisions and texts of real devices. */
export const workstation: DeviceReport[] = [
  device('203A:FFFA | A maker | Virtual printer (/home/a/b.txt) | port=1-1 07:01:01 serial=SN0000', {
    configuration: 'A maker',
  }),
  // The comparison knows this device's texts.
  device('203A:FFFC | Parallels | Virtual Mouse | port=1-2 03:00:02 03:00:02 power=0 serial=V3.0', {
    configuration: '',
  }),
  device(
    '1D6B:0002 | Linux 6.1 ehci_hcd | Host controller | port=1-3 09:00:00 bcd=0600 device=09:00:00 serial=0000:00:1d.7',
  ),
  device(
    '1D6B:0003 | Linux 6.1 xhci-hcd | Host controller | port=1-4 09:00:00 bcd=0600 usb=0310 device=09:00:03 serial=0000:00:1d.6 packet=9',
  ),
  // A debug probe: two serial ports with two interfaces each, and a vendor-specific interface.
  device(
    '1366:1050 | A maker | Probe | port=1-6 02:02:01 0a:00:00 02:02:01 0a:00:00 ff:ff:ff device=ef:02:01 serial=001050000001 configuration=Configuration',
  ),
  // Another debug probe, with replaceable firmware.
  device(
    '1D50:6018 | Another maker | Probe  v1.8.2 | port=1-7 02:02:00 0a:00:00 02:02:00 0a:00:00 fe:01:01 ff:ff:ff device=ef:02:01 packet=32 serial=97B00001',
  ),
  device('203A:FFFE | A maker | Virtual hub | port=1-8 09:00:00 bcd=0101 device=09:00:00 packet=8 serial=V3.0'),
]

/** The two types of receivers for wireless keyboards and mice, with one interface for each protocol. */
export const receivers: Readonly<Record<'1207' | '2405', DeviceReport>> = {
  1207: unifyingReceiver1207(),
  2405: unifyingReceiver1207({ bcdDevice: '2405', configuration: 'RQR24.05_B0029', maxPacketSize0: 32 }),
}

/** The controller of a dock. Its serial number string is empty. */
export const dock = device('17EF:30B4 | A maker | Dock controller | port=1-1 03:00:00 serial=')

/** All of these devices, and the devices of two hub trees. */
export const genuineDevices = (): DeviceReport[] => [
  ...workstation,
  ...Object.values(receivers),
  dock,
  ...keyboardBehindHubs(),
  ...securityKeyBehindHub(),
]
