/** Inputs of a verdict that a report can lack, in the order of the interface, with the reason why it can lack them. */
export const evidenceGaps = {
  descriptors:
    'The descriptors of the device and its configurations. macOS, feeds and polls of Windows never return them, and a hub on Windows may refuse. They also count as missing when a part of them is missing or malformed. Without them, interfaces may be unknown.',
  'report-descriptors':
    'The report descriptor of at least one HID interface. Windows and macOS never return them. Linux returns them only while a driver is bound, so not for a blocked device.',
  strings:
    'The manufacturer, the product name or the name of the configuration, if the device declares it or the descriptors are missing. Linux does not return the last one for a blocked device.',
  speed: 'The speed of the connection.',
  port: 'Whether the device is built in or plugged in. Only if the descriptors are missing too: other hosts report that they do not know.',
} as const
export type MissingEvidence = keyof typeof evidenceGaps
