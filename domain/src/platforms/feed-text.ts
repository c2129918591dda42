import type { TreeObject } from './tree.ts'

/** `Enumerator\ID\instance` at the end of a labelled line. Windows translates the label. Every repetition is bounded. */
const DEVICE = /^[^\r\n:]{0,80}:[ \t]{0,8}([A-Z0-9_]{2,20}\\[^\s\\]{1,200}\\[^\s\\][^\r\n\\]{0,199})$/im
const SETUP_CLASS = /\{[0-9a-f]{8}(?:-[0-9a-f]{4}){3}-[0-9a-f]{12}\}/i
const IDS = /^[ \t]*(USB\\[\x21-\x5b\x5d-\x7e]{1,190})[ \t]*$/gm

/** Returns what the text of event 6416 says about its device, in any language of Windows. */
export const messageData = (text: string) => {
  const ids = Array.from(text.matchAll(IDS), ([, id = '']) => id).slice(0, 32)
  return {
    DeviceId: DEVICE.exec(text)?.[1]?.trim() ?? '',
    ClassId: SETUP_CLASS.exec(text)?.[0] ?? '',
    VendorIds: ids.filter((id) => id.startsWith('USB\\VID_')),
    CompatibleIds: ids.filter((id) => !id.startsWith('USB\\VID_')),
  }
}

/** Returns an event in the classic text of Splunk (`WinEventLog`): lines of `name=value`, then the message. */
export const textEvent = (text: string): TreeObject | undefined => {
  if (!text.includes('EventCode=')) return undefined
  const id = /^EventCode=(\d{1,6})\s*$/m.exec(text)?.[1]
  if (id === undefined) return undefined
  const value = (name: string): string => new RegExp(`^${name}=([^\\r\\n]*)`, 'm').exec(text)?.[1]?.trim() ?? ''
  const message = text.indexOf('\nMessage=')
  return {
    EventCode: id,
    ComputerName: value('ComputerName'),
    RecordNumber: value('RecordNumber'),
    LogName: value('LogName'),
    EventTime: /^[^\r\n]*/.exec(text)?.[0].trim() ?? '',
    ...(message < 0 ? {} : messageData(text.slice(message))),
  }
}
