import type { SVGProps } from 'react'

// Drawn on a 20 px grid with one stroke width. An icon package would add 88 MB for these fifty lines.
const paths = {
  overview: 'M3 3h6v8H3zM11 3h6v5h-6zM11 10.500h6V17h-6zM3 13.500h6V17H3z',
  agents: 'M3 4h14v9H3zM7 17h6M10 13v4',
  peripherals:
    'M10 17V6M7.500 8.500 10 6l2.500 2.500M6 11v1.500l4 2M14 10v2l-4 2M4.500 9.500h3v1.500h-3zM12.600 9h2.800M10 3.200v.1',
  events: 'M3 5h2M3 10h2M3 15h2M8 5h9M8 10h9M8 15h6',
  settings: 'M4 6h6M14 6h2M4 14h2M10 14h6M12 4v4M8 12v4',
  search: 'M9 4a5 5 0 1 0 0 10A5 5 0 0 0 9 4zM12.700 12.700 17 17',
  plus: 'M10 4v12M4 10h12',
  close: 'M5 5l10 10M15 5 5 15',
  right: 'M8 5l5 5-5 5',
  left: 'M12 5l-5 5 5 5',
  down: 'M5 8l5 5 5-5',
  up: 'M5 12l5-5 5 5',
  bell: 'M4 14.500h12M5.500 14.500V9a4.500 4.500 0 0 1 9 0v5.500M8.500 17h3M10 4.500V3',
  pin: 'M7 3h6M8 3v5l-2.500 3v1.500h9V11L12 8V3M10 12.500V17.500',
  check: 'M4 10.500 8.500 15 16 6',
  copy: 'M7 7h9v10H7zM13 7V3H4v10h3',
  sun: 'M10 7a3 3 0 1 0 0 6 3 3 0 0 0 0-6zM10 2v2M10 16v2M2 10h2M16 10h2M4.500 4.500l1.300 1.300M14.200 14.200l1.300 1.300M4.500 15.500l1.300-1.300M14.200 5.800l1.300-1.300',
  moon: 'M16 11.500A6.500 6.500 0 0 1 8.500 4a6.500 6.500 0 1 0 7.500 7.500z',
  system: 'M3 4h14v9H3zM10 4v9M7 17h6',
  user: 'M10 3.500a3 3 0 1 0 0 6 3 3 0 0 0 0-6zM4 17c.5-3.500 2.800-5 6-5s5.500 1.500 6 5',
  users:
    'M7.500 4a2.700 2.700 0 1 0 0 5.400 2.700 2.700 0 0 0 0-5.400zM2.500 16c.4-3 2.300-4.300 5-4.300s4.600 1.300 5 4.300M13 4.300a2.700 2.700 0 0 1 0 5M14.500 12c1.800.5 2.800 1.800 3 4',
  key: 'M6.500 7a3.500 3.500 0 1 0 0 7 3.500 3.500 0 0 0 0-7zM10 10.500h7V13M14 10.500v2',
  tag: 'M3 3h7l7 7-7 7-7-7zM6.800 6.800v.1',
  health: 'M2.500 10H6l2-5 4 10 2-5h3.500',
  audit: 'M5 3h8l3 3v11H5zM8 9h5M8 12h5M8 6h2',
  filter: 'M3 5h14M6 10h8M8.500 15h3',
  columns: 'M3 4h14v12H3zM8 4v12M12.500 4v12',
  menu: 'M3 5h14M3 10h14M3 15h14',
  more: 'M4.500 10v.1M10 10v.1M15.500 10v.1',
  external: 'M11 4h5v5M16 4l-7 7M13 11v5H4V7h5',
  warn: 'M10 3 18 17H2zM10 8v4M10 14.500v.1',
  refresh: 'M16 8A6.500 6.500 0 0 0 4.500 6.500L3 8M3 4v4h4M4 12a6.500 6.500 0 0 0 11.500 1.500L17 12M17 16v-4h-4',
  download: 'M10 3v9M6.500 9l3.500 3.500L13.500 9M4 16h12',
  upload: 'M10 13V4M6.500 7.500 10 4l3.500 3.500M4 16h12',
  trash: 'M4 6h12M8 6V4h4v2M5.500 6l.7 11h7.600l.7-11M8.500 9v5M11.500 9v5',
  logout: 'M12 4H4v12h8M8 10h9M14 7l3 3-3 3',
  lock: 'M5 9h10v8H5zM7 9V6.500a3 3 0 0 1 6 0V9',
  clock: 'M10 3a7 7 0 1 0 0 14 7 7 0 0 0 0-14zM10 6.500v4l2.500 1.500',
  info: 'M10 3a7 7 0 1 0 0 14 7 7 0 0 0 0-14zM10 9v5M10 6.300v.1',
  session: 'M3 5h14v9H3zM6 17h8',
  keyboard: 'M2.500 6h15v9h-15zM5.500 9v.1M8.500 9v.1M11.500 9v.1M14.500 9v.1M6.500 12h7',
  mouse: 'M10 3a4.500 4.500 0 0 0-4.500 4.500v5a4.500 4.500 0 0 0 9 0v-5A4.500 4.500 0 0 0 10 3zM10 6v3',
  storage: 'M6 7h8v10H6zM7.500 7V3h5v4M9 5v.1M11 5v.1',
  hub: 'M7 11h6v4H7zM10 11V7M10 7H4.500v-3M10 7h5.500v-3M10 7V3',
  network: 'M4 5h12v9H4zM7 14v3M10 14v3M13 14v3M7 8h6',
  audio: 'M4 8v4h3l4 4V4L7 8zM14 7.500a3.500 3.500 0 0 1 0 5M16 5a7 7 0 0 1 0 10',
  video: 'M3 6h10v8H3zM13 9l4-2.500v7L13 11',
  printer: 'M6 8V3h8v5M3 8h14v6h-3M3 8v6h3M6 12h8v5H6z',
  wireless: 'M3 8a10 10 0 0 1 14 0M5.500 11a6.500 6.500 0 0 1 9 0M8 13.800a3 3 0 0 1 4 0M10 16v.1',
  smartcard: 'M3 5h14v10H3zM6 8h4v4H6zM13 8h1M13 12h1',
  phone: 'M6 2.500h8v15H6zM9 15h2',
  comm: 'M4 5v10M16 5v10M7 8l-3-3-3 3M13 12l3 3 3-3',
  imaging: 'M3 6h3l1.500-2h5L14 6h3v10H3zM10 8a3 3 0 1 0 0 6 3 3 0 0 0 0-6z',
  hid: 'M4 12a6 6 0 0 1 12 0v4H4zM7.500 12.500h2M8.500 11.500v2M13 12v.1M11.800 13.500v.1',
  unknown: 'M10 3a7 7 0 1 0 0 14 7 7 0 0 0 0-14zM8 8a2 2 0 1 1 2.700 1.900c-.5.2-.7.6-.7 1.300M10 14v.1',
  report: 'M5 3h7l3 3v11H5zM12 3v3h3M8 14v-2M10 14V9M12 14v-3',
  none: 'M5 10h10',
  policy: 'M10 3l6 2v4.500c0 3.500-2.500 6-6 7.500-3.500-1.500-6-4-6-7.500V5zM7.500 9.500l2 2 3.500-3.500',
  inbox: 'M3 11l2.500-7h9L17 11v5H3zM3 11h4l1 2h4l1-2h4',
  insights: 'M3 17V9M8 17V4M13 17v-6M17.500 17V7',
  commands: 'M4 5l4 5-4 5M10 15h6',
  rollout: 'M10 3a7 7 0 1 0 0 14 7 7 0 0 0 0-14zM10 6.500a3.500 3.500 0 1 0 0 7 3.500 3.500 0 0 0 0-7zM10 10v.1',
  package: 'M3 6.500 10 3l7 3.500v7L10 17l-7-3.500zM3 6.500 10 10l7-3.500M10 10v7',
  book: 'M4 4h5a2 2 0 0 1 1 1 2 2 0 0 1 1-1h5v11h-5a2 2 0 0 0-1 1 2 2 0 0 0-1-1H4zM10 5v11',
} as const

export type IconName = keyof typeof paths

export interface IconProps extends Omit<SVGProps<SVGSVGElement>, 'name'> {
  name: IconName
  /** Pixels; 16 fits 13 px text. */
  size?: number
  /** Accessible name. Without it, the icon is decorative. */
  title?: string
}

export const Icon = ({ name, size = 16, title, ...rest }: IconProps) => (
  // biome-ignore lint/a11y/noSvgWithoutTitle: the title is present if the icon has no label
  <svg
    viewBox="0 0 20 20"
    width={size}
    height={size}
    fill="none"
    stroke="currentColor"
    strokeWidth={1.6}
    strokeLinecap="round"
    strokeLinejoin="round"
    focusable="false"
    {...(title === undefined ? { 'aria-hidden': true } : { role: 'img', 'aria-label': title })}
    {...rest}
  >
    {title === undefined ? null : <title>{title}</title>}
    <path d={paths[name]} />
  </svg>
)

const kindIcons: Readonly<Record<number, IconName>> = {
  0: 'none',
  1: 'keyboard',
  2: 'mouse',
  3: 'storage',
  4: 'hub',
  5: 'network',
  6: 'audio',
  7: 'video',
  8: 'printer',
  9: 'wireless',
  10: 'smartcard',
  11: 'phone',
  12: 'comm',
  13: 'imaging',
  14: 'hid',
  15: 'smartcard',
  16: 'video',
  17: 'unknown',
  18: 'hid',
  19: 'hid',
  20: 'comm',
  21: 'smartcard',
  22: 'hid',
  23: 'hid',
  24: 'hid',
  25: 'hid',
  26: 'hid',
}

/** Returns the icon of a device kind by its API number (`devIcon`, `peripheralIcon`). */
export const kindIcon = (number: number | string): IconName => kindIcons[Number(number)] ?? 'unknown'
