import type { DeviceEventKind, EventKind } from '@portcullis/contract'
import type { Occurrence } from '@portcullis/domain'
import type { DeviceText } from './events.texts.ts'

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
