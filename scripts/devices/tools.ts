import type { DeviceSpec } from '@portcullis/domain/testing'
import type { Fixture } from './measure.ts'
import { boot, into, keyItems, made, mouseItems, outOf, plain, type Row } from './parts.ts'

/** What the USB stacks of these tools declare, according to their source code. */
const typing: Partial<DeviceSpec> = { reportDescriptors: [keyItems] }
/** f_hid on Linux: an output endpoint, and no remote wakeup unless a script sets it. */
const gadget = (...more: string[]): Partial<DeviceSpec> => ({
  ...{ speedMbps: 480, remoteWakeup: false, maxPowerMa: 500 },
  interfaces: [boot(into(8, 4), outOf(8, 4)), ...more],
})
/** Arduino core for ESP32-S2 and S3 (TinyUSB). */
const esp32: Partial<DeviceSpec> = {
  ...{ speedMbps: 12, deviceCode: 'ef:02:01', selfPowered: true, remoteWakeup: false, maxPowerMa: 500 },
  interfaces: [plain(into(64, 1), outOf(64, 1))],
  ...typing,
}
/** CircuitPython: serial port, program disk and input devices. */
const circuitPython: Partial<DeviceSpec> = {
  ...{ speedMbps: 12, deviceCode: 'ef:02:01', remoteWakeup: false },
  interfaces: ['02:02:00', '0a:00:00', '08:06:50', plain(into(64, 8), outOf(64, 8))],
  ...typing,
}
/** Arduino core for RP2040. */
const rp2040: Partial<DeviceSpec> = {
  ...{ speedMbps: 12, deviceCode: 'ef:02:01', remoteWakeup: false, selfPowered: true },
  interfaces: ['02:02:00', '0a:00:00', plain(into(64, 10))],
  ...typing,
}
/** Arduino core for AVR with PluggableUSB: serial port and input device. It can wake the host. */
const avr: Partial<DeviceSpec> = {
  ...{ speedMbps: 12, deviceCode: 'ef:02:01', remoteWakeup: true, maxPowerMa: 500 },
  interfaces: ['02:02:01', '0a:00:00', plain(into(64, 1))],
  ...typing,
}
/** V-USB. */
const vusb: Partial<DeviceSpec> = {
  ...{ speedMbps: 1.5, maxPacketSize0: 8, bcdUsb: 0x0110, remoteWakeup: false },
  interfaces: [plain(into(8, 10))],
  ...typing,
}
/** Teensyduino. */
const teensy: Partial<DeviceSpec> = {
  ...{ speedMbps: 12, selfPowered: true, remoteWakeup: false, manufacturer: 'Teensyduino' },
  interfaces: [boot(into(8, 1)), plain(into(32, 1))],
}
/** Flipper Zero. */
const flipper: Partial<DeviceSpec> = {
  ...{ speedMbps: 12, selfPowered: true, remoteWakeup: false, maxPowerMa: 500 },
  interfaces: [boot(into(16, 2))],
}

const logitech = { vid: '046D', pid: 'C31C', manufacturer: 'Logitech', product: 'USB Keyboard' }
const dell = { vid: '413C', pid: '2113', manufacturer: 'Dell', product: 'Dell KB216 Wired Keyboard' }
const apple = { vid: '05AC', pid: '024F', manufacturer: 'Apple Inc.', product: 'Aluminum Keyboard' }
const receiver = { vid: '046D', pid: 'C52B', manufacturer: 'Logitech', product: 'USB Receiver' }

const rows: readonly Row[] = [
  // Own ids and names.
  ['Rubber Ducky', 'Keyboard', { vid: '03EB', pid: '2401', interfaces: [boot(into(8, 2))] }],
  ['Rubber Ducky with storage', 'Keyboard', { vid: '03EB', pid: '2422', interfaces: [boot(into(8, 2)), '08:06:50'] }],
  [
    'Ducky by its own name',
    'Keyboard',
    { vid: '05AC', pid: '0250', manufacturer: 'HAK5', product: 'DUCKY', interfaces: [boot(into(8, 10))] },
  ],
  [
    'Ducky as DeLuxe',
    'Keyboard',
    { vid: '046D', pid: 'C312', manufacturer: 'Logitech', product: 'DeLuxe250', interfaces: [boot(into(8, 10))] },
  ],
  ['Ducky with joke ids', 'Keyboard', { vid: 'D3AD', pid: 'B33F', interfaces: [boot(into(8, 10))] }],
  ['Bash Bunny', 'Keyboard', { vid: 'F000', pid: 'FF01', ...gadget() }],
  ['Bash Bunny as disk', 'Mass Storage', { vid: 'F000', pid: 'FF10', interfaces: ['08:06:50'] }],
  ['Bash Bunny as network', 'Network', { vid: 'F000', pid: 'FF12', interfaces: ['02:02:ff', '0a:00:00'] }],
  ['O.MG cable', 'Keyboard', { vid: 'D3C0', pid: 'D34D', interfaces: [boot(into(8, 1))] }],
  ['O.MG plug as mouse', 'Mouse', { vid: 'D3C0', pid: 'D34D', interfaces: ['03:01:02'] }],
  ['P4wnP1', 'Network', { vid: '1D6B', pid: '1347', manufacturer: 'MaMe82', interfaces: ['02:02:ff', '0a:00:00'] }],
  ['P4wnP1, first version', 'Network', { vid: '1D6B', pid: '0137', interfaces: ['02:02:ff', '0a:00:00', '03:01:01'] }],
  ['USaBUSe', 'Keyboard', { vid: '1209', pid: '6667', ...gadget('03:00:00') }],
  [
    'PoisonTap',
    'Network',
    {
      vid: '1D6B',
      pid: '0104',
      manufacturer: 'Samy Kamkar',
      product: 'PoisonTap',
      interfaces: ['02:02:ff', '0a:00:00'],
    },
  ],
  ['LAN Turtle', 'Network', { vid: '0BDA', pid: '8152', serial: '00E04C3659E9', interfaces: ['ff:ff:00'] }],
  ['Facedancer', 'Mass Storage', { vid: '610B', pid: '4653', interfaces: ['08:06:50'] }],
  ['Proxmark3', 'Communication', { vid: '9AC4', pid: '4B8F', interfaces: ['02:02:01', '0a:00:00'] }],
  ['HackRF', 'Unknown', { vid: '1D50', pid: '6089', interfaces: ['ff:ff:ff'] }],
  ['Crazyradio', 'Unknown', { vid: '1915', pid: '7777', interfaces: ['ff:00:00'] }],
  [
    'nRF24 research firmware',
    'Unknown',
    { vid: '1915', pid: '0102', manufacturer: 'RFStorm', interfaces: ['ff:00:00'] },
  ],
  ['USB Nova', 'Keyboard', { vid: '16D0', pid: '11A4', interfaces: [boot(into(8, 1))] }],
  ['Digispark', 'Keyboard', { vid: '16C0', pid: '27DB', manufacturer: 'digistump.com', product: 'DigiKey', ...vusb }],
  ['Flipper', 'Keyboard', { vid: '046D', pid: 'C529', ...flipper }],
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
    'Flipper as serial port',
    'Communication',
    {
      vid: '0483',
      pid: '5740',
      manufacturer: 'Flipper Devices Inc.',
      product: 'Flipper Boris',
      interfaces: ['02:02:01', '0a:00:00'],
    },
  ],
  [
    'MalDuino',
    'Keyboard',
    { vid: '1B4F', pid: '9206', manufacturer: 'SparkFun', product: 'SparkFun Pro Micro', ...avr },
  ],
  ['Cactus WHID', 'Keyboard', { vid: '1B4F', pid: '9208', manufacturer: 'SparkFun', product: 'LilyPad USB', ...avr }],
  [
    'Leonardo',
    'Keyboard',
    { vid: '2341', pid: '8036', manufacturer: 'Arduino LLC', product: 'Arduino Leonardo', ...avr },
  ],
  ['Teensy', 'Keyboard', { vid: '16C0', pid: '0482', product: 'Keyboard/Mouse/Joystick', ...teensy }],
  [
    'Pico with CircuitPython',
    'Keyboard',
    { vid: '239A', pid: '80F4', manufacturer: 'Raspberry Pi', product: 'Pico', ...circuitPython },
  ],
  [
    'Pico with TinyUSB',
    'Keyboard',
    {
      vid: 'CAFE',
      pid: '4004',
      speedMbps: 12,
      remoteWakeup: true,
      manufacturer: 'TinyUSB',
      product: 'TinyUSB Device',
      interfaces: [plain(into(16, 5))],
      ...typing,
    },
  ],
  [
    'ESP32-S2',
    'Keyboard',
    { vid: '303A', pid: '0002', manufacturer: 'Espressif Systems', product: 'ESP32-S2', ...esp32 },
  ],
  ['XIAO', 'Keyboard', { vid: '2886', pid: '802F', manufacturer: 'Seeed Studio', product: 'XIAO', ...avr }],
  ['USB Army Knife', 'Keyboard', { vid: '303A', pid: '1001', product: 'USB Army Knife', ...esp32 }],
  [
    'LUFA keyboard',
    'Keyboard',
    {
      vid: '03EB',
      pid: '2042',
      manufacturer: 'Dean Camera',
      product: 'LUFA Keyboard Demo',
      interfaces: [boot(into(8, 5), outOf(8, 5))],
    },
  ],
  ['V-USB keyboard', 'Keyboard', { vid: '16C0', pid: '27DB', manufacturer: 'obdev.at', product: 'HIDKeys', ...vusb }],
  [
    'Maple',
    'Keyboard',
    {
      vid: '1EAF',
      pid: '0024',
      manufacturer: 'LeafLabs',
      product: 'Maple',
      interfaces: [plain(into(64, 10))],
      ...typing,
    },
  ],
  [
    'WiFi Duck',
    'Keyboard',
    { vid: '05AC', pid: '021E', manufacturer: 'Apple', product: 'SuperWiFiDuck', interfaces: [boot(into(64, 10))] },
  ],
  [
    'NetHunter',
    'Keyboard',
    { vid: '04E8', pid: '7021', manufacturer: 'SAMSUNG', product: 'NetHunter Gadget', ...gadget() },
  ],
  // Switches with a network.
  [
    'PiKVM',
    'Keyboard',
    {
      vid: '1D6B',
      pid: '0104',
      manufacturer: 'PiKVM',
      product: 'PiKVM Composite Device',
      ...gadget('03:00:02', '08:06:50'),
    },
  ],
  ['PiKVM with its own ids', 'Keyboard', { vid: '1209', pid: 'EDA1', ...gadget('03:00:02') }],
  [
    'JetKVM',
    'Keyboard',
    {
      vid: '1D6B',
      pid: '0104',
      manufacturer: 'JetKVM',
      product: 'USB Emulation Device',
      ...gadget('03:00:02', '08:06:50'),
    },
  ],
  [
    'JetKVM as receiver',
    'Keyboard',
    {
      vid: '046D',
      pid: 'C52B',
      manufacturer: 'Logitech (x64)',
      product: 'Logitech USB Input Device',
      serial: '3&1a2b3c4&0&1',
      ...gadget('03:00:02', '08:06:50'),
    },
  ],
  [
    'JetKVM as Dell',
    'Keyboard',
    {
      vid: '413C',
      pid: '2011',
      manufacturer: 'Dell Inc.',
      product: 'Multimedia Pro Keyboard',
      serial: '3&1a2b3c4&0&1',
      ...gadget('03:00:02', '08:06:50'),
    },
  ],
  [
    'TinyPilot',
    'Keyboard',
    {
      vid: '1D6B',
      pid: '0104',
      manufacturer: 'tinypilot',
      product: 'Multifunction USB Device',
      serial: '6b65796d696d6570690',
      ...gadget('03:00:00'),
    },
  ],
  ['BLiKVM', 'Keyboard', { vid: '1D6B', pid: '0106', manufacturer: 'smart-kvm', ...gadget('03:00:00', '08:06:50') }],
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
    'Comet',
    'Keyboard',
    { vid: '38EB', pid: '0104', manufacturer: 'Glinet', product: 'Glinet Composite Device', ...gadget('03:00:02') },
  ],
  ['CH9329', 'Keyboard', { vid: '1A86', pid: 'E129', interfaces: [boot(into(8, 10)), '03:00:02'] }],
  // The ids and names of ordinary keyboards.
  [
    'Rubber Ducky as Logitech',
    'Keyboard',
    { ...logitech, remoteWakeup: false, interfaces: [boot(into(64, 1), outOf(64, 1))] },
  ],
  ['Bash Bunny as Dell', 'Keyboard', { ...dell, ...gadget() }],
  ['Bash Bunny as Dell with a disk', 'Keyboard', { ...dell, ...gadget('08:06:50') }],
  ['Bash Bunny as Apple with a network', 'Keyboard', { ...apple, ...gadget('02:02:ff', '0a:00:00') }],
  ['PiKVM as receiver, able to wake', 'Keyboard', { ...receiver, ...gadget('03:00:02'), remoteWakeup: true }],
  [
    'PiKVM as receiver, with a disk',
    'Keyboard',
    { ...receiver, ...gadget('03:00:02', '08:06:50'), remoteWakeup: true },
  ],
  ['Flipper as Logitech', 'Keyboard', { ...logitech, ...flipper }],
  ['Flipper as Apple', 'Keyboard', { ...apple, ...flipper }],
  ['Parasite as Logitech', 'Keyboard', { ...logitech, ...esp32 }],
  [
    'Parasite as mouse',
    'Mouse',
    {
      vid: '046D',
      pid: 'C077',
      product: 'USB Optical Mouse',
      ...esp32,
      interfaces: [plain(into(64, 1), outOf(64, 1)), plain(into(64, 1, 0x82))],
      reportDescriptors: [mouseItems, keyItems],
    },
  ],
  ['Evil Crow Wind as Dell', 'Keyboard', { ...dell, ...esp32 }],
  [
    'ESP-BadUSB as Lenovo',
    'Keyboard',
    { vid: '17EF', pid: '6099', manufacturer: 'Lenovo', product: 'USB Keyboard', ...esp32 },
  ],
  ['Evil Crow Pro as Apple', 'Keyboard', { ...apple, ...rp2040 }],
  ['Pico as Logitech', 'Keyboard', { ...logitech, ...circuitPython }],
  ['Leonardo as Dell', 'Keyboard', { ...dell, ...avr }],
  ['Teensy as Apple', 'Keyboard', { ...teensy, ...apple }],
  ['V-USB as Logitech', 'Keyboard', { ...logitech, ...vusb }],
  [
    'phone as keyboard',
    'Keyboard',
    { vid: '04E8', pid: '6860', manufacturer: 'SAMSUNG', product: 'SAMSUNG_Android', ...gadget() },
  ],
  [
    'phone as keyboard with a debug bridge',
    'Keyboard',
    { vid: '18D1', pid: '4EE7', interfaces: [boot(into(8, 10)), 'ff:42:01'] },
  ],
  [
    'raw-gadget keyboard',
    'Keyboard',
    { ...logitech, speedMbps: 480, selfPowered: true, remoteWakeup: false, interfaces: [boot(into(8, 5))] },
  ],
  [
    'CH552',
    'Keyboard',
    { vid: '1209', pid: 'C55D', selfPowered: true, remoteWakeup: false, interfaces: [boot(into(8, 10), outOf(8, 10))] },
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
  ['receiver that stores', 'Keyboard', { ...receiver, interfaces: ['03:01:01', '03:01:02', '08:06:50'] }],
  ['hub that types', 'Hub', { vid: '05E3', pid: '0608', deviceCode: '09:00:00', interfaces: ['09:00:00', '03:01:01'] }],
  // Nothing in the descriptors shows these.
  [
    'USB Nova as Cherry',
    'Keyboard',
    { vid: '046A', pid: '0023', product: 'CHERRY Keyboard', interfaces: [boot(into(8, 10)), '03:00:00'] },
  ],
  ['CH9329 as Logitech', 'Keyboard', { ...logitech, interfaces: [boot(into(8, 10)), '03:00:00'] }],
  [
    'Key Croc, a clone of the keyboard behind it',
    'Keyboard',
    { ...dell, speedMbps: 1.5, interfaces: [boot(into(8, 24)), plain(into(4, 24))] },
  ],
  [
    'STM32 as keyboard',
    'Keyboard',
    {
      vid: '0483',
      pid: '572B',
      manufacturer: 'STMicroelectronics',
      product: 'HID Keyboard',
      interfaces: [boot(into(8, 10))],
    },
  ],
  ['Linux board as network adapter', 'Network', { vid: '0525', pid: 'A4A2', interfaces: ['02:02:ff', '0a:00:00'] }],
]

/** Attack tools, as built from public source code. */
export const tools: readonly Fixture[] = rows.map(made(true))
