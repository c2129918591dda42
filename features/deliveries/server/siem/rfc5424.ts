import { type CleanEvent, cleanEvent, fit, maxSiemBytes, type SiemEvent, type SiemSource } from './siem-event.ts'

/** local0, which organisations route by their own rules. */
const facility = 16

/** Returns the header (RFC 5424, 6). The message ID is the event code. */
const header = (event: CleanEvent, structured: string): string => {
  const priority = facility * 8 + event.severity
  return `<${priority}>1 ${event.at.toISOString()} ${event.instance} portcullis - ${event.code || '-'} ${structured} `
}

/**
 * Returns a complete message: the header and the text from `write`, which gets the remaining number of bytes. It has no
 * byte order mark. The mark would precede texts that rules match, and a device name could decide whether it is present
 * (ADR 0023).
 */
export const frame = (event: CleanEvent, structured: string, write: (room: number) => string): Buffer => {
  const head = Buffer.from(header(event, structured))
  return Buffer.concat([head, Buffer.from(write(maxSiemBytes - head.length))])
}

/** Escapes a PARAM-VALUE: a backslash before `"`, `\` and `]` (6.3.3). */
const escapeValue = (text: string): string => text.replace(/["\\\]]/g, '\\$&')

/** 32473 is the enterprise number for documentation (RFC 5612), because this product has none. */
const structuredData = (event: CleanEvent): string => {
  const parameters = {
    eventID: String(event.id),
    category: event.category,
    occurredAt: event.occurred?.toISOString() ?? '',
    uncertaintyMs: event.uncertainty,
    severity: event.severityName,
    agentID: event.agentId,
    host: event.hostName,
    address: event.address,
    deviceID: event.deviceId,
    vid: event.vid,
    pid: event.pid,
    serial: event.serial,
    vendor: event.vendorName,
    product: event.productName,
    tags: event.hashtags,
  }
  const written = Object.entries(parameters)
    .filter(([, value]) => value !== '')
    .map(([name, value]) => ` ${name}="${escapeValue(value)}"`)
  return `[portcullis@32473${written.join('')}][origin software="Portcullis" swVersion="${escapeValue(event.version)}"]`
}

/** Formats an event as RFC 5424: structured data and a sentence. */
export const formatRfc5424 = (given: SiemEvent, source: SiemSource): Buffer => {
  const event = cleanEvent(given, source)
  const { description, eventEntityID, details } = event
  const sentence = [description, eventEntityID, details].filter((part) => part !== '').join(': ')
  return frame(event, structuredData(event), (room) => fit(sentence, room))
}
