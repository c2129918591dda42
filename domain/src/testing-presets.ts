import type { DeviceReport } from '@portcullis/contract/agent-reports.ts'
import { buildDevice, type DeviceSpec } from './testing-build.ts'
import { deviceSpec } from './testing-table.ts'

/** Changes to a preset; mostly `portPath`, `serial` or `interfaces`. */
export type Change = Partial<DeviceSpec>

const preset =
  (row: string) =>
  (change: Change = {}): DeviceReport =>
    buildDevice({ ...deviceSpec(row), ...change })

/** Any wired office keyboard. */
export const plainKeyboard = preset(
  '413C:2113 | DELL | Dell KB216 Wired Keyboard | 03:01:01 03:00:00 bcd=0110 usb=0110 speed=1.5 removable=removable',
)

/** Any wired mouse. */
export const plainMouse = preset(
  '046D:C077 | Logitech | USB Optical Mouse | 03:01:02 bcd=7200 speed=1.5 removable=removable',
)

/** A memory stick with a serial number. */
export const storageStick = preset(
  '0781:5581 | SanDisk | Ultra | 08:06:50 usb=0210 serial=4C530001230615112345 speed=480 removable=removable power=224',
)

/** Hak5 USB Rubber Ducky as it comes: a keyboard with ATMEL's ids. */
export const rubberDucky = preset('03EB:2401 | ATMEL | HID Keyboard | 03:01:01 speed=12')

/** Flipper Zero in BadUSB mode, as its firmware builds the descriptors (furi_hal_usb_hid.c). */
export const flipperBadUsb = preset('046D:C529 | | | 03:01:01<16/2 speed=12 power=500 self=yes wake=no')

const receiver =
  '046D:C52B | Logitech | USB Receiver | 03:01:01 03:01:02 03:00:00 bcd=1207 configuration=RQR12.07_B0029 speed=12 packet=8 power=98 removable=removable'

/** A genuine Logitech Unifying receiver with firmware 12.07. */
export const unifyingReceiver1207 = preset(receiver)

/** The same with additional mass storage, which no genuine one has. */
export const spoofedUnifying = preset(`${receiver} 08:06:50 serial=3&1a2b3c4&0&1 speed=480 packet=64`)

/** A four-port hub. */
export const hub = preset(
  '0BDA:5411 | Generic | 4-Port USB 2.0 Hub | 09:00:01@0 09:00:02@0.1 bcd=0104 usb=0210 device=09:00:01 speed=480 self=yes power=0',
)

/** A phone that shares files (MTP). */
export const phone = preset(
  '18D1:4EE1 | Google | Pixel 8 | 06:01:01 bcd=0440 serial=38281FDJH00ABC speed=480 power=500',
)

/** A camera with microphone. */
export const webcam = preset(
  '046D:082D | | HD Pro Webcam C920 | 0e:01:00 0e:02:00@1[] 0e:02:00@1.1 0e:02:00@1.2 01:01:00@2 01:02:00@3 bcd=0011 device=EF:02:01 serial=1F0B2C3F speed=480 power=500',
)

/** A YubiKey 5 with firmware 5.4.3: keyboard, FIDO and CCID in one device, and genuine. */
export const yubiKey = preset(
  '1050:0407 | Yubico | YubiKey OTP+FIDO+CCID | 03:01:01 03:00:00 0b:00:00 bcd=0543 speed=12 power=30',
)

/** A USB Ethernet adapter. */
export const networkAdapter = preset(
  '0BDA:8153 | Realtek | USB 10/100/1000 LAN | ff:ff:00 second=02:06:00+0a:00:00 bcd=3000 usb=0300 packet=9 serial=000001000000 speed=5000',
)

/** All devices above, by name. */
export const devicePresets = {
  flipperBadUsb,
  hub,
  networkAdapter,
  phone,
  plainKeyboard,
  plainMouse,
  rubberDucky,
  spoofedUnifying,
  storageStick,
  unifyingReceiver1207,
  webcam,
  yubiKey,
}

/** Strings that a hostile device may report, one set per kind of attack. */
export const hostileTexts = {
  html: '<img src=x onerror=alert(document.domain)>',
  formula: "=cmd|' /C calc'!A0",
  nul: 'before\u0000after',
  rightToLeft: '\u202Egnp.exe\u202C \u200Fabc\u2066',
  longest: '\u{10FFFF}'.repeat(255),
  surrogate: 'half \uD800 a pair',
  newline: 'first\r\nsecond\u2028third',
  prototype: '__proto__',
  sql: "'; DROP TABLE peripherals; --",
  template: '{{7*7}}#{7*7}%s%n',
  escape: '\u001b[2J\u001b]0;owned\u0007',
} as const

/** Name of a set of hostile strings. */
export type HostileVariant = keyof typeof hostileTexts

/** A stick whose manufacturer, product and serial number are hostile. Not all variants pass the contract as they are. */
export const hostileStrings = (variant: HostileVariant = 'html', change: Change = {}): DeviceReport => {
  const text = hostileTexts[variant]
  return storageStick({ manufacturer: text, product: text, serial: text, ...change })
}
