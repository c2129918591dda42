import { cleanEvent, fit, maxSiemBytes, type SiemEvent, type SiemSource } from './siem-event.ts'

/** Bytes of the details in a body: the longest that are stored, in any script. */
const mostDetails = maxSiemBytes

/**
 * Body of a webhook: `type`, `timestamp` and `data` as Standard Webhooks recommends; the same text on every try.
 * The members of `data` are those of an event of the interface, then what it is about; empty texts stay.
 */
export const formatJson = (given: SiemEvent, source: SiemSource): string => {
  const event = cleanEvent(given, source)
  return JSON.stringify({
    type: `event.${event.kind ?? 'other'}`,
    timestamp: event.at.toISOString(),
    data: {
      eventID: event.id,
      category: event.category,
      eventCode: event.code,
      severity: event.severity,
      severityString: event.severityName,
      eventEntityID: event.eventEntityID,
      description: event.description,
      details: fit(event.details, mostDetails),
      hashtags: event.hashtags,
      peripheralIcon: event.icon,
      agent: { id: event.agentId, hostName: event.hostName, address: event.address },
      device: {
        id: event.deviceId,
        vid: event.vid,
        pid: event.pid,
        serial: event.serial,
        vendorName: event.vendorName,
        productName: event.productName,
      },
      instance: event.instance,
      version: event.version,
    },
  })
}
