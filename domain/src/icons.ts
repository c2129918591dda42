/** The icons of the interface: number and name. */
export const icons = [
  { icon: 0, name: 'NO_DEV' },
  { icon: 1, name: 'Keyboard' },
  { icon: 2, name: 'Mouse' },
  { icon: 3, name: 'Mass Storage' },
  { icon: 4, name: 'Hub' },
  { icon: 5, name: 'Network' },
  { icon: 6, name: 'Audio' },
  { icon: 7, name: 'Video' },
  { icon: 8, name: 'Printer' },
  { icon: 9, name: 'Wireless' },
  { icon: 10, name: 'Smart Card' },
  { icon: 11, name: 'Phone' },
  { icon: 12, name: 'Communication' },
  { icon: 13, name: 'Imaging' },
  { icon: 14, name: 'HID' },
  { icon: 15, name: 'Biometric' },
  { icon: 16, name: 'Billboard' },
  { icon: 17, name: 'Firmware Update' },
  { icon: 18, name: 'Tablet' },
  { icon: 19, name: 'Touchscreen' },
  { icon: 20, name: 'Modem' },
  { icon: 21, name: 'Security Key' },
  { icon: 22, name: 'Game Controller' },
  { icon: 23, name: 'UPS' },
  { icon: 24, name: 'Sensor' },
  { icon: 25, name: 'Media Control' },
  { icon: 26, name: 'Barcode Scanner' },
  { icon: 98, name: 'Unknown' },
] as const

/** The kind of a device: the name of its icon. */
export type Kind = Exclude<(typeof icons)[number]['name'], 'NO_DEV'>

/**
 * Kinds that rules can use: capabilities of an interface according to its descriptors, VID and PID, before a driver binds.
 * All other kinds depend on report descriptors, which a device sends only after it is allowed, or on texts, which it can
 * choose freely.
 */
export const capabilityKinds = [
  'Hub',
  'Keyboard',
  'Mass Storage',
  'Network',
  'Mouse',
  'Video',
  'Audio',
  'Printer',
  'Smart Card',
  'Phone',
  'Imaging',
  'Wireless',
  'Communication',
  'HID',
  'Biometric',
  'Billboard',
  'Firmware Update',
  'Unknown',
] as const satisfies readonly Kind[]

export type CapabilityKind = (typeof capabilityKinds)[number]

/** Kinds in order of preference for the name of a device. */
export const kindPrecedence = [
  'Hub',
  'Security Key',
  'Tablet',
  'Keyboard',
  'Modem',
  'Phone',
  'Printer',
  'Biometric',
  'Smart Card',
  'Touchscreen',
  'Video',
  'Imaging',
  'Mass Storage',
  'Network',
  'Mouse',
  'Game Controller',
  'Audio',
  'Wireless',
  'UPS',
  'Barcode Scanner',
  'Sensor',
  'Communication',
  'Media Control',
  'HID',
  'Billboard',
  'Firmware Update',
  'Unknown',
] as const satisfies readonly Kind[]

const numbers = new Map<string, number>(icons.map(({ icon, name }) => [name, icon]))

/** Returns the icon number of a kind. */
export const iconOf = (kind: Kind): number => numbers.get(kind) ?? 98
