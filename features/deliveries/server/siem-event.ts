import { mustExist } from '@portcullis/domain'
import { eventCategories, severityNames } from '#features/contract.ts'
import type { FollowedEvent } from '#features/events/server/index.ts'
import type { SiemEvent } from './siem/index.ts'

/** Matches `HOST (IP)`, the entity of every event about a host. */
const hostPattern = /^(.*) \(([0-9A-Fa-f.:%]{0,60})\)$/s
/** Matches the start of the details of a USB event (`deviceDetails`). Text that the device chose comes after it. */
const devicePattern = /^\[Agent\] (?:Vulnerable )?Device VID\/PID are ([0-9A-F]{4})\/([0-9A-F]{4})(?: SN (.*?))? {2}\(/s

/** Returns the device names at the end of the details of a USB event; empty: none. */
export const namesOf = (details: string): string => /^[^(]* {2}\((.*?)\)(?::|$)/s.exec(details)?.[1] ?? ''

/** Returns the ids of the device in an event, or empty strings. */
export const deviceOf = (details: string): { vid: string; pid: string; serial: string } => {
  const found = devicePattern.exec(details)
  return { vid: found?.[1] ?? '', pid: found?.[2] ?? '', serial: found?.[3] ?? '' }
}

/** Converts an event for the SIEM formats. */
export const siemEventOf = (event: FollowedEvent): SiemEvent => {
  const host = event.agent_id === null ? null : hostPattern.exec(event.entity)
  return {
    eventID: event.event_id,
    category: mustExist(eventCategories[event.category], 'the category of an event'),
    creationTime: event.created_at.toISOString().slice(0, -1),
    occurredAt: (event.occurred_at ?? event.created_at).toISOString().slice(0, -1),
    occurredUncertaintyMs: event.occurred_uncertainty_ms,
    eventCode: `0x${event.code.toString(16).padStart(6, '0')}`,
    severity: event.severity,
    severityString: mustExist(severityNames[event.severity], 'the name of a severity'),
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
