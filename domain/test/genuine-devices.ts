import type { DeviceReport } from '@portcullis/contract'
import { buildDevice, keyboardBehindHubs, securityKeyBehindHub, unifyingReceiver1207 } from '@portcullis/domain/testing'

/** Devices and root hubs of a virtual workstation, with the VIDs, PIDs, classes, revisions and texts of real devices. */
export const workstation: DeviceReport[] = [
  buildDevice({
    ...{
      portPath: '1-1',
      vid: '203A',
      pid: 'FFFA',
      manufacturer: 'A maker',
      product: 'Virtual printer (/home/a/b.txt)',
    },
    ...{ serial: 'SN0000', configuration: 'A maker', interfaces: ['07:01:01'] },
  }),
  buildDevice({
    // The comparison knows this device's texts.
    ...{
      portPath: '1-2',
      vid: '203A',
      pid: 'FFFC',
      manufacturer: 'Parallels',
      product: 'Virtual Mouse',
      maxPowerMa: 0,
    },
    ...{ serial: 'V3.0', configuration: '', interfaces: ['03:00:02', '03:00:02'] },
  }),
  buildDevice({
    ...{ portPath: '1-3', vid: '1D6B', pid: '0002', bcdDevice: '0600', deviceCode: '09:00:00' },
    ...{
      manufacturer: 'Linux 6.1 ehci_hcd',
      product: 'Host controller',
      serial: '0000:00:1d.7',
      interfaces: ['09:00:00'],
    },
  }),
  buildDevice({
    ...{ portPath: '1-4', vid: '1D6B', pid: '0003', bcdDevice: '0600', bcdUsb: 0x0310, deviceCode: '09:00:03' },
    ...{
      manufacturer: 'Linux 6.1 xhci-hcd',
      product: 'Host controller',
      serial: '0000:00:1d.6',
      interfaces: ['09:00:00'],
    },
    maxPacketSize0: 9,
  }),
  // A debug probe: two serial ports with two interfaces each, and a vendor-specific interface.
  buildDevice({
    ...{ portPath: '1-6', vid: '1366', pid: '1050', deviceCode: 'ef:02:01', manufacturer: 'A maker', product: 'Probe' },
    ...{ serial: '001050000001', configuration: 'Configuration' },
    interfaces: ['02:02:01', '0a:00:00', '02:02:01', '0a:00:00', 'ff:ff:ff'],
  }),
  // Another debug probe, with replaceable firmware.
  buildDevice({
    ...{ portPath: '1-7', vid: '1D50', pid: '6018', deviceCode: 'ef:02:01', maxPacketSize0: 32 },
    ...{ manufacturer: 'Another maker', product: 'Probe  v1.8.2', serial: '97B00001' },
    interfaces: ['02:02:00', '0a:00:00', '02:02:00', '0a:00:00', 'fe:01:01', 'ff:ff:ff'],
  }),
  buildDevice({
    ...{ portPath: '1-8', vid: '203A', pid: 'FFFE', bcdDevice: '0101', deviceCode: '09:00:00', maxPacketSize0: 8 },
    ...{ manufacturer: 'A maker', product: 'Virtual hub', serial: 'V3.0', interfaces: ['09:00:00'] },
  }),
]

/** The two types of receivers for wireless keyboards and mice, with one interface for each protocol. */
export const receivers: Readonly<Record<'1207' | '2405', DeviceReport>> = {
  1207: unifyingReceiver1207(),
  2405: unifyingReceiver1207({ bcdDevice: '2405', configuration: 'RQR24.05_B0029', maxPacketSize0: 32 }),
}

/** The controller of a dock. Its serial number string is empty. */
export const dock: DeviceReport = buildDevice({
  ...{ portPath: '1-1', vid: '17EF', pid: '30B4', manufacturer: 'A maker', product: 'Dock controller', serial: '' },
  interfaces: ['03:00:00'],
})

/** All of these devices, and the devices of two hub trees. */
export const genuineDevices = (): DeviceReport[] => [
  ...workstation,
  ...Object.values(receivers),
  dock,
  ...keyboardBehindHubs(),
  ...securityKeyBehindHub(),
]
