import { type EventKind, eventCatalogue } from '@portcullis/contract'
import type { MergedRow } from './events.merging.ts'
import type { NewEvent } from './new-event.ts'

/** Values in the details text of a USB event. */
export interface DeviceDetails {
  /** Whether a published vulnerability concerns the device. */
  vulnerable: boolean
  /** Four hex digits each. */
  vid: string
  pid: string
  /** Empty if the device has none. */
  serial: string
  vendor: string
  product: string
}

declare const aboutDevice: unique symbol
/** Text of `deviceDetails`. */
export type DeviceText = string & { readonly [aboutDevice]: true }

/**
 * Returns the details of a USB event, with a note. Deployed clients match on this text: the literal prefix, and the two
 * spaces before the parenthesis.
 */
export const deviceDetails = (
  { vulnerable, vid, pid, serial, vendor, product }: DeviceDetails,
  note = '',
): DeviceText => {
  const named = [vendor, product].filter((part) => part !== '').join(' ')
  const number = serial === '' ? '' : ` SN ${serial}`
  const about = `${vulnerable ? 'Vulnerable ' : ''}Device VID/PID are ${vid.toUpperCase()}/${pid.toUpperCase()}`
  return `[Agent] ${about}${number}  (${named})${note === '' ? '' : `: ${note}`}` as DeviceText
}

/** Formats an event for the three newest of an agent: `yyyy-MM-dd HH:mm:ss text`. */
export const latestEventText = (event: { kind: EventKind; details: string }, at: Date): string => {
  const text = [eventCatalogue[event.kind].name, event.details].filter((part) => part !== '').join(': ')
  return `${at.toISOString().slice(0, 19).replace('T', ' ')} ${text}`
}

const descriptions: ReadonlyMap<number, string> = new Map(
  Object.values(eventCatalogue).map(({ code, name }) => [Number(code), name]),
)

/** Returns the event that summarises merged events of a host. */
export const summaryOf = (row: MergedRow): NewEvent => {
  const times = `${row.n.toLocaleString('en')} more ${row.n === 1 ? 'time' : 'times'}`
  const [first, last] = [row.first_at, row.last_at].map((at) => `${at.toISOString().slice(0, 19)}Z`)
  const what = row.is_one ? row.details : 'several devices or causes'
  return {
    kind: 'eventsMerged',
    agentId: row.agent_id,
    severity: row.severity,
    entity: row.entity,
    hashtags: row.hashtags,
    ...(row.is_one ? { icon: row.icon, deviceId: row.device_id } : {}),
    details: `${descriptions.get(row.code) ?? ''}: ${times} between ${first} and ${last}${what === '' ? '' : `: ${what}`}`,
  }
}
