/**
 * Simulated devices. IDs and names are from usb.ids; descriptors are from public dumps and knowledge/. The strings are
 * those of the real devices.
 */
import { carriedModels } from './carried-models.ts'
import { deskModels } from './desk-models.ts'
import type { Model } from './model.ts'

/** Models by the role of a device on a host. */
export const models = { ...deskModels, ...carriedModels }

export type Role = keyof typeof models

export const attackTools: readonly Model[] = [
  {
    vid: '03EB',
    pid: '2401',
    manufacturer: 'ATMEL',
    product: 'HID Keyboard',
    revisions: ['0100'],
    serial: null,
    speedMbps: 12,
    maxPowerMa: 100,
    interfaces: ['03:01:01'],
  },
  {
    vid: '03EB',
    pid: '2422',
    manufacturer: 'ATMEL',
    product: 'ASF HID Keyboard',
    revisions: ['0100'],
    serial: '123456789ABC',
    speedMbps: 480,
    maxPowerMa: 100,
    interfaces: ['08:06:50', '03:01:01'],
  },
  {
    vid: '046D',
    pid: 'C529',
    revisions: ['0100'],
    serial: null,
    speedMbps: 12,
    maxPowerMa: 500,
    interfaces: [{ code: '03:01:01', endpoints: [{ address: 0x81, maxPacketSize: 16, interval: 2 }] }],
  },
  {
    vid: 'F000',
    pid: 'FF02',
    manufacturer: 'Hak5',
    product: 'Bash Bunny',
    revisions: ['0333'],
    serial: 'ch000001',
    speedMbps: 480,
    maxPowerMa: 500,
    interfaces: ['03:01:01', '08:06:50'],
  },
  {
    vid: '1D6B',
    pid: '1347',
    manufacturer: 'MaMe82',
    product: 'P4wnP1 by MaMe82',
    revisions: ['0100'],
    serial: 'deadbeef1337',
    speedMbps: 480,
    maxPowerMa: 500,
    deviceCode: 'ef:02:01',
    interfaces: ['02:06:00', '0a:00:00', '03:01:01'],
  },
]
