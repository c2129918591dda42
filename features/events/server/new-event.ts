import type { Occurrence } from '@portcullis/domain'
import type { DeviceEventKind, EventKind } from '#features/contract.ts'

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

/** The members that events of a host share. */
export interface EventOrigin {
  /** Host of the event. Null for the server itself. */
  agentId: string | null
  /** `HOST (IP)`. */
  entity: string
  /** Tags of the host at that time, joined by commas. */
  hashtags: string
}

interface EventFacts extends EventOrigin {
  /** Icon number of the device. Absent if no device is involved. */
  icon?: number
  deviceId?: string | null
  /** When it happened on the host. Absent: the host did not say when. */
  occurred?: Occurrence | undefined
  /** How often it happened. Absent: once. */
  times?: number
  /** Syslog number. Defaults to that of the kind. */
  severity?: number
}

/** Kinds of events that are not about a device. */
export type OtherEventKind = Exclude<EventKind, DeviceEventKind>

export type NewEvent = EventFacts &
  ({ kind: DeviceEventKind; details: DeviceText } | { kind: OtherEventKind; details: string })

/** Returns the members that events of a host share. */
export const eventOrigin = (host: {
  agent_id: string
  host: string
  address: string
  hashtags: string
}): EventOrigin & { agentId: string } => ({
  agentId: host.agent_id,
  entity: `${host.host} (${host.address})`,
  hashtags: host.hashtags,
})
