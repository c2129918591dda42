import type { FeedFault } from '@portcullis/contract'
import { cleanText } from '../text.ts'
import { xmlData } from './feed-xml.ts'
import { parseJson, type Tree, type TreeObject } from './tree.ts'

/** A USB device that a feed reports. */
export interface FeedEvent {
  /** Text that identifies the event, so that a replay counts once. Without an ID, it is the whole line. */
  key: string
  /** In lower case, without a final dot. */
  host: string
  /** Milliseconds since 1970; null: the event has no time. */
  at: number | null
  /** Device instance ID. */
  instance: string
  /** The node as the list of devices of Windows describes it. */
  said: TreeObject
}

export type FeedOutcome = FeedEvent | 'ignored' | FeedFault

/** Windows limits IDs to 200 characters (MAX_DEVICE_ID_LEN). */
const MAX_ID = 200
const MAX_IDS = 16
/** Capability bit of a device with its own serial number (CM_DEVCAP_UNIQUEID). */
const UNIQUE_ID = 0x10

const USB_DEVICE = /^USB\\VID_[0-9A-F]{4}&PID_[0-9A-F]{4}[^\\]{0,64}\\[^\\]+$/i
const USB_ID = /^USB\\[\x21-\x7e]+$/i
const HOST = /^[^\s\p{C}\\/<>"'&]{1,255}$/u

const isObject = (value: Tree | undefined): value is TreeObject =>
  typeof value === 'object' && value !== null && !Array.isArray(value)

const own = (object: TreeObject | undefined, key: string): Tree | undefined =>
  object !== undefined && Object.hasOwn(object, key) ? object[key] : undefined

const objectIn = (object: TreeObject | undefined, key: string): TreeObject | undefined => {
  const value = own(object, key)
  return isObject(value) ? value : undefined
}

/** Returns the first of these values as text. Converters of XML wrap a text with attributes in an object. */
const textOf = (object: TreeObject | undefined, ...keys: string[]): string => {
  for (const key of keys) {
    const value = own(object, key)
    if (typeof value === 'string' && value !== '') return value
    if (typeof value === 'number') return String(value)
    if (isObject(value)) {
      const inner = textOf(value, '#text', '_', '$t', 'text', 'value', 'Value')
      if (inner !== '') return inner
    }
  }
  return ''
}

/** Returns IDs that are a list, or a text with one ID per line. */
const idsOf = (value: Tree | undefined): string[] => {
  const texts = Array.isArray(value) ? value.filter((one) => typeof one === 'string') : [value]
  const ids: string[] = []
  for (const text of texts) {
    if (typeof text !== 'string') continue
    for (const id of text.slice(0, 8_192).split(/[\s,;]+/))
      if (id.length <= MAX_ID && ids.length < MAX_IDS && USB_ID.test(id)) ids.push(singleSlashes(id))
  }
  return ids
}

/** Some exporters escape backslashes twice. No ID has two in a row. */
const singleSlashes = (id: string): string => (id.includes('\\\\') ? id.replaceAll('\\\\', '\\') : id)

/** Returns the named values of `EventData`: an object, an array of `Data` elements, or XML in a text. */
const dataOf = (value: Tree | undefined): TreeObject | undefined => {
  if (typeof value === 'string') return value.includes('<Data') ? xmlData(value) : asObject(value)
  if (!isObject(value)) return undefined
  const list = own(value, 'Data')
  if (isObject(list)) return own(list, 'DeviceId') === undefined ? undefined : list
  if (!Array.isArray(list)) return value
  const values: TreeObject = Object.create(null)
  for (const one of list.slice(0, 64)) {
    if (!isObject(one)) continue
    const name = textOf(one, 'Name', '@Name', '-Name', '_Name') || textOf(attributesOf(one), 'Name')
    if (name !== '') values[name] = textOf(one, '#text', '_', '$t', 'text', 'content', 'value', 'Value', '@Value')
  }
  return values
}

/** The values of event 6416 in their order, for exporters that write them without names. */
const names = [
  'SubjectUserSid',
  'SubjectUserName',
  'SubjectDomainName',
  'SubjectLogonId',
  'DeviceId',
  'DeviceDescription',
  'ClassId',
  'ClassName',
  'VendorIds',
  'CompatibleIds',
  'LocationInformation',
]

/** Returns the values of Fluent Bit (`StringInserts`) and PowerShell (`Properties`). */
const insertsOf = (line: TreeObject): TreeObject | undefined => {
  const list = own(line, 'StringInserts') ?? own(line, 'Properties')
  if (!Array.isArray(list) || list.length !== names.length) return undefined
  const values: TreeObject = Object.create(null)
  for (const [i, name] of names.entries()) {
    const value = list[i]
    values[name] = isObject(value) ? textOf(value, 'Value') : (value ?? '')
  }
  return values
}

const attributesOf = (object: TreeObject | undefined): TreeObject | undefined =>
  objectIn(object, '#attributes') ?? objectIn(object, '$') ?? objectIn(object, '@attributes')

const asObject = (text: string): TreeObject | undefined => {
  const value = text.startsWith('{') ? parseJson(text) : undefined
  return isObject(value) ? value : undefined
}

const timeOf = (text: string): number | null | undefined => {
  if (text === '') return null
  // Ten digits are seconds, as NXLog and Fluent Bit may write them; thirteen are milliseconds.
  if (/^\d{10}(\.\d+)?$/.test(text)) return Math.floor(Number(text) * 1_000)
  if (/^\d{13}$/.test(text)) return Number(text)
  // Without a zone, exporters mean UTC. Windows writes seven digits of a second.
  const [, day, time, zone] =
    /^(\d{4}-\d\d-\d\d)[T ](\d\d:\d\d:\d\d(?:\.\d{1,3})?)\d{0,6} ?(Z|[+-]\d\d:?\d\d)?$/i.exec(text) ?? []
  const at = day === undefined ? Number.NaN : Date.parse(`${day}T${time}${zone ?? 'Z'}`)
  return Number.isNaN(at) ? undefined : at
}

const hostOf = (text: string): string | undefined => {
  const host = cleanText(text, 256).toLowerCase().replace(/\.$/, '')
  return HOST.test(host) ? host : undefined
}

interface Raw {
  key: readonly string[]
  host: string
  time: string
  device: TreeObject | undefined
}

/** Returns the common fields of event 6416 in the shapes of known exporters. Undefined: another event. */
const windowsEvent = (line: TreeObject): Raw | undefined => {
  const winlog = objectIn(line, 'winlog')
  const event = objectIn(line, 'Event')
  // Wazuh writes names in lower camel case below data.win.
  const wazuh = objectIn(objectIn(line, 'data'), 'win') ?? objectIn(line, 'win')
  const system =
    objectIn(event, 'System') ?? objectIn(wazuh, 'system') ?? objectIn(line, 'System') ?? objectIn(line, 'system')
  const head = winlog ?? system ?? line
  const id =
    textOf(head, 'event_id', 'EventID', 'EventId', 'Id', 'id', 'eventID') ||
    textOf(objectIn(line, 'event'), 'code', 'id') ||
    textOf(line, 'winlog.event_id', 'event.code')
  if (id !== '6416') return undefined
  const created = objectIn(system, 'TimeCreated')
  const eventTime = textOf(
    head,
    'time',
    'time_created',
    'TimeCreated',
    'SystemTime',
    'systemTime',
    'EventTime',
    'TimeGenerated',
  )
  const time =
    textOf(created, 'SystemTime', '@SystemTime', '-SystemTime') ||
    textOf(attributesOf(created), 'SystemTime') ||
    eventTime ||
    textOf(objectIn(line, 'event'), 'created') ||
    textOf(line, '@timestamp', 'timestamp', 'Timestamp')
  const host =
    textOf(head, 'computer_name', 'Computer', 'computer', 'Hostname', 'MachineName', 'ComputerName') ||
    textOf(objectIn(line, 'host'), 'name', 'hostname') ||
    textOf(line, 'Computer', 'Hostname', 'winlog.computer_name')
  const channel = textOf(head, 'channel', 'Channel', 'LogName')
  const record = textOf(
    head,
    'record_id',
    'EventRecordID',
    'EventRecordId',
    'RecordNumber',
    'RecordId',
    'event_record_id',
    'eventRecordID',
  )
  const given =
    own(winlog, 'event_data') ??
    own(event, 'EventData') ??
    own(wazuh, 'eventdata') ??
    own(line, 'EventData') ??
    own(line, 'event_data') ??
    own(line, 'eventdata')
  return {
    key: record === '' ? [] : ['w', host, channel, record, time],
    host,
    time,
    device: dataOf(given) ?? insertsOf(line) ?? line,
  }
}

/** Returns the fields of a Defender event, bare or as its streaming API wraps it. Undefined: another event. */
const defenderEvent = (line: TreeObject): Raw | undefined => {
  const event = objectIn(line, 'properties') ?? line
  if (textOf(event, 'ActionType') !== 'PnpDeviceConnected') return undefined
  const extra = own(event, 'AdditionalFields')
  const [machine, report, time] = [
    textOf(event, 'DeviceId'),
    textOf(event, 'ReportId'),
    textOf(event, 'Timestamp', 'TimeGenerated'),
  ]
  return {
    key: report === '' ? [] : ['d', machine, report, time],
    host: textOf(event, 'DeviceName'),
    time,
    device: typeof extra === 'string' ? asObject(extra) : isObject(extra) ? extra : undefined,
  }
}

/** Returns the USB device of one event. */
export const feedEvent = (line: TreeObject): FeedOutcome => {
  const raw = windowsEvent(line) ?? defenderEvent(line)
  if (raw === undefined) return 'ignored'
  const host = hostOf(raw.host)
  if (host === undefined) return 'host-missing'
  const id = textOf(raw.device, 'DeviceId', 'DeviceID', 'deviceId')
  if (id === '') return 'device-missing'
  const instance = singleSlashes(id.trim().replaceAll('\0', '')).toWellFormed()
  if (instance.length > MAX_ID || !USB_DEVICE.test(instance)) return 'ignored'
  const at = timeOf(raw.time)
  if (at === undefined) return 'time-invalid'
  const serial = instance.slice(instance.lastIndexOf('\\') + 1)
  return {
    key: raw.key.join('\n'),
    host,
    at,
    instance,
    said: {
      InstanceId: instance,
      HardwareID: idsOf(own(raw.device, 'VendorIds') ?? own(raw.device, 'vendorIds')),
      CompatibleID: idsOf(own(raw.device, 'CompatibleIds') ?? own(raw.device, 'compatibleIds')),
      // An `&` in the second position means that Windows generated the serial number.
      Capabilities: serial[1] === '&' ? 0 : UNIQUE_ID,
    },
  }
}
