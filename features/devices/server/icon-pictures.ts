import { icons } from '@portcullis/domain'

type IconName = (typeof icons)[number]['name']

/** Paths on a 24 by 24 grid, drawn as lines in the colour of the adjacent text. */
const paths: Readonly<Record<IconName, string>> = {
  NO_DEV: 'M4 4l16 16M20 4L4 20',
  Keyboard: 'M3 7h18v10H3zM6 10h.01M9 10h.01M12 10h.01M15 10h.01M18 10h.01M7 14h10',
  Mouse: 'M12 3a5 5 0 0 1 5 5v8a5 5 0 0 1-10 0V8a5 5 0 0 1 5-5zM12 3v6M7 9h10',
  'Mass Storage': 'M9 3h6v5H9zM7 8h10v11a2 2 0 0 1-2 2H9a2 2 0 0 1-2-2zM11 5.5h.01M13 5.5h.01',
  Hub: 'M12 4v6M12 10L5 16M12 10l7 6M12 10v6M10 4h4M3 16h4v4H3zM10 16h4v4h-4zM17 16h4v4h-4z',
  Network: 'M9 3h6v5H9zM3 16h6v5H3zM15 16h6v5h-6zM12 8v4M6 16v-4h12v4',
  Audio: 'M4 14v-2a8 8 0 0 1 16 0v2M4 14h4v6H5a1 1 0 0 1-1-1zM20 14h-4v6h3a1 1 0 0 0 1-1z',
  Video: 'M12 3a7 7 0 1 1 0 14 7 7 0 0 1 0-14zM12 7a3 3 0 1 1 0 6 3 3 0 0 1 0-6zM7 21h10M12 17v4',
  Printer: 'M7 3h10v6H7zM4 9h16v8h-3M7 17H4V9M7 14h10v7H7z',
  Wireless: 'M12 19h.01M8.5 15.5a5 5 0 0 1 7 0M5.5 12.5a9 9 0 0 1 13 0M2.5 9.5a13 13 0 0 1 19 0',
  'Smart Card': 'M3 5h18v14H3zM6 9h5v5H6zM14 15h4',
  Phone: 'M8 2h8a1 1 0 0 1 1 1v18a1 1 0 0 1-1 1H8a1 1 0 0 1-1-1V3a1 1 0 0 1 1-1zM11 19h2',
  Communication: 'M4 5h16v11H9l-5 4zM8 9h8M8 12h5',
  Imaging: 'M3 7h4l2-3h6l2 3h4v12H3zM12 9a4 4 0 1 1 0 8 4 4 0 0 1 0-8z',
  HID: 'M6 8h12a4 4 0 0 1 4 4v2a4 4 0 0 1-7 2.5h-6A4 4 0 0 1 2 14v-2a4 4 0 0 1 4-4zM6 12h4M8 10v4M16 11h.01M18 13h.01',
  Biometric:
    'M7 19c2-3 2-6 2-8a3 3 0 0 1 6 0c0 4-1 7-3 10M4 15c1-2 1-4 1-5a7 7 0 0 1 14 0c0 4 0 6-1 9M12 11c0 4-1 7-3 9',
  Billboard: 'M3 4h18v11H3zM12 15v6M8 21h8M12 7v3M12 12.5h.01',
  'Firmware Update': 'M7 7h10v10H7zM12 14v-4M10 12l2-2 2 2M4 10h3M4 14h3M17 10h3M17 14h3M10 4v3M14 4v3M10 17v3M14 17v3',
  Tablet: 'M3 5h18v14H3zM7 15l6-6 2 2-6 6H7z',
  Touchscreen: 'M3 4h18v13H3zM9 21h6M12 8v5M12 13l-2-1M12 10l3 1v2',
  Modem: 'M4 14h16v6H4zM7 17h.01M10 17h.01M12 14V9M9 8a4 4 0 0 1 6 0M6.5 5.5a8 8 0 0 1 11 0',
  'Security Key': 'M8 8a4 4 0 1 1 0 8 4 4 0 0 1 0-8zM12 12h9M18 12v3M21 12v4',
  'Game Controller':
    'M7 8h10a5 5 0 0 1 4 8c-1 1-3 1-4-1l-1-1H8l-1 1c-1 2-3 2-4 1a5 5 0 0 1 4-8zM8 10v3M6.5 11.5h3M16 11h.01',
  UPS: 'M5 4h14v16H5zM13 7l-3 5h4l-3 5',
  Sensor:
    'M12 10a2 2 0 1 1 0 4 2 2 0 0 1 0-4zM8 8a6 6 0 0 0 0 8M16 8a6 6 0 0 1 0 8M5 5a10 10 0 0 0 0 14M19 5a10 10 0 0 1 0 14',
  'Media Control': 'M8 3h8v18H8zM12 6h.01M10.5 10l3 2-3 2zM10 17h4',
  'Barcode Scanner': 'M4 5v14M7 5v14M9 5v14M13 5v14M16 5v14M20 5v14',
  Unknown: 'M12 3a9 9 0 1 1 0 18 9 9 0 0 1 0-18zM9.5 9.5a2.5 2.5 0 1 1 3.5 2.3c-.7.3-1 .8-1 1.7M12 17h.01',
}

const svgOf = (path: string): string =>
  `<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 24 24" width="24" height="24" fill="none" stroke="currentColor" stroke-width="1.5" stroke-linecap="round" stroke-linejoin="round"><path d="${path}"/></svg>`

export const iconPictures = icons.map(({ icon, name }) => ({ icon, description: name, svg: svgOf(paths[name]) }))
