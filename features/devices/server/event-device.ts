import { deviceDetails } from '#features/events/server/index.ts'
import type { Fingerprint } from './fingerprint.ts'

/** Returns the members of an event about a device. */
export const eventDevice = (device: Fingerprint, serial: string, note = '') => ({
  icon: device.icon,
  details: deviceDetails({ ...device, serial, vendor: device.vendorName, product: device.productName }, note),
})
