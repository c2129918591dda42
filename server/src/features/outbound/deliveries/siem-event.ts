import { eventCategories, severityNames } from '@portcullis/contract'
import type { SiemEvent } from '@portcullis/domain'
import type { FollowedEvent } from '#features/system/events/index.ts'

/** `HOST (IP)`, as every event of a host names it. */
const hostPattern = /^(.*) \(([0-9A-Fa-f.:%]{0,60})\)$/s
/** Begins the details of every USB event (`deviceDetails`); what a device says of itself comes behind it. */
const devicePattern = /^\[Agent\] (?:Vulnerable )?Device VID\/PID are ([0-9A-F]{4})\/([0-9A-F]{4})(?: SN (.*?))? {2}\(/s

/** Names of the device, as the details of USB events end with them; empty when there are none. */
export const namesOf = (details: string): string => /^[^(]* {2}\((.*?)\)(?::|$)/s.exec(details)?.[1] ?? ''

/** What the device of an event is by its ids; empty texts when it is about none. */
export const deviceOf = (details: string): { vid: string; pid: string; serial: string } => {
  const found = devicePattern.exec(details)
  return { vid: found?.[1] ?? '', pid: found?.[2] ?? '', serial: found?.[3] ?? '' }
}

/** An event as the formats of SIEMs take it. */
export const siemEventOf = (event: FollowedEvent): SiemEvent => {
  const host = event.agent_id === null ? null : hostPattern.exec(event.entity)
  return {
    eventID: event.event_id,
    category: eventCategories[event.category] as (typeof eventCategories)[number],
    creationTime: event.created_at.toISOString().slice(0, -1),
    eventCode: `0x${event.code.toString(16).padStart(6, '0')}`,
    severity: event.severity,
    severityString: severityNames[event.severity] as string,
    eventEntityID: event.entity,
    description: event.description,
    hashtags: event.hashtags,
    peripheralIcon: String(event.icon),
    details: event.details,
    agentId: event.agent_id ?? '',
    hostName: host?.[1] ?? '',
    address: host?.[2] ?? '',
    deviceId: event.device_id ?? '',
    ...deviceOf(event.details),
    vendorName: '',
    productName: namesOf(event.details),
  }
}
