import { type EventKind, eventCodes } from '@portcullis/contract'

/** What the details text of a USB event tells. */
export interface DeviceDetails {
  /** Whether a listed weakness fits the device. */
  vulnerable: boolean
  /** Four hex digits each. */
  vid: string
  pid: string
  /** Empty when the device has none. */
  serial: string
  vendor: string
  product: string
}

/**
 * Details of every USB event. Clients in the field match on this text: the literal prefix, and the two blanks before the
 * parenthesis.
 */
export const deviceDetails = ({ vulnerable, vid, pid, serial, vendor, product }: DeviceDetails): string => {
  const named = [vendor, product].filter((part) => part !== '').join(' ')
  const number = serial === '' ? '' : ` SN ${serial}`
  return `[Agent] ${vulnerable ? 'Vulnerable ' : ''}Device VID/PID are ${vid.toUpperCase()}/${pid.toUpperCase()}${number}  (${named})`
}

/** How an event stands among the three newest of an agent: `yyyy-MM-dd HH:mm:ss text`. */
export const latestEventText = (event: { kind: EventKind; details: string }, at: Date): string => {
  const text = [eventCodes[event.kind].description, event.details].filter((part) => part !== '').join(': ')
  return `${at.toISOString().slice(0, 19).replace('T', ' ')} ${text}`
}
