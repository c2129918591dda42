import { Type } from 'typebox'

/** Bounds of the protocol. A body over `bodyBytes` is answered 413, everything else over its bound 400. */
export const agentLimits = {
  /** Bytes of one request body. A full inventory of 256 devices with 4 KiB of descriptors each fits twice. */
  bodyBytes: 4 * 1024 * 1024,
  /** Devices in one inventory; the USB bus allows 127 per controller. */
  devices: 1024,
  /** Changes in one check-in; an agent with more sends its full inventory instead. */
  changes: 2048,
  /** UTF-16 units of a device string: a string descriptor holds at most 126, doubled for cleaned text. */
  string: 255,
  /** Base64 characters of a device's raw descriptors (12 KiB of bytes). */
  descriptors: 16_384,
  nics: 64,
  /** Bytes of an enrolment or session request: its sender has no credential yet. */
  newcomerBytes: 16 * 1024,
  errors: 32,
  /** Rules of one host's policy. */
  rules: 10_000,
  /** Maximum number of held ports per host. A host at this limit authorises no further device. */
  heldPorts: 64,
  /** Bytes of a gzip of debug logs. */
  debugLogBytes: 20 * 1024 * 1024,
  /** Bytes of an agent executable. */
  packageBytes: 256 * 1024 * 1024,
} as const

export const boundedText = (max: number, description: string) => Type.String({ maxLength: max, description })
