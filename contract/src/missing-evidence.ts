/** Evidence that a report can lack, in the order of the interface, with the reasons. */
export const evidenceGaps = {
  descriptors:
    'The descriptors of the device and its configurations. macOS, feeds and polls of Windows never return them, and a hub on Windows may refuse. They also count as missing if a part is missing or malformed. Without them, interfaces may be unknown.',
  'report-descriptors':
    'The report descriptor of at least one HID interface. Windows and macOS never return them. Linux returns them only while a driver is bound, so never for a blocked device.',
  strings:
    'The manufacturer, the product name or the name of the configuration, if the device declares it or the descriptors are missing. Linux does not return the name of the configuration for a blocked device.',
  speed: 'The speed of the connection.',
  port: 'Whether the device is built in or plugged in. Counts as missing only if the descriptors are missing too, because Linux often reports that the type of port is unknown.',
} as const
export type MissingEvidence = keyof typeof evidenceGaps
