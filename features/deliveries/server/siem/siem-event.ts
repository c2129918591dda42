import { cleanText } from '@portcullis/domain'
import { type EventKind, eventCatalogue, type FleetEvent, severityNames } from '#features/contract.ts'

/** An event with its host and device, for a SIEM. Every text may be empty or hostile. */
export interface SiemEvent extends FleetEvent {
  agentId: string
  hostName: string
  /** IPv4 or IPv6 address of the host. */
  address: string
  deviceId: string
  /** Four hexadecimal digits each. */
  vid: string
  pid: string
  serial: string
  /** Display name of the device. */
  vendorName: string
  productName: string
}

/** The sender. It is the same for all events of an installation. */
export interface SiemSource {
  /** Version of the product. */
  version: string
  /** Host name of this installation, as its users know it. */
  instance: string
}

/** Maximum bytes of a message. rsyslog 8.2302 cuts one at 8,096 bytes by default, syslog-ng 3.38 at 65,536. */
export const maxSiemBytes = 8_000

/** Mark at the end of truncated text. */
const cutMark = '…'
const markBytes = Buffer.byteLength(cutMark)

/** Truncates text between characters so that it fits with the mark. `encode` is the escape function of the format. */
export const fit = (text: string, bytes: number, encode: (text: string) => string = (one) => one): string => {
  if (Buffer.byteLength(encode(text)) <= bytes) return text
  let left = bytes - markBytes
  let end = 0
  for (const character of text) {
    left -= Buffer.byteLength(encode(character))
    if (left < 0) break
    end += character.length
  }
  return `${text.slice(0, end)}${cutMark}`
}

/**
 * Maximum bytes of each text before escaping, which at most doubles them. Together they leave more than 2,000 bytes of a
 * message for `details`, which gets the rest.
 */
const limits = {
  eventEntityID: 384,
  description: 128,
  hashtags: 512,
  agentId: 64,
  hostName: 255,
  address: 64,
  deviceId: 255,
  vid: 8,
  pid: 8,
  serial: 255,
  vendorName: 128,
  productName: 128,
} as const

export type SiemTexts = Record<keyof typeof limits | 'details', string>

/** An event with cleaned texts: one line each, without control and invisible characters, and limited in length. */
export interface CleanEvent extends SiemTexts {
  id: number
  /** Null for a code that this release does not know. */
  kind: EventKind | null
  code: string
  category: string
  /** Syslog number, 0 to 7. */
  severity: number
  severityName: string
  /** Icon number as text. */
  icon: string
  at: Date
  /** When it happened on the host. Undefined: the host did not say when. */
  occurred: Date | undefined
  /** Milliseconds by which `occurred` may be wrong. Empty: unknown. */
  uncertainty: string
  version: string
  /** Printable ASCII without spaces, 1 to 255 characters. */
  instance: string
}

const kinds = new Map<string, EventKind>(
  Object.entries(eventCatalogue).map(([kind, { code }]) => [code.toLowerCase(), kind as EventKind]),
)

/** Maximum characters after cleaning: twice any limit. Truncation by bytes follows. */
const mostCharacters = 2 * maxSiemBytes

export const cleanEvent = (event: SiemEvent, source: SiemSource): CleanEvent => {
  const line = (text: string, bytes: number): string => fit(cleanText(text, mostCharacters), bytes)
  const texts = Object.fromEntries(
    Object.entries(limits).map(([name, bytes]) => [name, line(event[name as keyof typeof limits], bytes)]),
  ) as Record<keyof typeof limits, string>
  const severity = Math.min(7, Math.max(0, Math.trunc(event.severity) || 0))
  const dateOf = (text: string): Date => {
    const at = Date.parse(`${text}Z`)
    return new Date(Number.isNaN(at) ? 0 : at)
  }
  return {
    ...texts,
    details: line(event.details, maxSiemBytes),
    id: event.eventID,
    kind: kinds.get(event.eventCode.toLowerCase()) ?? null,
    code: event.eventCode.replace(/[^0-9A-Za-z]/g, '').slice(0, 16),
    category: event.category,
    severity,
    severityName: severityNames[severity] ?? '',
    icon: event.peripheralIcon,
    at: dateOf(event.creationTime),
    occurred: event.occurredUncertaintyMs === null ? undefined : dateOf(event.occurredAt),
    uncertainty: String(event.occurredUncertaintyMs ?? ''),
    version: line(source.version, 40),
    instance: source.instance.replace(/[^\x21-\x7e]/g, '').slice(0, 255) || '-',
  }
}
