import type { CapabilityKind } from './icons.ts'
import { isFingerprintReader } from './known-kinds.ts'

/**
 * Hints for vendor-specific interfaces (ff) and shared codes (PTP). They only select a name and an icon, because a VID can
 * be forged and proves nothing. The names are from usb.ids 2025.07.26; the selection of vendors is ours.
 */

/** Vendors whose devices with interface 06:01:01 are cameras. */
export const cameraVendors: ReadonlySet<string> = new Set([
  '040A', // Kodak
  '04A9', // Canon
  '04B0', // Nikon
  '04CB', // Fuji Photo Film
  '04DA', // Panasonic
  '04DD', // Sharp
  '054C', // Sony (its phones are 0FCE)
  '05CA', // Ricoh
  '07B4', // Olympus
  '07CF', // Casio
  '0A17', // Pentax
  '1003', // Sigma
  '1A98', // Leica
  '25FB', // Pentax Ricoh
  '2672', // GoPro
])

/** Vendors whose devices with interface ff:ff:00 are phones with MTP. */
export const phoneVendors: ReadonlySet<string> = new Set([
  '0421', // Nokia
  '04E8', // Samsung
  '0BB4', // HTC
  '0FCE', // Sony Ericsson
  '1004', // LG
  '12D1', // Huawei
  '18D1', // Google
  '22B8', // Motorola
  '22D9', // OPPO
  '2717', // Xiaomi
  '2A70', // OnePlus
  '2D95', // vivo
])

const modelsOf: readonly (readonly [kind: CapabilityKind, models: string])[] = [
  [
    'Communication',
    '0403:6001 0403:6010 0403:6011 0403:6014 0403:6015 067B:2303 10C4:EA60 1A86:7523 1A86:5523 1A86:5512',
  ],
  ['Network', '0BDA:8152 0BDA:8153 0BDA:8156 0424:7500 0424:7800 0424:9514 0424:EC00'],
  // Card readers of drivers/misc/cardreader/rtsx_usb.c.
  ['Mass Storage', '0BDA:0129 0BDA:0139 0BDA:0140'],
]
const byModel = new Map(modelsOf.flatMap(([kind, models]) => models.split(' ').map((model) => [model, kind] as const)))

const byVendor = new Map<string, CapabilityKind>([
  ['0B95', 'Network'], // ASIX: Ethernet adapters
  ['17E9', 'Video'], // DisplayLink
  ['148F', 'Wireless'], // Ralink: Wi-Fi
  ['0CF3', 'Wireless'], // Qualcomm Atheros: Wi-Fi and Bluetooth
  ['0A5C', 'Wireless'], // Broadcom: Bluetooth (drivers/bluetooth/btusb.c)
  ['0489', 'Wireless'], // Foxconn: Bluetooth
  ['04CA', 'Wireless'], // Lite-On: Bluetooth
  ['105B', 'Wireless'], // Foxconn: Bluetooth
  ['13D3', 'Wireless'], // IMC Networks: Wi-Fi and Bluetooth
  ['8087', 'Wireless'], // Intel: Bluetooth, WiMAX
  ['0E8D', 'Wireless'], // MediaTek: Wi-Fi and Bluetooth (drivers/net/wireless/mediatek)
  ['7392', 'Wireless'], // Edimax: Wi-Fi
  ['0499', 'Audio'], // Yamaha (sound/usb/quirks-table.h, as the next)
  ['0582', 'Audio'], // Roland
  ['0763', 'Audio'], // M-Audio
  ['1235', 'Audio'], // Focusrite, Novation
  ['17CC', 'Audio'], // Native Instruments (sound/usb/caiaq)
  ['0BFD', 'Communication'], // Kvaser: CAN (drivers/net/can/usb, as the next)
  ['0C72', 'Communication'], // PEAK: CAN
])

/** Vendors that make hardly anything but phones. Their devices without a telling class are phones. */
export const isPhoneMaker = (vid: string): boolean =>
  ['0421', '0BB4', '0FCE', '22B8', '22D9', '2717', '2A70', '2D95'].includes(vid)

/** Makers of serial adapters whose name remains when another company sells the adapter with its own ids. */
export const SERIAL_MAKER = /^(?:silicon lab|prolific|ftdi|wch\b|qinheng)/i

/** Returns the kind of a well-known model with only vendor-specific interfaces. */
export const vendorSpecificKind = (vid: string, pid: string): CapabilityKind | undefined =>
  byModel.get(`${vid}:${pid}`) ?? (isFingerprintReader(vid, pid) ? 'Biometric' : byVendor.get(vid))
