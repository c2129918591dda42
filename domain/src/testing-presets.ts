import type { DeviceReport } from '@portcullis/contract'
import { buildDevice, type DeviceSpec } from './testing-build.ts'

/** Changes to a preset; mostly `portPath`, `serial` or `interfaces`. */
export type Change = Partial<DeviceSpec>

const preset =
  (spec: DeviceSpec) =>
  (change: Change = {}): DeviceReport =>
    buildDevice({ ...spec, ...change })

/** Any wired office keyboard. */
export const plainKeyboard = preset({
  vid: '413C',
  pid: '2113',
  bcdDevice: '0110',
  bcdUsb: 0x0110,
  manufacturer: 'DELL',
  product: 'Dell KB216 Wired Keyboard',
  speedMbps: 1.5,
  removable: 'removable',
  interfaces: ['03:01:01', '03:00:00'],
})

/** Any wired mouse. */
export const plainMouse = preset({
  vid: '046D',
  pid: 'C077',
  bcdDevice: '7200',
  manufacturer: 'Logitech',
  product: 'USB Optical Mouse',
  speedMbps: 1.5,
  removable: 'removable',
  interfaces: ['03:01:02'],
})

/** A memory stick with a serial number. */
export const storageStick = preset({
  vid: '0781',
  pid: '5581',
  bcdUsb: 0x0210,
  manufacturer: 'SanDisk',
  product: 'Ultra',
  serial: '4C530001230615112345',
  speedMbps: 480,
  removable: 'removable',
  maxPowerMa: 224,
  interfaces: ['08:06:50'],
})

/** Hak5 USB Rubber Ducky as it comes: a keyboard with ATMEL's ids. */
export const rubberDucky = preset({
  vid: '03EB',
  pid: '2401',
  manufacturer: 'ATMEL',
  product: 'HID Keyboard',
  speedMbps: 12,
  interfaces: ['03:01:01'],
})

/** Flipper Zero in BadUSB mode, as its firmware builds the descriptors (furi_hal_usb_hid.c). */
export const flipperBadUsb = preset({
  vid: '046D',
  pid: 'C529',
  bcdDevice: '0100',
  speedMbps: 12,
  maxPowerMa: 500,
  selfPowered: true,
  remoteWakeup: false,
  interfaces: [{ code: '03:01:01', endpoints: [{ address: 0x81, maxPacketSize: 16, interval: 2 }] }],
})

const receiver: DeviceSpec = {
  vid: '046D',
  pid: 'C52B',
  bcdDevice: '1207',
  manufacturer: 'Logitech',
  product: 'USB Receiver',
  configuration: 'RQR12.07_B0029',
  speedMbps: 12,
  maxPacketSize0: 8,
  maxPowerMa: 98,
  removable: 'removable',
  interfaces: ['03:01:01', '03:01:02', '03:00:00'],
}

/** A genuine Logitech Unifying receiver with firmware 12.07. */
export const unifyingReceiver1207 = preset(receiver)

/** The same with additional mass storage, which no genuine one has. */
export const spoofedUnifying = preset({
  ...receiver,
  serial: '3&1a2b3c4&0&1',
  speedMbps: 480,
  maxPacketSize0: 64,
  interfaces: ['03:01:01', '03:01:02', '03:00:00', '08:06:50'],
})

/** A four-port hub. */
export const hub = preset({
  vid: '0BDA',
  pid: '5411',
  bcdDevice: '0104',
  bcdUsb: 0x0210,
  deviceCode: '09:00:01',
  manufacturer: 'Generic',
  product: '4-Port USB 2.0 Hub',
  speedMbps: 480,
  selfPowered: true,
  maxPowerMa: 0,
  interfaces: [
    { code: '09:00:01', number: 0 },
    { code: '09:00:02', number: 0, alternate: 1 },
  ],
})

/** A phone that shares files (MTP). */
export const phone = preset({
  vid: '18D1',
  pid: '4EE1',
  bcdDevice: '0440',
  manufacturer: 'Google',
  product: 'Pixel 8',
  serial: '38281FDJH00ABC',
  speedMbps: 480,
  maxPowerMa: 500,
  interfaces: ['06:01:01'],
})

/** A camera with microphone. */
export const webcam = preset({
  vid: '046D',
  pid: '082D',
  bcdDevice: '0011',
  deviceCode: 'EF:02:01',
  product: 'HD Pro Webcam C920',
  serial: '1F0B2C3F',
  speedMbps: 480,
  maxPowerMa: 500,
  interfaces: [
    '0e:01:00',
    { code: '0e:02:00', number: 1, endpoints: [] },
    { code: '0e:02:00', number: 1, alternate: 1 },
    { code: '0e:02:00', number: 1, alternate: 2 },
    { code: '01:01:00', number: 2 },
    { code: '01:02:00', number: 3 },
  ],
})

/** A YubiKey 5 with firmware 5.4.3: keyboard, FIDO and CCID in one device, and genuine. */
export const yubiKey = preset({
  vid: '1050',
  pid: '0407',
  bcdDevice: '0543',
  manufacturer: 'Yubico',
  product: 'YubiKey OTP+FIDO+CCID',
  speedMbps: 12,
  maxPowerMa: 30,
  interfaces: ['03:01:01', '03:00:00', '0b:00:00'],
})

/** A USB Ethernet adapter. */
export const networkAdapter = preset({
  vid: '0BDA',
  pid: '8153',
  bcdDevice: '3000',
  bcdUsb: 0x0300,
  maxPacketSize0: 9,
  manufacturer: 'Realtek',
  product: 'USB 10/100/1000 LAN',
  serial: '000001000000',
  speedMbps: 5000,
  interfaces: ['ff:ff:00'],
  moreConfigurations: [['02:06:00', '0a:00:00']],
})

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
