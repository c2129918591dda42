import type { DeviceReport } from '@portcullis/contract'
import { buildDevice, type DeviceSpec, type EndpointSpec, type InterfaceSpec } from '@portcullis/domain/testing'

/** A device fixture made from public facts, with its common name. */
export interface Fixture {
  name: string
  report: DeviceReport
  kind: string
  isTool: boolean
}

/** Builds a report descriptor with one application collection. */
const usage = (page: number, id: number): string =>
  Buffer.from([0x06, page & 0xff, page >> 8, 0x09, id, 0xa1, 0x01, 0xc0]).toString('base64')
const keyboard = usage(1, 6)
const mouse = usage(1, 2)
const into = (maxPacketSize: number, interval: number): EndpointSpec => ({
  address: 0x81,
  attributes: 3,
  maxPacketSize,
  interval,
})
const outOf = (maxPacketSize: number, interval: number): EndpointSpec => ({
  address: 0x01,
  attributes: 3,
  maxPacketSize,
  interval,
})
const boot = (...endpoints: EndpointSpec[]): InterfaceSpec => ({ code: '03:01:01', endpoints })
const plain = (...endpoints: EndpointSpec[]): InterfaceSpec => ({ code: '03:00:00', endpoints })

type Row = readonly [name: string, kind: string, spec: DeviceSpec]

const ordinary: readonly Row[] = [
  [
    'office keyboard',
    'Keyboard',
    {
      vid: '413C',
      pid: '2113',
      bcdDevice: '0108',
      maxPacketSize0: 8,
      speedMbps: 1.5,
      manufacturer: 'Dell',
      product: 'Dell KB216 Wired Keyboard',
      interfaces: [boot(into(8, 24)), plain(into(4, 24))],
    },
  ],
  [
    'office mouse',
    'Mouse',
    {
      vid: '046D',
      pid: 'C077',
      bcdDevice: '7200',
      maxPacketSize0: 8,
      speedMbps: 1.5,
      manufacturer: 'Logitech',
      product: 'USB Optical Mouse',
      interfaces: ['03:01:02'],
    },
  ],
  [
    'receiver',
    'Keyboard',
    {
      vid: '046D',
      pid: 'C534',
      bcdDevice: '2901',
      maxPacketSize0: 8,
      speedMbps: 12,
      manufacturer: 'Logitech',
      product: 'USB Receiver',
      interfaces: [boot(into(8, 8)), '03:01:02'],
    },
  ],
  [
    'keyboard with QMK',
    'Keyboard',
    {
      vid: '3434',
      pid: '0220',
      bcdDevice: '0100',
      speedMbps: 12,
      maxPowerMa: 500,
      manufacturer: 'Keychron',
      product: 'Keychron K2',
      interfaces: [boot(into(8, 1)), plain(into(32, 1)), plain(into(32, 1), outOf(32, 1))],
    },
  ],
  [
    'keyboard at 8 kHz',
    'Keyboard',
    {
      vid: '1532',
      pid: '0266',
      bcdDevice: '0200',
      speedMbps: 480,
      maxPowerMa: 500,
      manufacturer: 'Razer',
      product: 'Razer Huntsman V2',
      interfaces: ['03:01:02', boot(into(8, 4)), boot(into(8, 4))],
    },
  ],
  [
    'pen tablet with a disk',
    'Tablet',
    { vid: '256C', pid: '006D', interfaces: ['03:00:00', '03:01:01', '03:01:02', '08:06:50'] },
  ],
  [
    'pen tablet by its report descriptor',
    'Tablet',
    { vid: '2222', pid: '0001', interfaces: ['03:01:02', '03:00:00'], reportDescriptors: [mouse, usage(0x0d, 2)] },
  ],
  [
    'touch screen',
    'Touchscreen',
    { vid: '04F3', pid: '2674', product: 'Touchscreen', interfaces: ['03:00:00'], reportDescriptors: [usage(0x0d, 4)] },
  ],
  [
    'game pad',
    'Game Controller',
    { vid: '054C', pid: '09CC', interfaces: ['03:00:00'], reportDescriptors: [usage(1, 5)] },
  ],
  [
    'uninterruptible supply',
    'UPS',
    { vid: '051D', pid: '0002', interfaces: ['03:00:00'], reportDescriptors: [usage(0x84, 4)] },
  ],
  [
    'volume knob',
    'Media Control',
    { vid: '2222', pid: '0002', interfaces: ['03:00:00'], reportDescriptors: [usage(0x0c, 1)] },
  ],
  ['sensor hub', 'Sensor', { vid: '0483', pid: '91D1', interfaces: ['03:00:00'], reportDescriptors: [usage(0x20, 1)] }],
  [
    'bar-code scanner in its own mode',
    'Barcode Scanner',
    { vid: '0C2E', pid: '0B01', interfaces: ['03:00:00'], reportDescriptors: [usage(0x8c, 2)] },
  ],
  ['bar-code scanner that types', 'Keyboard', { vid: '05E0', pid: '1200', interfaces: ['03:01:01'] }],
  ['fingerprint reader', 'Biometric', { vid: '27C6', pid: '5395', interfaces: ['ff:00:00'] }],
  ['fingerprint reader with CDC', 'Biometric', { vid: '27C6', pid: '55A2', interfaces: ['02:02:01', '0a:00:00'] }],
  ['card reader', 'Mass Storage', { vid: '0BDA', pid: '0129', interfaces: ['ff:06:50'] }],
  ['Bluetooth radio', 'Wireless', { vid: '8087', pid: '0A2B', interfaces: ['e0:01:01'] }],
  ['vendor-class radio', 'Wireless', { vid: '0A5C', pid: '21E8', interfaces: ['ff:01:01', 'fe:01:01'] }],
  ['Wi-Fi stick', 'Wireless', { vid: '148F', pid: '5370', product: '802.11 n WLAN', interfaces: ['ff:ff:ff'] }],
  ['boot loader', 'Firmware Update', { vid: '0483', pid: 'DF11', interfaces: ['fe:01:02'] }],
  ['billboard', 'Billboard', { vid: '2109', pid: '0101', deviceCode: '11:00:00', interfaces: ['11:00:00'] }],
  [
    'module for mobile broadband',
    'Modem',
    { vid: '2C7C', pid: '0125', interfaces: ['ff:ff:ff', 'ff:00:00', 'ff:00:00', '01:01:00'] },
  ],
  ['MBIM module', 'Modem', { vid: '1199', pid: '9079', interfaces: ['02:0e:00', '0a:00:02', 'ff:ff:ff'] }],
  ['authenticator', 'Security Key', { vid: '1050', pid: '0407', interfaces: ['03:01:01', '03:00:00', '0b:00:00'] }],
  [
    'authenticator by its report descriptor',
    'Security Key',
    { vid: '2222', pid: '0003', interfaces: ['03:00:00'], reportDescriptors: [usage(0xf1d0, 1)] },
  ],
  ['smart card reader', 'Smart Card', { vid: '076B', pid: '3031', interfaces: ['0b:00:00'] }],
  ['phone', 'Phone', { vid: '18D1', pid: '4EE1', product: 'Pixel', interfaces: ['06:01:01'] }],
  ['phone with a debug bridge', 'Phone', { vid: '18D1', pid: '4EE7', product: 'Pixel', interfaces: ['ff:42:01'] }],
  [
    'phone whose second configuration has audio',
    'Phone',
    { vid: '05AC', pid: '12A8', interfaces: ['06:01:01'], moreConfigurations: [['01:01:00', '01:02:00', '03:00:00']] },
  ],
  ['multi-function printer', 'Printer', { vid: '04B8', pid: '1142', interfaces: ['ff:ff:ff', '07:01:02', '08:06:50'] }],
  ['camera', 'Imaging', { vid: '04A9', pid: '31C0', interfaces: ['06:01:01'] }],
  ['web cam', 'Video', { vid: '046D', pid: '082D', interfaces: ['0e:01:00', '0e:02:00', '01:01:00', '01:02:00'] }],
  ['headset', 'Audio', { vid: '0B0E', pid: '0422', interfaces: ['01:01:00', '01:02:00', '03:00:00'] }],
  ['memory stick', 'Mass Storage', { vid: '0781', pid: '5583', serial: '4C530001', interfaces: ['08:06:50'] }],
  [
    'network adapter',
    'Network',
    {
      vid: '0BDA',
      pid: '8153',
      serial: '001000001',
      interfaces: ['ff:ff:00'],
      moreConfigurations: [['02:06:00', '0a:00:00']],
    },
  ],
  ['serial adapter', 'Communication', { vid: '0403', pid: '6001', interfaces: ['ff:ff:ff'] }],
  ['hub', 'Hub', { vid: '05E3', pid: '0610', deviceCode: '09:00:01', interfaces: ['09:00:00'] }],
  [
    'bridge of a Mac',
    'Keyboard',
    { vid: '05AC', pid: '8233', removable: 'fixed', interfaces: ['03:00:00', '03:01:01', '02:0d:00', '0a:00:01'] },
  ],
  [
    'controller of a server',
    'Keyboard',
    {
      vid: '0624',
      pid: '0249',
      manufacturer: 'Avocent',
      product: 'Keyboard/Mouse Function',
      removable: 'fixed',
      interfaces: ['03:01:01', '03:01:02'],
    },
  ],
]

const genuineIds: DeviceSpec = {
  vid: '046D',
  pid: 'C31C',
  manufacturer: 'Logitech',
  product: 'USB Keyboard',
  interfaces: [],
}

const tools: readonly Row[] = [
  ['Rubber Ducky', 'Keyboard', { vid: '03EB', pid: '2401', speedMbps: 12, interfaces: [boot(into(8, 2))] }],
  [
    'Rubber Ducky with genuine ids',
    'Keyboard',
    { ...genuineIds, bcdDevice: '0100', speedMbps: 12, interfaces: [boot(into(64, 1))] },
  ],
  [
    'Ducky by its own name',
    'Keyboard',
    { vid: '05AC', pid: '0250', manufacturer: 'HAK5', product: 'DUCKY', interfaces: [boot(into(8, 10))] },
  ],
  ['Bash Bunny', 'Keyboard', { vid: 'F000', pid: 'FF01', interfaces: [boot(into(8, 4))] }],
  [
    'Bash Bunny with genuine ids',
    'Keyboard',
    {
      vid: '413C',
      pid: '2113',
      bcdDevice: '0333',
      speedMbps: 480,
      maxPowerMa: 500,
      interfaces: [boot(into(8, 4), outOf(8, 4))],
    },
  ],
  [
    'Flipper',
    'Keyboard',
    { vid: '046D', pid: 'C529', speedMbps: 12, maxPowerMa: 500, selfPowered: true, interfaces: [boot(into(16, 2))] },
  ],
  [
    'Flipper with genuine ids',
    'Keyboard',
    {
      ...genuineIds,
      bcdDevice: '0100',
      speedMbps: 12,
      maxPowerMa: 500,
      selfPowered: true,
      interfaces: [boot(into(16, 2))],
    },
  ],
  [
    'Flipper as authenticator',
    'Security Key',
    {
      vid: '0483',
      pid: '5741',
      manufacturer: 'Flipper Devices Inc.',
      product: 'U2F Token',
      interfaces: [plain(into(64, 5), outOf(64, 5))],
    },
  ],
  [
    'Linux gadget in HID mode',
    'Keyboard',
    {
      vid: '1234',
      pid: '0001',
      bcdDevice: '0515',
      speedMbps: 480,
      maxPowerMa: 250,
      interfaces: [boot(into(8, 4), outOf(8, 4))],
    },
  ],
  [
    'phone as keyboard',
    'Keyboard',
    {
      vid: '04E8',
      pid: '7021',
      speedMbps: 480,
      manufacturer: 'SAMSUNG',
      product: 'Gadget',
      interfaces: [boot(into(8, 4), outOf(8, 4))],
    },
  ],
  [
    'raw-gadget keyboard',
    'Keyboard',
    { vid: '046D', pid: 'C312', manufacturer: 'a', product: 'a', speedMbps: 480, interfaces: [boot(into(8, 5))] },
  ],
  [
    'Pico with TinyUSB',
    'Keyboard',
    {
      vid: 'CAFE',
      pid: '4004',
      speedMbps: 12,
      manufacturer: 'TinyUSB',
      product: 'TinyUSB Device',
      interfaces: [plain(into(16, 5))],
      reportDescriptors: [keyboard],
    },
  ],
  [
    'CH552',
    'Keyboard',
    {
      vid: '1209',
      pid: 'C55D',
      bcdDevice: '0100',
      speedMbps: 12,
      selfPowered: true,
      interfaces: [boot(into(8, 10), outOf(8, 10))],
    },
  ],
  [
    'Maple',
    'Keyboard',
    {
      vid: '1EAF',
      pid: '0024',
      manufacturer: 'LeafLabs',
      product: 'Maple',
      speedMbps: 12,
      interfaces: [plain(into(64, 10))],
      reportDescriptors: [keyboard],
    },
  ],
  [
    'LUFA keyboard',
    'Keyboard',
    {
      vid: '03EB',
      pid: '2042',
      bcdDevice: '0001',
      maxPacketSize0: 8,
      manufacturer: 'Dean Camera',
      product: 'LUFA Keyboard Demo',
      interfaces: [boot(into(8, 5), outOf(8, 5))],
    },
  ],
  [
    'V-USB keyboard',
    'Keyboard',
    {
      vid: '16C0',
      pid: '27DB',
      bcdDevice: '0100',
      bcdUsb: 0x0110,
      speedMbps: 1.5,
      manufacturer: 'obdev.at',
      product: 'HIDKeys',
      interfaces: [boot(into(8, 10))],
    },
  ],
  [
    'keyboard with a debug bridge',
    'Keyboard',
    { vid: '18D1', pid: '4EE7', interfaces: [boot(into(8, 10)), 'ff:42:01'] },
  ],
  ['keyboard with a disk', 'Keyboard', { vid: '1234', pid: '5678', interfaces: [boot(into(8, 10)), '08:06:50'] }],
  [
    'keyboard with a network',
    'Keyboard',
    { vid: '1234', pid: '5678', interfaces: [boot(into(8, 10)), '02:0d:00', '0a:00:01'] },
  ],
  [
    'mouse with a disk',
    'Mass Storage',
    { vid: '046D', pid: 'C077', product: 'USB Optical Mouse', interfaces: ['03:01:02', '08:06:50'] },
  ],
  ['LAN Turtle', 'Network', { vid: '0BDA', pid: '8152', serial: '00E04C3659E9', interfaces: ['ff:ff:00'] }],
  ['P4wnP1', 'Network', { vid: '1D6B', pid: '1347', manufacturer: 'MaMe82', interfaces: ['02:02:ff', '0a:00:00'] }],
  [
    'NanoKVM',
    'Keyboard',
    {
      vid: '3346',
      pid: '1009',
      manufacturer: 'sipeed',
      product: 'NanoKVM',
      interfaces: ['03:00:01', '03:00:02', '08:06:50'],
    },
  ],
  [
    'receiver that stores',
    'Keyboard',
    {
      vid: '046D',
      pid: 'C52B',
      manufacturer: 'Logitech',
      product: 'USB Receiver',
      interfaces: ['03:01:01', '03:01:02', '08:06:50'],
    },
  ],
  [
    'WiFi Duck with genuine ids',
    'Keyboard',
    { vid: '05AC', pid: '021E', manufacturer: 'Apple', product: 'SuperWiFiDuck', interfaces: [boot(into(64, 10))] },
  ],
]

const made =
  (isTool: boolean) =>
  ([name, kind, spec]: Row): Fixture => ({ name, kind, isTool, report: buildDevice(spec) })

/** Ordinary devices, and attack tools as built from public code. */
export const fixtures: readonly Fixture[] = [...ordinary.map(made(false)), ...tools.map(made(true))]
