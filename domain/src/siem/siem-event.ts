import { type EventKind, eventCodes, type FleetEvent, severityNames } from '@portcullis/contract'
import { cleanText } from '../text.ts'

/** An event with what it is about, as it leaves for a SIEM. Each text may be empty; all may be hostile. */
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
  /** Names of the device, as people know it. */
  vendorName: string
  productName: string
}

/** Who sends: the same for all events of an installation, on every try. */
export interface SiemSource {
  /** Version of the product. */
  version: string
  /** Name of this installation: the host name its people know. */
  instance: string
}

/** Bytes of a whole message: what rsyslog and syslog-ng take as they are installed. */
export const maxSiemBytes = 8192

/** Ends what was cut. */
const cutMark = '…'
const markBytes = Buffer.byteLength(cutMark)

/** `text`, or as much of it as fits with the mark, cut between characters. `encode` is what the format does to a character. */
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
 * Bytes of each text before it is escaped, which doubles them at most: whatever hosts and devices say, all of them leave
 * over 2,000 bytes of a message to `details`, which takes what is left.
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

/** An event whose texts are one line each, without what changes how a line reads, and bounded. */
export interface CleanEvent extends SiemTexts {
  id: number
  /** Null for a code this release does not know. */
  kind: EventKind | null
  code: string
  category: string
  /** Syslog number, 0 to 7. */
  severity: number
  severityName: string
  /** Icon number as text. */
  icon: string
  at: Date
  version: string
  /** Printable ASCII without blanks, 1 to 255 characters. */
  instance: string
}

const kinds = new Map<string, EventKind>(
  Object.entries(eventCodes).map(([kind, { code }]) => [code.toLowerCase(), kind as EventKind]),
)

/** Twice any limit: what cleaning leaves is cut by bytes, and marked. */
const mostCharacters = 2 * maxSiemBytes

export const cleanEvent = (event: SiemEvent, source: SiemSource): CleanEvent => {
  const line = (text: string, bytes: number): string => fit(cleanText(text, mostCharacters), bytes)
  const texts = Object.fromEntries(
    Object.entries(limits).map(([name, bytes]) => [name, line(event[name as keyof typeof limits], bytes)]),
  ) as Record<keyof typeof limits, string>
  const severity = Math.min(7, Math.max(0, Math.trunc(event.severity) || 0))
  const at = Date.parse(`${event.creationTime}Z`)
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
    at: new Date(Number.isNaN(at) ? 0 : at),
    version: line(source.version, 40),
    instance: source.instance.replace(/[^\x21-\x7e]/g, '').slice(0, 255) || '-',
  }
}
