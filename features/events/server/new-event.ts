import type { EventKind } from '@portcullis/contract'
import type { Occurrence } from '@portcullis/domain'

export interface NewEvent {
  kind: EventKind
  /** Host of the event. Null for the server itself. */
  agentId: string | null
  /** `HOST (IP)`. */
  entity: string
  /** Tags of the host at that time, joined by commas. */
  hashtags: string
  /** Icon number of the device. Absent if no device is involved. */
  icon?: number
  /** Text and values. USB events take them from `deviceDetails`. */
  details: string
  deviceId?: string | null
  /** When it happened on the host. Absent: the host did not say when. */
  occurred?: Occurrence | undefined
  /** How often it happened. Absent: once. */
  times?: number
  /** Syslog number. Defaults to that of the kind. */
  severity?: number
}
