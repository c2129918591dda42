import { icons } from '@portcullis/domain'

type IconName = (typeof icons)[number]['name']

/** Paths of 24 by 24, drawn by lines in the colour of the text beside them. */
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
  Unknown: 'M12 3a9 9 0 1 1 0 18 9 9 0 0 1 0-18zM9.5 9.5a2.5 2.5 0 1 1 3.5 2.3c-.7.3-1 .8-1 1.7M12 17h.01',
}

const svgOf = (path: string): string =>
  `<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 24 24" width="24" height="24" fill="none" stroke="currentColor" stroke-width="1.5" stroke-linecap="round" stroke-linejoin="round"><path d="${path}"/></svg>`

/** Icons of peripherals with their pictures. */
export const iconPictures = icons.map(({ icon, name }) => ({ icon, description: name, svg: svgOf(paths[name]) }))
