import { type CleanEvent, cleanEvent, fit, maxSiemBytes, type SiemEvent, type SiemSource } from './siem-event.ts'

/** local0: what an organisation sorts by its own rules. */
const facility = 16

/** All before the message (RFC 5424, 6): the type of the message is the event's code. */
const header = (event: CleanEvent, structured: string): string => {
  const priority = facility * 8 + event.severity
  return `<${priority}>1 ${event.at.toISOString()} ${event.instance} portcullis - ${event.code || '-'} ${structured} `
}

/**
 * A whole message: header, and `write` with the bytes that the header leaves. Without a byte order mark: it would stand
 * before the texts that rules look for, and whoever names a device could choose whether it does (ADR 0023).
 */
export const frame = (event: CleanEvent, structured: string, write: (room: number) => string): Buffer => {
  const head = Buffer.from(header(event, structured))
  return Buffer.concat([head, Buffer.from(write(maxSiemBytes - head.length))])
}

/** PARAM-VALUE: a backslash before `"`, `\` and `]` (6.3.3). */
const escapeValue = (text: string): string => text.replace(/["\\\]]/g, '\\$&')

/** 32473 is the number for documentation (RFC 5612): this product has none of its own. */
const structuredData = (event: CleanEvent): string => {
  const parameters = {
    eventID: String(event.id),
    category: event.category,
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

/** RFC 5424: what is known as structured data, and a sentence. */
export const formatRfc5424 = (given: SiemEvent, source: SiemSource): Buffer => {
  const event = cleanEvent(given, source)
  const { description, eventEntityID, details } = event
  const sentence = [description, eventEntityID, details].filter((part) => part !== '').join(': ')
  return frame(event, structuredData(event), (room) => fit(sentence, room))
}
