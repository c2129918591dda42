/** Limits of the agent protocol. A body over `bodyBytes` gets 413. Exceeding any other limit gets 400. */
export const agentLimits = {
  /** Maximum bytes of a request body. Holds twice a full inventory of 256 devices with 4 KiB of descriptors each. */
  bodyBytes: 4 * 1024 * 1024,
  /** Maximum number of accepted findings on a server, and in the policy of a host. */
  accepted: 1_000,
  /** Maximum number of devices in an inventory. A USB controller allows 127. */
  devices: 1024,
  /** Maximum number of changes in a check-in. An agent with more changes sends its full inventory. */
  changes: 2048,
  /** Maximum UTF-16 units of a device string. A string descriptor holds at most 126; cleaning can double the length. */
  string: 255,
  /** Maximum UTF-16 units of a controller location. */
  controller: 512,
  /** Maximum characters of a serial number with each character escaped, for example as `%u200B`. */
  escapedString: 6 * 255,
  /** Maximum Base64 characters of the raw descriptors of a device (12 KiB). */
  descriptors: 16_384,
  nics: 64,
  /** Maximum bytes of an enrolment or session request, whose sender has no credential yet. */
  newcomerBytes: 16 * 1024,
  errors: 32,
  /** Maximum number of rules in the policy of a host. */
  rules: 10_000,
  /** Maximum number of held ports per host. A host at this limit authorises no further device. */
  heldPorts: 64,
  /** Maximum bytes of compressed debug logs. */
  debugLogBytes: 20 * 1024 * 1024,
  /** Maximum bytes of an agent executable. */
  packageBytes: 256 * 1024 * 1024,
} as const

/** Maximum number of rotations in a file or update command: one per month for five years. */
export const maxReleaseKeyRotations = 60
