import type { CapabilityKind } from './icons.ts'
import { hidDrivers, usbDrivers } from './kernel-drivers.ts'

/** Names of kernel drivers: `usb` below /sys/bus/usb/drivers, `hid` below /sys/bus/hid/drivers. */
export interface Drivers {
  usb: readonly string[]
  hid: readonly string[]
}

const words = (text: string): readonly string[] => text.trim().split(/\s+/)

/** Returns the USB drivers of modules in these folders and their subfolders, without those that other lists name. */
const of = (folders: string, ...without: readonly (readonly string[])[]): readonly string[] => {
  const wanted = words(folders)
  return [...usbDrivers].flatMap(([folder, names]) =>
    wanted.some((one) => folder === one || folder.startsWith(`${one}/`))
      ? names.filter((name) => !without.some((list) => list.includes(name)))
      : [],
  )
}

/**
 * HID drivers that Debian does not build (drivers/hid of Linux 6.1 to 6.18), and openrazer and xpadneo, which are widely
 * packaged.
 */
const otherInputHid = words(`
  appletb-kbd hid-appletb-kbd evision goodix-spi hid-lenovo-go letsketch megaworld nvidia-shield pxrc
  razer razerkbd razermouse razerkraken razeraccessory shield sigmamicro kysona stadia topre vrc2 hid-winwing xiaomi xpadneo
`)
/** HID drivers for other functions: bridges to I2C and GPIO, security keys, lamps, displays, fans, random number generators. */
const otherHid = [
  ...words(
    `cp2112 ft260 gt683r_led hid-led hid-picolcd hid-u2fzero mcp2200 mcp2221 prodikeys appletb-bl hid-appletb-bl`,
  ),
  ...(hidDrivers.get('drivers/hwmon') ?? []),
]
/** HID drivers of keyboards, pointing devices, headset buttons and game controllers. */
const inputHid = [...(hidDrivers.get('drivers/hid') ?? []).filter((name) => !otherHid.includes(name)), ...otherInputHid]

/**
 * Drivers outside usbhid that convert transmissions to key events and bind by VID and PID, whatever the device claims.
 * They serve remote controls, phones, macro keys and game controllers. Debian does not build those of the second line;
 * xone is a widely packaged module.
 */
const remotes = [
  ...of('drivers/input/misc drivers/media/rc'),
  ...words('xpad aiptek ims_pcu xone_wired xone_dongle xbox_remote ir_toy'),
]
/** Television receivers. Their drivers send the keys of the remote control. */
const televisions = [
  ...of(`
    drivers/media/usb/au0828 drivers/media/usb/cx231xx drivers/media/usb/dvb-usb drivers/media/usb/dvb-usb-v2
    drivers/media/usb/em28xx drivers/media/usb/hdpvr drivers/media/usb/pvrusb2 drivers/media/usb/siano
    drivers/media/usb/ttusb-budget drivers/media/usb/ttusb-dec
  `),
  'tm6000',
]
/** Drivers of devices that may type without claiming to be keyboards. Only a permission for keyboards covers them. */
export const keyEventDrivers: readonly string[] = [...remotes, ...televisions, 'snd-usb-caiaq']

/** Keyboards and pointing devices. Drivers other than usbhid bind to HID interfaces by VID and PID. */
const typing = [...of('drivers/hid/usbhid'), 'usbkbd', 'usbmouse', ...of('drivers/input/mouse')]

/** Tablets and touch screens. Many claim to be mice. */
const pointing = of('drivers/input/tablet drivers/input/touchscreen', keyEventDrivers)

const bluetooth = of('drivers/bluetooth')
/** With drivers that Debian does not build and packaged modules of Realtek. */
const wifi = [...of('drivers/net/wireless drivers/staging'), ...words('rtl8192du rtw_8812au rtw_8814au rtw_8821au')]
/** cdc_wdm is the control channel of mobile broadband. */
const network = [...of('drivers/net/usb drivers/net/can drivers/usb/atm'), 'cdc_wdm']
/** ch343 is a packaged module. */
const serial = [...of('drivers/usb/serial drivers/gnss'), 'cdc_acm', 'cdc_wdm', 'ch343']
const audio = [...of('sound/usb', keyEventDrivers), 'snd-usb-us144mkii']
const video = [
  ...of('drivers/media/usb drivers/gpu/drm drivers/video drivers/usb/misc/sisusbvga', keyEventDrivers),
  ...words('go7007 gud gm12u320 stkwebcam zr364xx'),
]

const none: Drivers = { usb: [], hid: [] }

/**
 * Kernel drivers that are allowed for each kind. Drivers that send key events belong only to `Keyboard`, so devices that
 * are allowed as another kind cannot have them. `usbfs` is not listed, because programs on the host use it.
 */
export const driverTable: Readonly<Record<CapabilityKind, Drivers>> = {
  Hub: { usb: ['hub'], hid: [] },
  Keyboard: { usb: [...typing, ...keyEventDrivers], hid: inputHid },
  Mouse: { usb: [...typing, ...pointing], hid: inputHid },
  // The agent tries the drivers in this order. The `ums-*` drivers serve models with special commands.
  'Mass Storage': {
    usb: [...new Set(['usb-storage', ...of('drivers/usb/storage drivers/misc/cardreader drivers/mmc')])],
    hid: [],
  },
  Network: { usb: [...network, ...wifi], hid: [] },
  Video: { usb: video, hid: [] },
  Audio: { usb: audio, hid: [] },
  // uss720 serves adapters to parallel ports, which claim to be printers.
  Printer: { usb: ['usblp', 'uss720'], hid: [] },
  // Readers of contactless cards.
  'Smart Card': { usb: of('drivers/nfc'), hid: [] },
  // Programs access phones through usbfs. An iPhone shares its connection through an Apple-specific interface.
  Phone: { usb: ['ipheth'], hid: [] },
  Imaging: { usb: of('drivers/usb/image'), hid: [] },
  Wireless: { usb: [...bluetooth, ...wifi, ...of('drivers/net/ieee802154')], hid: [] },
  Communication: { usb: serial, hid: [] },
  HID: {
    // In addition to usbhid: wheels and radios, and HID interfaces of measuring devices.
    usb: [
      'usbhid',
      'pxrc',
      ...pointing,
      ...of('drivers/input/joystick/iforce drivers/media/radio drivers/watchdog'),
      ...words(`
        adutux appledisplay cypress_cy7c63 cypress_m8 idmouse iowarrior ldusb legousbtower radio-usb-si4713 yurex
      `),
    ],
    hid: [...inputHid, ...otherHid],
  },
  // Programs access fingerprint readers and boot loaders through usbfs. A billboard device needs no driver.
  Biometric: none,
  Billboard: none,
  'Firmware Update': none,
  Unknown: none,
}
