/** Limits of one request to a feed. */
export const feedLimits = {
  bodyBytes: 8 * 1024 * 1024,
  lines: 10_000,
  lineChars: 65_536,
  /** Errors in one response. */
  errors: 100,
} as const

/** Reasons why a line was not used. */
export const feedFaults = {
  'not-understood': 'The line is not a JSON object or a Windows event in XML.',
  'too-long': 'The line is longer than 65,536 characters.',
  'host-missing': 'The event does not contain a valid computer name.',
  'device-missing': 'The event does not contain a device.',
  'time-invalid': 'The time of the event is invalid.',
  'unknown-form':
    'The line looks like event 6416 or PnpDeviceConnected, but the server does not support its form. Compare it with the forms in the guide.',
} as const
export type FeedFault = keyof typeof feedFaults
