import type { FeedFault } from '@portcullis/contract/feed-lines.ts'
import { cleanText } from '../text.ts'
import { type EventFields, type FieldRole, fieldsOf } from './feed-fields.ts'
import { messageData } from './feed-text.ts'
import { type ToInstant, timeOf, zoneless } from './feed-time.ts'
import { type TreeObject, unescapeXml } from './tree.ts'
import { compatibleOf, isChild } from './windows-classes.ts'

/** A USB device that a feed reports. */
export interface FeedEvent {
  /** Text that identifies the event, so that a replay counts once. Without an ID, it is the whole line. */
  key: string
  /** In lower case, without a final dot. */
  host: string
  /** Milliseconds since 1970; null: the event has no time, or none with a known zone. */
  at: number | null
  /** Device instance ID. */
  instance: string
  /** The node as the list of devices of Windows describes it. */
  said: TreeObject
}

/** `other`: another event. `unknown`: no event at all that the reader knows. */
export type FeedOutcome = FeedEvent | 'other' | 'unknown' | FeedFault

/** Windows limits IDs to 200 characters (MAX_DEVICE_ID_LEN). */
const MAX_ID = 200
const MAX_IDS = 16
/** Capability bit of a device with its own serial number (CM_DEVCAP_UNIQUEID). */
const UNIQUE_ID = 0x10

const USB_DEVICE = /^USB\\VID_[0-9A-F]{4}&PID_[0-9A-F]{4}[^\\]{0,64}\\[^\\]+$/i
const USB_ID = /^USB\\[\x21-\x7e]+$/i
const HOST = /^[^\s\p{C}\\/<>"'&]{1,255}$/u

/** Some exporters escape backslashes twice. No ID has two in a row. */
const singleSlashes = (id: string): string => (id.includes('\\\\') ? id.replaceAll('\\\\', '\\') : id)

/** Returns the IDs in a text with one ID per line. */
const idsOf = (text: string): string[] =>
  text
    .slice(0, 8_192)
    .split(/[\s,;]+/)
    .filter((id) => id.length <= MAX_ID && USB_ID.test(id))
    .slice(0, MAX_IDS)
    .map(singleSlashes)

const hostOf = (text: string): string | undefined => {
  const host = cleanText(text, 256).toLowerCase().replace(/\.$/, '')
  return HOST.test(host) ? host : undefined
}

/** Returns the first time with a known zone. Null: all valid times lack a zone, or there are none. Undefined: all are invalid. */
const timeIn = (texts: readonly string[], toInstant?: ToInstant): number | null | undefined => {
  const times = texts.map((text) => timeOf(text.trim(), toInstant))
  const placed = times.find((time) => typeof time === 'number')
  return placed ?? (texts.length === 0 || times.includes(zoneless) ? null : undefined)
}

/** Returns the fields of the device. Some exporters write only the text of the event. */
const deviceIn = (fields: EventFields): Record<'device' | 'hardware' | 'compatible' | 'setupClass', string> => {
  const one = (role: FieldRole): string => fields.get(role)?.[0] ?? ''
  const found = {
    device: one('device'),
    hardware: one('hardware'),
    compatible: one('compatible'),
    setupClass: one('class'),
  }
  if (found.device === '' && one('message') !== '') {
    const said = messageData(one('message'))
    return {
      device: said.DeviceId,
      hardware: said.VendorIds.join('\n'),
      compatible: said.CompatibleIds.join('\n'),
      setupClass: said.ClassId,
    }
  }
  // Wazuh copies the values from XML and leaves the entities. Every ID of a USB device contains `&`.
  if (/&amp;(?:PID|PROD)_/i.test(found.device))
    for (const key of ['device', 'hardware', 'compatible'] as const) found[key] = unescapeXml(found[key])
  return found
}

/** Returns the USB device of one event. */
export const feedEvent = (line: TreeObject, toInstant?: ToInstant): FeedOutcome => {
  const fields = fieldsOf(line)
  const one = (role: FieldRole): string => fields.get(role)?.[0] ?? ''
  const ids = (fields.get('eventId') ?? []).filter((id) => /^\d{1,5}$/.test(id.trim()))
  const isWindows = ids.some((id) => id.trim() === '6416')
  const isDefender = one('action') === 'PnpDeviceConnected'
  if (!isWindows && !isDefender) return ids.length > 0 || one('action') !== '' ? 'other' : 'unknown'
  const host = hostOf(isWindows ? one('host') : one('deviceName') || one('host'))
  if (host === undefined) return 'host-missing'
  const { device, hardware, compatible, setupClass } = deviceIn(fields)
  if (device === '') return 'device-missing'
  const instance = singleSlashes(device.trim().replaceAll('\0', '')).toWellFormed()
  if (instance.length > MAX_ID || !(USB_DEVICE.test(instance) || isChild(instance))) return 'other'
  // Defender sends no compatible IDs, and those of nodes below a USB device name no USB class.
  const byClass = compatibleOf(setupClass)
  const compatibleIds = idsOf(compatible)
  if (compatibleIds.length === 0 && byClass !== undefined) compatibleIds.push(byClass)
  if (compatibleIds.length === 0 && isChild(instance)) return 'other'
  const times = fields.get('time') ?? []
  const at = timeIn(times, toInstant)
  if (at === undefined) return 'time-invalid'
  const serial = instance.slice(instance.lastIndexOf('\\') + 1)
  const windowsKey = one('record') === '' ? [] : ['w', host, one('channel'), one('record'), times[0] ?? '']
  // A report ID is unique only together with its time.
  const defenderKey = one('report') === '' ? [] : ['d', one('machine'), one('report'), times[0] ?? instance]
  return {
    key: (isWindows ? windowsKey : defenderKey).join('\n'),
    host,
    at,
    instance,
    said: {
      InstanceId: instance,
      HardwareID: idsOf(hardware),
      CompatibleID: compatibleIds,
      // An `&` in the second position means that Windows generated the serial number.
      Capabilities: serial[1] === '&' ? 0 : UNIQUE_ID,
    },
  }
}
