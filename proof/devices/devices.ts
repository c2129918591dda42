/**
 * Device tables. Columns: name, kind, and those of `deviceSpec`. A word can also be the name of a preset, or
 * `report=` with report descriptors: `keys`, `mouse`, or the page and usage of a collection (`0d:2`).
 */
import { buildDevice, deviceSpec } from '@portcullis/domain/testing'
import type { Fixture } from './measure.ts'

/** Report descriptor with one application collection and a vendor-defined input. */
const usage = (page: number, id: number): string =>
  Buffer.from([
    ...[0x06, page & 0xff, page >> 8, 0x09, id, 0xa1, 0x01, 0x06, 0x00, 0xff, 0x09, 0x01, 0x15, 0x00, 0x25, 0x7f],
    ...[0x75, 0x08, 0x95, 0x08, 0x81, 0x02, 0xc0],
  ]).toString('base64')

const reportDescriptors: Readonly<Record<string, string>> = {
  // Modifier keys, and an array of six keys.
  keys: 'BQEJBqEBBQcZ4CnnFQAlAXUBlQiBApUGdQgVACVlGQApZYEAwA==',
  // Three buttons and two axes.
  mouse: 'BQEJAqEBBQkZASkDFQAlAZUDdQGBApUBdQWBAwUBCTAJMRWBJX91CJUCgQbA',
}
const reportDescriptorOf = (text: string): string => {
  const [page = '', id = ''] = text.split(':')
  return reportDescriptors[text] ?? usage(Number.parseInt(page, 16), Number.parseInt(id, 16))
}

/** Words that several devices share: what the USB stacks of attack tools declare, according to their source code. */
const presets: Readonly<Record<string, string>> = {
  // f_hid on Linux: an output endpoint, and no remote wakeup unless a script sets it.
  gadget: 'speed=480 wake=no power=500 03:01:01<8/4>8/4',
  // Arduino core for ESP32-S2 and S3 (TinyUSB).
  esp32: 'speed=12 device=ef:02:01 self=yes wake=no power=500 03:00:00<64/1>64/1 report=keys',
  // CircuitPython: serial port, program disk and input devices.
  circuitPython: 'speed=12 device=ef:02:01 wake=no 02:02:00 0a:00:00 08:06:50 03:00:00<64/8>64/8 report=keys',
  // Arduino core for RP2040.
  rp2040: 'speed=12 device=ef:02:01 wake=no self=yes 02:02:00 0a:00:00 03:00:00<64/10 report=keys',
  // Arduino core for AVR with PluggableUSB: serial port and input device. It can wake the host.
  avr: 'speed=12 device=ef:02:01 wake=yes power=500 02:02:01 0a:00:00 03:00:00<64/1 report=keys',
  vusb: 'speed=1.5 packet=8 usb=0110 wake=no 03:00:00<8/10 report=keys',
  teensy: 'speed=12 self=yes wake=no 03:01:01<8/1 03:00:00<32/1',
  flipper: 'speed=12 self=yes wake=no power=500 03:01:01<16/2',
}

const wordsOf = (text: string): string[] =>
  text.split(' ').flatMap((word) => presets[word]?.split(' ') ?? (word === '' ? [] : [word]))

/** Parses a table of ordinary devices or of attack tools. */
const devices = (isTool: boolean, table: string): Fixture[] =>
  table
    .trim()
    .split('\n')
    .filter((row) => !row.trimStart().startsWith('//'))
    .map((row) => {
      const [name = '', kind = '', ...columns] = row.trim().split(' | ')
      const words = wordsOf(columns.pop() ?? '')
      const { reports, plain } = Object.groupBy(words, (word) => (word.startsWith('report=') ? 'reports' : 'plain'))
      const spec = deviceSpec([...columns, plain?.join(' ')].join(' | '))
      const list = reports?.at(-1)?.slice('report='.length).split('+')
      if (list !== undefined) spec.reportDescriptors = list.map(reportDescriptorOf)
      return { name, kind, isTool, report: buildDevice(spec) }
    })

/** Ordinary devices, from public facts about them and the source code of their firmware. */
export const fixtures: readonly Fixture[] = devices(
  false,
  `
  office keyboard | Keyboard | 413C:2113 | Dell | Dell KB216 Wired Keyboard | 03:01:01<8/24 03:00:00<4/24 bcd=0108 packet=8 speed=1.5
  office mouse | Mouse | 046D:C077 | Logitech | USB Optical Mouse | 03:01:02 bcd=7200 packet=8 speed=1.5
  receiver | Keyboard | 046D:C534 | Logitech | USB Receiver | 03:01:01<8/8 03:01:02 bcd=2901 packet=8 speed=12
  keyboard with QMK | Keyboard | 3434:0220 | Keychron | Keychron K2 | 03:01:01<8/1 03:00:00<32/1 03:00:00<32/1>32/1 bcd=0100 speed=12 power=500
  keyboard at 8 kHz | Keyboard | 1532:0266 | Razer | Razer Huntsman V2 | 03:01:02 03:01:01<8/4 03:01:01<8/4 bcd=0200 speed=480 power=500
  pen tablet with a disk | Tablet | 256C:006D |  |  | 03:00:00 03:01:01 03:01:02 08:06:50
  pen tablet by its report descriptor | Tablet | 2222:0001 |  |  | 03:01:02 03:00:00 report=mouse+0d:2
  touch screen | Touchscreen | 04F3:2674 |  | Touchscreen | 03:00:00 report=0d:4
  game pad | Game Controller | 054C:09CC |  |  | 03:00:00 report=01:5
  uninterruptible supply | UPS | 051D:0002 |  |  | 03:00:00 report=84:4
  volume knob | Media Control | 2222:0002 |  |  | 03:00:00 report=0c:1
  sensor hub | Sensor | 0483:91D1 |  |  | 03:00:00 report=20:1
  bar-code scanner in its own mode | Barcode Scanner | 0C2E:0B01 |  |  | 03:00:00 report=8c:2
  bar-code scanner that types | Keyboard | 05E0:1200 |  |  | 03:01:01
  fingerprint reader | Biometric | 27C6:5395 |  |  | ff:00:00
  fingerprint reader with CDC | Biometric | 27C6:55A2 |  |  | 02:02:01 0a:00:00
  card reader | Mass Storage | 0BDA:0129 |  |  | ff:06:50
  Bluetooth radio | Wireless | 8087:0A2B |  |  | e0:01:01
  vendor-class radio | Wireless | 0A5C:21E8 |  |  | ff:01:01 fe:01:01
  Wi-Fi stick | Wireless | 148F:5370 |  | 802.11 n WLAN | ff:ff:ff
  boot loader | Firmware Update | 0483:DF11 |  |  | fe:01:02
  billboard | Billboard | 2109:0101 |  |  | 11:00:00 device=11:00:00
  module for mobile broadband | Modem | 2C7C:0125 |  |  | ff:ff:ff ff:00:00 ff:00:00 01:01:00
  MBIM module | Modem | 1199:9079 |  |  | 02:0e:00 0a:00:02 ff:ff:ff
  authenticator | Security Key | 1050:0407 |  |  | 03:01:01 03:00:00 0b:00:00
  authenticator by its report descriptor | Security Key | 2222:0003 |  |  | 03:00:00 report=f1d0:1
  smart card reader | Smart Card | 076B:3031 |  |  | 0b:00:00
  phone | Phone | 18D1:4EE1 |  | Pixel | 06:01:01
  phone with a debug bridge | Phone | 18D1:4EE7 |  | Pixel | ff:42:01
  phone whose second configuration has audio | Phone | 05AC:12A8 |  |  | 06:01:01 second=01:01:00+01:02:00+03:00:00
  multi-function printer | Printer | 04B8:1142 |  |  | ff:ff:ff 07:01:02 08:06:50
  camera | Imaging | 04A9:31C0 |  |  | 06:01:01
  web cam | Video | 046D:082D |  |  | 0e:01:00 0e:02:00 01:01:00 01:02:00
  headset | Audio | 0B0E:0422 |  |  | 01:01:00 01:02:00 03:00:00
  memory stick | Mass Storage | 0781:5583 |  |  | 08:06:50 serial=4C530001
  network adapter | Network | 0BDA:8153 |  |  | ff:ff:00 serial=001000001 second=02:06:00+0a:00:00
  serial adapter | Communication | 0403:6001 |  |  | ff:ff:ff
  hub | Hub | 05E3:0610 |  |  | 09:00:00 device=09:00:01
  bridge of a Mac | Keyboard | 05AC:8233 |  |  | 03:00:00 03:01:01 02:0d:00 0a:00:01 removable=fixed
  controller of a server | Keyboard | 0624:0249 | Avocent | Keyboard/Mouse Function | 03:01:01 03:01:02 removable=fixed
  // Keyboards that look like tools at first sight.
  virtual machine at high speed | Keyboard | 0627:0001 | QEMU | QEMU USB Keyboard | 03:01:01<8/7 speed=480 serial=68284-0000:00:04.0-1
  virtual machine at super speed | Keyboard | 0627:0001 |  | QEMU USB Keyboard | 03:01:01<8/7 usb=0300 packet=9 speed=5000
  mouse at 8 kHz | Mouse | 1532:00A6 |  | Razer Viper 8KHz | 03:01:02 03:01:01<16/1 03:01:01<64/1 speed=480
  keyboard of a laptop | Keyboard | 0B05:19B6 |  | N-KEY Device | 03:01:01<8/1 03:00:00<64/1 03:00:00<64/1 self=yes speed=12
  keyboard of a laptop by its port | Keyboard | 048D:C102 |  |  | 03:01:01<8/1 removable=fixed self=yes wake=no
  keyboard with a light, output at the boot interface | Keyboard | 2516:0051 |  |  | 03:01:01<8/1>8/1 03:00:00<64/1
  split keyboard with shared ids | Keyboard | 16C0:27DB | ZMK Project | Sofle | 03:00:00<16/1 self=yes wake=yes report=keys
  split keyboard with a serial port | Keyboard | 1D50:615E | ZMK Project | Lily58 | 02:02:00 0a:00:00 03:00:00<16/1 device=ef:02:01 self=yes wake=yes report=keys
  keypad with a program disk | Keyboard | 239A:8108 | Adafruit | Macropad RP2040 | 02:02:00 0a:00:00 08:06:50 03:00:00<64/8>64/8 device=ef:02:01 wake=no report=keys
  password keeper on the ids of a board | Keyboard | 16C0:0486 | CRYPTOTRUST | ONLYKEY | 03:01:01<8/10 03:00:00<64/1 03:00:00<64/1 self=yes wake=no
  badge reader that types | Keyboard | FFFF:0035 |  | IC Reader | 03:01:01<8/10 wake=no
  wireless keyboard and mouse | Keyboard | 062A:4101 |  |  | 03:01:01<8/10 03:01:02
  // Devices that claim a keyboard protocol but cannot type.
  cooler with a keyboard protocol | HID | 1B1C:0C1A |  | Cooler | 03:00:01 self=yes report=ff00:1
  lights with a boot keyboard interface | Keyboard | 048D:8297 |  | RGB controller | 03:01:01<8/10 wake=no
  mouse with a keyboard protocol | Mouse | 30FA:1030 |  | Gaming Mouse | 03:01:02 03:00:01
  web cam with a button | Video | 045E:0772 |  |  | 0e:01:00 0e:02:00 01:01:00 01:02:00 03:01:01<8/10 device=ef:02:01 wake=no speed=480
  // Kinds.
  mouse with media keys | Mouse | 046A:0107 |  | Optical Mouse | 03:01:02 03:01:01<8/10 report=mouse+0c:1
  modem with a debug bridge | Modem | 1BC7:1050 | Android | FN980 | ff:ff:30 ff:42:01 ff:ff:40 ff:ff:40 ff:ff:50
  modem of an unlisted vendor | Modem | 2949:8241 |  | Module | ff:00:00 ff:00:00 ff:42:01 ff:00:00 ff:ff:ff
  modem as network adapter | Modem | 2DF3:9D01 |  | Mobile Composite Device | e0:01:03 0a:00:00 ff:00:00 ff:00:00 ff:00:00 device=ef:02:01
  modem with a disk first | Modem | 1BC7:1057 |  |  | 08:06:50 second=ff:ff:30+ff:42:01+ff:ff:40+ff:ff:50
  Bluetooth of a laptop | Wireless | 413C:8143 |  | DW1550 Bluetooth 4.0 | ff:01:01 ff:01:01 ff:ff:ff fe:01:01
  modem of a laptop | Modem | 413C:81B6 |  | DW5811e | ff:ff:ff ff:ff:ff 02:0e:00 0a:00:02
  game controller with sound | Game Controller | 2E24:0652 |  | Wired Controller | 01:01:00 01:02:00 03:00:00<64/1 report=01:5
  game controller of the XInput kind | Game Controller | 146B:0604 |  | Compact | ff:5d:01
  fingerprint reader of class 00 | Biometric | 138A:0097 |  |  | 00:00:00
  synthesizer | Audio | 0582:0159 |  | UA-22 | ff:02:02 ff:02:01 ff:03:00 device=ff:00:00
  piano | Audio | 0499:160F |  | P-125 | ff:00:ff
  bus adapter | Communication | 0C72:0012 |  | PCAN-USB FD | ff:00:00
  serial adapter, a clone | Communication | 9986:7523 |  |  | ff:01:02
  radio for sensors | Wireless | 20B7:1540 |  | AT86RF230 802.15.4 dongle | ff:00:00
  positioning module | Communication | 1199:B001 |  | GNSS receiver | 00:00:00
  piano with a class | Audio | 09E8:007C |  | MPK mini | 01:01:00 01:03:00`,
)

/** Attack tools, as built from public source code. */
export const tools: readonly Fixture[] = devices(
  true,
  `
  // Own ids and names.
  Rubber Ducky | Keyboard | 03EB:2401 |  |  | 03:01:01<8/2
  Rubber Ducky with storage | Keyboard | 03EB:2422 |  |  | 03:01:01<8/2 08:06:50
  Ducky by its own name | Keyboard | 05AC:0250 | HAK5 | DUCKY | 03:01:01<8/10
  Ducky as DeLuxe | Keyboard | 046D:C312 | Logitech | DeLuxe250 | 03:01:01<8/10
  Ducky with joke ids | Keyboard | D3AD:B33F |  |  | 03:01:01<8/10
  Bash Bunny | Keyboard | F000:FF01 |  |  | gadget
  Bash Bunny as disk | Mass Storage | F000:FF10 |  |  | 08:06:50
  Bash Bunny as network | Network | F000:FF12 |  |  | 02:02:ff 0a:00:00
  O.MG cable | Keyboard | D3C0:D34D |  |  | 03:01:01<8/1
  O.MG plug as mouse | Mouse | D3C0:D34D |  |  | 03:01:02
  P4wnP1 | Network | 1D6B:1347 | MaMe82 |  | 02:02:ff 0a:00:00
  P4wnP1, first version | Network | 1D6B:0137 |  |  | 02:02:ff 0a:00:00 03:01:01
  USaBUSe | Keyboard | 1209:6667 |  |  | gadget 03:00:00
  PoisonTap | Network | 1D6B:0104 | Samy Kamkar | PoisonTap | 02:02:ff 0a:00:00
  LAN Turtle | Network | 0BDA:8152 |  |  | ff:ff:00 serial=00E04C3659E9
  Facedancer | Mass Storage | 610B:4653 |  |  | 08:06:50
  Proxmark3 | Communication | 9AC4:4B8F |  |  | 02:02:01 0a:00:00
  HackRF | Unknown | 1D50:6089 |  |  | ff:ff:ff
  Crazyradio | Unknown | 1915:7777 |  |  | ff:00:00
  nRF24 research firmware | Unknown | 1915:0102 | RFStorm |  | ff:00:00
  USB Nova | Keyboard | 16D0:11A4 |  |  | 03:01:01<8/1
  Digispark | Keyboard | 16C0:27DB | digistump.com | DigiKey | vusb
  Flipper | Keyboard | 046D:C529 |  |  | flipper
  Flipper as authenticator | Security Key | 0483:5741 | Flipper Devices Inc. | U2F Token | 03:00:00<64/5>64/5
  Flipper as serial port | Communication | 0483:5740 | Flipper Devices Inc. | Flipper Boris | 02:02:01 0a:00:00
  MalDuino | Keyboard | 1B4F:9206 | SparkFun | SparkFun Pro Micro | avr
  Cactus WHID | Keyboard | 1B4F:9208 | SparkFun | LilyPad USB | avr
  Leonardo | Keyboard | 2341:8036 | Arduino LLC | Arduino Leonardo | avr
  Teensy | Keyboard | 16C0:0482 | Teensyduino | Keyboard/Mouse/Joystick | teensy
  Pico with CircuitPython | Keyboard | 239A:80F4 | Raspberry Pi | Pico | circuitPython
  Pico with TinyUSB | Keyboard | CAFE:4004 | TinyUSB | TinyUSB Device | 03:00:00<16/5 speed=12 wake=yes report=keys
  ESP32-S2 | Keyboard | 303A:0002 | Espressif Systems | ESP32-S2 | esp32
  XIAO | Keyboard | 2886:802F | Seeed Studio | XIAO | avr
  USB Army Knife | Keyboard | 303A:1001 |  | USB Army Knife | esp32
  LUFA keyboard | Keyboard | 03EB:2042 | Dean Camera | LUFA Keyboard Demo | 03:01:01<8/5>8/5
  V-USB keyboard | Keyboard | 16C0:27DB | obdev.at | HIDKeys | vusb
  Maple | Keyboard | 1EAF:0024 | LeafLabs | Maple | 03:00:00<64/10 report=keys
  WiFi Duck | Keyboard | 05AC:021E | Apple | SuperWiFiDuck | 03:01:01<64/10
  NetHunter | Keyboard | 04E8:7021 | SAMSUNG | NetHunter Gadget | gadget
  // Switches with a network.
  PiKVM | Keyboard | 1D6B:0104 | PiKVM | PiKVM Composite Device | gadget 03:00:02 08:06:50
  PiKVM with its own ids | Keyboard | 1209:EDA1 |  |  | gadget 03:00:02
  JetKVM | Keyboard | 1D6B:0104 | JetKVM | USB Emulation Device | gadget 03:00:02 08:06:50
  JetKVM as receiver | Keyboard | 046D:C52B | Logitech (x64) | Logitech USB Input Device | gadget 03:00:02 08:06:50 serial=3&1a2b3c4&0&1
  JetKVM as Dell | Keyboard | 413C:2011 | Dell Inc. | Multimedia Pro Keyboard | gadget 03:00:02 08:06:50 serial=3&1a2b3c4&0&1
  TinyPilot | Keyboard | 1D6B:0104 | tinypilot | Multifunction USB Device | gadget 03:00:00 serial=6b65796d696d6570690
  BLiKVM | Keyboard | 1D6B:0106 | smart-kvm |  | gadget 03:00:00 08:06:50
  NanoKVM | Keyboard | 3346:1009 | sipeed | NanoKVM | 03:00:01 03:00:02 08:06:50
  Comet | Keyboard | 38EB:0104 | Glinet | Glinet Composite Device | gadget 03:00:02
  CH9329 | Keyboard | 1A86:E129 |  |  | 03:01:01<8/10 03:00:02
  // The ids and names of ordinary keyboards.
  Rubber Ducky as Logitech | Keyboard | 046D:C31C | Logitech | USB Keyboard | 03:01:01<64/1>64/1 wake=no
  Bash Bunny as Dell | Keyboard | 413C:2113 | Dell | Dell KB216 Wired Keyboard | gadget
  Bash Bunny as Dell with a disk | Keyboard | 413C:2113 | Dell | Dell KB216 Wired Keyboard | gadget 08:06:50
  Bash Bunny as Apple with a network | Keyboard | 05AC:024F | Apple Inc. | Aluminum Keyboard | gadget 02:02:ff 0a:00:00
  PiKVM as receiver, able to wake | Keyboard | 046D:C52B | Logitech | USB Receiver | gadget 03:00:02 wake=yes
  PiKVM as receiver, with a disk | Keyboard | 046D:C52B | Logitech | USB Receiver | gadget 03:00:02 08:06:50 wake=yes
  Flipper as Logitech | Keyboard | 046D:C31C | Logitech | USB Keyboard | flipper
  Flipper as Apple | Keyboard | 05AC:024F | Apple Inc. | Aluminum Keyboard | flipper
  Parasite as Logitech | Keyboard | 046D:C31C | Logitech | USB Keyboard | esp32
  Parasite as mouse | Mouse | 046D:C077 |  | USB Optical Mouse | 03:00:00<64/1>64/1 03:00:00<64/1/82 speed=12 device=ef:02:01 self=yes wake=no power=500 report=mouse+keys
  Evil Crow Wind as Dell | Keyboard | 413C:2113 | Dell | Dell KB216 Wired Keyboard | esp32
  ESP-BadUSB as Lenovo | Keyboard | 17EF:6099 | Lenovo | USB Keyboard | esp32
  Evil Crow Pro as Apple | Keyboard | 05AC:024F | Apple Inc. | Aluminum Keyboard | rp2040
  Pico as Logitech | Keyboard | 046D:C31C | Logitech | USB Keyboard | circuitPython
  Leonardo as Dell | Keyboard | 413C:2113 | Dell | Dell KB216 Wired Keyboard | avr
  Teensy as Apple | Keyboard | 05AC:024F | Apple Inc. | Aluminum Keyboard | teensy
  V-USB as Logitech | Keyboard | 046D:C31C | Logitech | USB Keyboard | vusb
  phone as keyboard | Keyboard | 04E8:6860 | SAMSUNG | SAMSUNG_Android | gadget
  phone as keyboard with a debug bridge | Keyboard | 18D1:4EE7 |  |  | 03:01:01<8/10 ff:42:01
  raw-gadget keyboard | Keyboard | 046D:C31C | Logitech | USB Keyboard | 03:01:01<8/5 speed=480 self=yes wake=no
  CH552 | Keyboard | 1209:C55D |  |  | 03:01:01<8/10>8/10 self=yes wake=no
  keyboard with a disk | Keyboard | 1234:5678 |  |  | 03:01:01<8/10 08:06:50
  keyboard with a network | Keyboard | 1234:5678 |  |  | 03:01:01<8/10 02:0d:00 0a:00:01
  mouse with a disk | Mass Storage | 046D:C077 |  | USB Optical Mouse | 03:01:02 08:06:50
  receiver that stores | Keyboard | 046D:C52B | Logitech | USB Receiver | 03:01:01 03:01:02 08:06:50
  hub that types | Hub | 05E3:0608 |  |  | 09:00:00 03:01:01 device=09:00:00
  // Nothing in the descriptors shows these.
  USB Nova as Cherry | Keyboard | 046A:0023 |  | CHERRY Keyboard | 03:01:01<8/10 03:00:00
  CH9329 as Logitech | Keyboard | 046D:C31C | Logitech | USB Keyboard | 03:01:01<8/10 03:00:00
  Key Croc, a clone of the keyboard behind it | Keyboard | 413C:2113 | Dell | Dell KB216 Wired Keyboard | 03:01:01<8/24 03:00:00<4/24 speed=1.5
  STM32 as keyboard | Keyboard | 0483:572B | STMicroelectronics | HID Keyboard | 03:01:01<8/10
  Linux board as network adapter | Network | 0525:A4A2 |  |  | 02:02:ff 0a:00:00`,
)
