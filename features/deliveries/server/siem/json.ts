import { cleanEvent, fit, maxSiemBytes, type SiemEvent, type SiemSource } from './siem-event.ts'

/** Maximum bytes of the details in a body. Stored details in any script fit. */
const mostDetails = maxSiemBytes

/**
 * Formats an event as the body of a webhook: `type`, `timestamp` and `data`, as Standard Webhooks recommends. The text is
 * the same for every attempt. `data` has the fields of an event in the interface, then those of its object.
 */
export const formatJson = (given: SiemEvent, source: SiemSource): string => {
  const event = cleanEvent(given, source)
  return JSON.stringify({
    type: `event.${event.kind ?? 'other'}`,
    timestamp: event.at.toISOString(),
    data: {
      eventID: event.id,
      occurredAt: (event.occurred ?? event.at).toISOString(),
      occurredUncertaintyMs: event.uncertainty === '' ? null : Number(event.uncertainty),
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
