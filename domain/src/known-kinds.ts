import type { Kind } from './icons.ts'
import { fidoProducts } from './security-keys.ts'

/** Parses words that name all products of a vendor (`0483`), one (`0483:2015`) or a range (`0483:2015-2016`). */
const inRanges = (words: string) => {
  const ranges = words
    .trim()
    .split(/\s+/)
    .map((word) => {
      const [vid, from = '0000', to = word.includes(':') ? from : 'FFFF'] = word.split(/[:-]/)
      return { vid, from, to }
    })
  return (vid: string, pid: string): boolean =>
    ranges.some((range) => range.vid === vid && range.from <= pid && pid <= range.to)
}

/** Fingerprint readers in the list of libfprint, with or without a driver (systemd hwdb.d/60-autosuspend-fingerprint-reader.hwdb, LGPL-2.1+). */
export const isFingerprintReader = inRanges(`
  045E:00BB-00BD 045E:00CA 0483:2015-2016 04F3:0903 04F3:0907 04F3:0C00-0CFF 05BA 061A:0110 06CB:0081-01FF 08FF
  0A5C:5800-58FF 10A5 1188:9545 138A 147E 1491 16D1:1027 1C7A 2541 27C6:5000-6FFF 2808:9000-9FFF 298D 3538
  5501:08FF
`)

/** Authenticators in the rules of systemd, families of the vendors in libfido2's list, and keys that no list has. */
const isInKeyFamily = inRanges(`
  1050:0010-0FFF 096E:0850-0880 18D1:9470 20A0:4108-4109 20A0:4211 20A0:42B1-42B4 1EA8 2CCF:0850-0880 311F 349E
  04E6:5A11 047D:8203 08E6:34D2 1370:0911
`)

const fidoKeys: ReadonlySet<string> = new Set(
  fidoProducts
    .trim()
    .split('\n')
    .flatMap((line) => {
      const [vid = '', ...pids] = line.trim().split(/:? /)
      return pids.map((pid) => vid + pid)
    }),
)

/** Known authenticators. They keep this kind whatever other functions they have. */
export const isSecurityKey = (vid: string, pid: string): boolean => fidoKeys.has(vid + pid) || isInKeyFamily(vid, pid)

/** Vendors of pen tablets (Linux drivers/hid/hid-ids.h and libwacom's data, facts). Only report descriptors contain the digitizer page. */
export const isTabletVendor = inRanges(
  '056A 08CA:0001-00FF 08F2 0B57 172F 2179 256C 28BD 2FEB 5543 5544 0458:5000-50FF',
)

/** Vendors of mobile broadband modules (ModemManager's port-type rules, facts). */
export const isModemVendor = inRanges(`
  03F0:0857 03F0:4E1D-581D 0489:E0A0-E0FF 0930:0D45-1319 0BDB 1199 12D1:1000-1FFF 1410 1519 1546:1010-11FF 19D2
  1BC7 1C9E 1E0E 1E2D 2020 2C7C 2CB7 2DEE 305A 413C:8114-8118 413C:8128-8129 413C:8133-8138 413C:8147
  413C:8171-8172 413C:8180-8186 413C:818D-8196 413C:819B 413C:81A0-81A2 413C:81A4-82FF
`)

/** iPhones, iPads and iPods (libimobiledevice's udev rules, facts). */
export const isApplePhone = inRanges('05AC:1290-12AF')

/** Words that vendors and usb.ids use for devices with vendor-specific interfaces. They only affect the displayed name. */
const words: readonly (readonly [RegExp, Kind])[] = [
  [/\bu2f\b|\bfido2?\b|security key/i, 'Security Key'],
  [/finger ?print|biometric|swipe sensor|touch ?strip/i, 'Biometric'],
  [
    /bluetooth|wlan|wi-?fi|802\.1[15]|wpan\b|zigbee|wireless (?:lan|adapter|network|usb)|wimax|\bb\/g\/n\b|centrino/i,
    'Wireless',
  ],
  [/\b(?:modem|hspa|hsdpa|lte|wwan|mobile broadband|umts|5g)\b/i, 'Modem'],
  [/card ?reader|flash (?:reader|disk|drive)|mass storage|\bssd\b|sata bridge/i, 'Mass Storage'],
  [/ethernet|\blan\b|gigabit|10\/100|\b(?:ax88|rtl81)\d/i, 'Network'],
  [/web ?cam|camera|quickcam|video|tv (?:stick|tuner|receiver)|dvb|displaylink|\bdisplay\b/i, 'Video'],
  [/scanner|scan\b|perfection|canoscan/i, 'Imaging'],
  [/printer|laserjet|deskjet/i, 'Printer'],
  [
    /game ?pad|xbox|joystick|dualshock|dualsense|throttle|racing wheel|(?:game|gaming|pro|wireless) controller/i,
    'Game Controller',
  ],
  [
    /uart|serial|rs-?(?:232|485)|j-?link|st-?link|debug(?:ger)? probe|(?:\b|_)g(?:ps|nss)\b|\bp?can-?(?:bus|fd|usb)\b/i,
    'Communication',
  ],
  [/audio|sound|\bdac\b|headset|microphone|midi/i, 'Audio'],
  [/smart ?card|\bccid\b|hasp|token|dongle key/i, 'Smart Card'],
  [/\bups\b|uninterruptible/i, 'UPS'],
  [/bar-?code/i, 'Barcode Scanner'],
  [/dfu|boot ?loader|\brecovery\b|fastboot|firmware/i, 'Firmware Update'],
  [/touch ?(?:screen|panel)/i, 'Touchscreen'],
  [/billboard|alternate mode/i, 'Billboard'],
  [/\b(?:phone|android|mtp)\b/i, 'Phone'],
  [/infrared|\bir (?:receiver|transceiver)\b/i, 'Media Control'],
  [/keyboard/i, 'Keyboard'],
  [/\bmouse\b/i, 'Mouse'],
]

/** Returns the kind that a name mentions; undefined if it mentions none. */
export const kindByWords = (text: string): Kind | undefined => words.find(([pattern]) => pattern.test(text))?.[1]

/** Bridge chips of Macs (T1, T2): keyboard, network and camera in one internal device (Linux drivers/hid/hid-ids.h, usb.ids). */
export const isAppleBridge = inRanges('05AC:8102-8104 05AC:8233 05AC:8262 05AC:8302 05AC:8514 05AC:8600')

/** VIDs whose ids many makers share: chip vendors and registries of community ids (usb.ids, pid.codes, OpenMoko). */
const sharedVendors: ReadonlySet<string> = new Set(
  '03EB 0483 04D8 1209 16C0 16D0 1915 1D50 1FC9 2341 239A 2886 2E8A 303A CAFE FEED'.split(' '),
)
export const isSharedVendor = (vid: string): boolean => sharedVendors.has(vid)

/** Names of keyboard firmware, and of keyboards, keypads and authenticators that are sold with the ids of a chip or registry. */
const KEYBOARD_PRODUCT =
  /\b(?:qmk|zmk|vial|kmk|glove80|onlykey|pi \d+ keyboard)\b|(?:key|macro|num|duck[iy]|d|go)[ -]?pad\b/i

/**
 * Returns true if a device with shared ids says that it is a keyboard sold as such. A text proves nothing, but tools that
 * disguise themselves take the ids of a keyboard vendor as well.
 */
export const isKeyboardProduct = (
  vid: string,
  { manufacturer, product }: { manufacturer?: string; product?: string },
): boolean => isSharedVendor(vid) && KEYBOARD_PRODUCT.test(`${manufacturer ?? ''} ${product ?? ''}`)
