/** The icons of the wire contract: number and name. */
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
  { icon: 98, name: 'Unknown' },
] as const

/** What a device is for people: the name of its icon. */
export type Kind = Exclude<(typeof icons)[number]['name'], 'NO_DEV'>

/** Kinds from the one that names a device first to the one that names it last. */
export const kindPrecedence = [
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
  'Unknown',
] as const satisfies readonly Kind[]

const numbers = new Map<string, number>(icons.map(({ icon, name }) => [name, icon]))

/** The icon number of a kind. */
export const iconOf = (kind: Kind): number => numbers.get(kind) ?? 98
