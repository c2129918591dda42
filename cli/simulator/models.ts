/**
 * Devices that stand on desks: ids and names as in usb.ids, descriptors as those devices are built. Facts of public
 * descriptor dumps and of knowledge/; the strings are what the devices say themselves.
 */
import type { InterfaceSpec } from '@portcullis/domain/testing'

/** How a device numbers itself: not at all, or by a pattern where each `#` is a hex digit. */
type SerialPattern = string | null

/** One product. Every entry of `revisions` (bcdDevice) is another design in the fleet. */
export interface Model {
  vid: string
  pid: string
  manufacturer?: string
  product?: string
  /** bcdDevice, commonest first. */
  revisions: readonly string[]
  serial: SerialPattern
  speedMbps: number
  maxPowerMa: number
  bcdUsb?: number
  deviceCode?: string
  interfaces: readonly InterfaceSpec[]
  moreConfigurations?: readonly (readonly InterfaceSpec[])[]
  /** String of the configuration by revision; Logitech puts the firmware name there. */
  configurations?: Readonly<Record<string, string>>
}

const mouse = ['03:01:02'] as const
const keyboard = ['03:01:01', '03:00:00'] as const
const bluetoothInterfaces = ['e0:01:01', 'e0:01:01'] as const
const camera: readonly InterfaceSpec[] = [
  '0e:01:00',
  { code: '0e:02:00', number: 1, endpoints: [] },
  { code: '0e:02:00', number: 1, alternate: 1 },
]
const headset: readonly InterfaceSpec[] = ['01:01:00', '01:02:00', '01:02:00', '03:00:00']
const storage = ['08:06:50'] as const

const wired = (
  vid: string,
  pid: string,
  manufacturer: string,
  product: string,
  interfaces: readonly InterfaceSpec[],
  revisions: readonly string[],
): Model => ({
  vid,
  pid,
  manufacturer,
  product,
  revisions,
  serial: null,
  speedMbps: 1.5,
  maxPowerMa: 100,
  interfaces,
})

const stick = (
  vid: string,
  pid: string,
  manufacturer: string,
  product: string,
  serial: string,
  revisions: readonly string[],
  speedMbps = 480,
): Model => ({
  vid,
  pid,
  manufacturer,
  product,
  revisions,
  serial,
  speedMbps,
  bcdUsb: speedMbps > 480 ? 0x0300 : 0x0200,
  maxPowerMa: 200,
  interfaces: storage,
})

const hubOf = (
  vid: string,
  pid: string,
  manufacturer: string,
  product: string,
  revisions: readonly string[],
): Model => ({
  vid,
  pid,
  manufacturer,
  product,
  revisions,
  serial: null,
  speedMbps: 480,
  maxPowerMa: 0,
  bcdUsb: 0x0210,
  deviceCode: '09:00:01',
  interfaces: [
    { code: '09:00:01', number: 0 },
    { code: '09:00:02', number: 0, alternate: 1 },
  ],
})

/** Roles a host fills with devices. */
export const models = {
  keyboard: [
    wired('413C', '2113', 'Dell', 'Dell KB216 Wired Keyboard', keyboard, ['0110', '0111']),
    wired('413C', '2107', 'DELL', 'Dell USB Entry Keyboard', ['03:01:01'], ['0115']),
    wired('413C', '2003', 'Dell', 'Dell USB Keyboard', ['03:01:01'], ['0301']),
    wired('046D', 'C31C', 'Logitech', 'USB Keyboard', keyboard, ['6402', '4920']),
    wired('045E', '0750', 'Microsoft', 'Wired Keyboard 600', keyboard, ['0163']),
    wired('03F0', '2B4A', 'HP, Inc', 'HP Business Slim Keyboard', keyboard, ['0116']),
    wired('03F0', '034A', 'Chicony', 'HP Elite USB Keyboard', keyboard, ['0211']),
    wired('05AC', '024F', 'Apple Inc.', 'Apple Keyboard', keyboard, ['0074']),
  ],
  mouse: [
    wired('413C', '301A', 'PixArt', 'Dell MS116 USB Optical Mouse', mouse, ['0100']),
    wired('413C', '3012', 'Dell', 'Dell USB Optical Mouse', mouse, ['4320']),
    wired('046D', 'C077', 'Logitech', 'USB Optical Mouse', mouse, ['7200', '6700']),
    wired('046D', 'C05A', 'Logitech', 'USB Optical Mouse', mouse, ['5400']),
    wired('03F0', '134A', 'PixArt', 'HP USB Optical Mouse', mouse, ['0100']),
    wired('17EF', '608D', 'PixArt', 'Lenovo USB Optical Mouse', mouse, ['0100']),
    wired('0461', '4E22', 'PixArt', 'USB Optical Mouse', mouse, ['0200']),
  ],
  receiver: [
    {
      ...wired('046D', 'C534', 'Logitech', 'USB Receiver', ['03:01:01', '03:01:02'], ['2901']),
      speedMbps: 12,
      maxPowerMa: 98,
      configurations: { '2901': 'RQR29.01_B0029' },
    },
    {
      ...wired('046D', 'C548', 'Logitech', 'USB Receiver', ['03:01:02', '03:01:01', '03:00:00'], ['0503', '0501']),
      speedMbps: 12,
      maxPowerMa: 98,
      configurations: { '0503': 'MPR05.03_B0010', '0501': 'MPR05.01_B0008' },
    },
    {
      ...wired(
        '045E',
        '07B2',
        'Microsoft',
        'Microsoft® Nano Transceiver v1.0',
        ['03:01:01', '03:01:02', '03:00:00'],
        ['0704'],
      ),
      speedMbps: 12,
    },
  ],
  /** Receivers with old firmware beside those whose maker closed the holes. */
  unifying: [
    {
      ...wired(
        '046D',
        'C52B',
        'Logitech',
        'USB Receiver',
        ['03:01:01', '03:01:02', '03:00:00'],
        ['1211', '2411', '1210', '1207', '1203', '2407'],
      ),
      speedMbps: 12,
      maxPowerMa: 98,
      configurations: {
        '1211': 'RQR12.11_B0032',
        '2411': 'RQR24.11_B0036',
        '1210': 'RQR12.10_B0032',
        '1207': 'RQR12.07_B0029',
        '1203': 'RQR12.03_B0025',
        '2407': 'RQR24.07_B0030',
      },
    },
  ],
  hub: [
    hubOf('0BDA', '5411', 'Generic', '4-Port USB 2.0 Hub', ['0104', '0101']),
    hubOf('05E3', '0610', 'GenesysLogic', 'USB2.1 Hub', ['9304', '0655', '9226']),
    hubOf('05E3', '0608', '', 'USB2.0 Hub', ['8536', '6090']),
    hubOf('2109', '2813', 'VIA Labs, Inc.', 'USB2.0 Hub', ['0221', '9011']),
    hubOf('0424', '2514', '', '', ['0BB3']),
    hubOf('1A40', '0101', '', 'USB 2.0 Hub', ['0111']),
    hubOf('17EF', '1010', 'VIA Labs, Inc.', 'USB2.0 Hub', ['9091']),
  ],
  internalCamera: [
    {
      ...wired('04F2', 'B604', 'Chicony Electronics Co.,Ltd.', 'Integrated Camera (1280x720@30)', camera, ['2747']),
      serial: '0001',
      speedMbps: 480,
      maxPowerMa: 500,
      deviceCode: 'ef:02:01',
    },
    {
      ...wired('5986', '2113', 'SunplusIT Inc', 'Integrated Camera', camera, ['6010']),
      speedMbps: 480,
      maxPowerMa: 500,
      deviceCode: 'ef:02:01',
    },
    {
      ...wired('064E', 'E263', 'SuYin', 'HP TrueVision HD', camera, ['2208']),
      serial: '200901010001',
      speedMbps: 480,
      maxPowerMa: 500,
      deviceCode: 'ef:02:01',
    },
  ],
  bluetooth: [
    {
      vid: '8087',
      pid: '0029',
      revisions: ['0001'],
      serial: null,
      speedMbps: 12,
      maxPowerMa: 100,
      deviceCode: 'e0:01:01',
      interfaces: bluetoothInterfaces,
    },
    {
      vid: '8087',
      pid: '0AAA',
      revisions: ['0002'],
      serial: null,
      speedMbps: 12,
      maxPowerMa: 100,
      deviceCode: 'e0:01:01',
      interfaces: bluetoothInterfaces,
    },
    {
      vid: '8087',
      pid: '0A2B',
      revisions: ['0010'],
      serial: null,
      speedMbps: 12,
      maxPowerMa: 100,
      deviceCode: 'e0:01:01',
      interfaces: bluetoothInterfaces,
    },
    {
      vid: '0CF3',
      pid: 'E300',
      revisions: ['0001'],
      serial: null,
      speedMbps: 12,
      maxPowerMa: 100,
      deviceCode: 'e0:01:01',
      interfaces: bluetoothInterfaces,
    },
  ],
  fingerprint: [
    {
      vid: '06CB',
      pid: '00BD',
      revisions: ['0000'],
      serial: '############',
      speedMbps: 12,
      maxPowerMa: 100,
      deviceCode: 'ff:10:ff',
      interfaces: ['ff:00:00'],
    },
    {
      vid: '27C6',
      pid: '5395',
      manufacturer: 'Goodix',
      product: 'FingerPrint',
      revisions: ['0100'],
      serial: null,
      speedMbps: 12,
      maxPowerMa: 100,
      deviceCode: 'ef:02:01',
      interfaces: ['02:02:00', '0a:00:00'],
    },
  ],
  camera: [
    {
      vid: '046D',
      pid: '082D',
      product: 'HD Pro Webcam C920',
      revisions: ['0011'],
      serial: '########',
      speedMbps: 480,
      maxPowerMa: 500,
      deviceCode: 'ef:02:01',
      interfaces: [...camera, { code: '01:01:00', number: 2 }, { code: '01:02:00', number: 3 }],
    },
    {
      vid: '046D',
      pid: '0825',
      revisions: ['0012'],
      serial: '########',
      speedMbps: 480,
      maxPowerMa: 500,
      deviceCode: 'ef:02:01',
      interfaces: [...camera, { code: '01:01:00', number: 2 }, { code: '01:02:00', number: 3 }],
    },
    {
      vid: '046D',
      pid: '085E',
      manufacturer: 'Logitech',
      product: 'Logitech BRIO',
      revisions: ['0016', '0317'],
      serial: '########',
      speedMbps: 5000,
      maxPowerMa: 800,
      bcdUsb: 0x0310,
      deviceCode: 'ef:02:01',
      interfaces: [
        ...camera,
        { code: '01:01:00', number: 2 },
        { code: '01:02:00', number: 3 },
        { code: '03:00:00', number: 4 },
      ],
    },
  ],
  headset: [
    { ...wired('046D', '0A44', 'Logitech', 'H390 headset with microphone', headset, ['0013']), speedMbps: 12 },
    {
      ...wired('047F', 'C056', 'Plantronics', 'Plantronics Blackwire 3220 Series', headset, ['0215']),
      speedMbps: 12,
      serial: '################################',
    },
    {
      ...wired('0B0E', '0422', 'Jabra', 'Jabra SPEAK 510 USB', headset, ['0214', '0210']),
      speedMbps: 12,
      serial: '50C2ED######x011200',
    },
    { ...wired('1395', '0025', 'Sennheiser', 'Sennheiser USB headset', headset, ['0100']), speedMbps: 12 },
    { ...wired('0D8C', '0014', 'C-Media Electronics Inc.', 'USB Audio Device', headset, ['0100']), speedMbps: 12 },
  ],
  storage: [
    stick('0781', '5581', 'SanDisk', 'Ultra', '4C5300012306########', ['0100'], 5000),
    stick('0781', '5567', 'SanDisk', 'Cruzer Blade', '4C5300000204########', ['0100', '0127']),
    stick('0781', '5583', 'SanDisk', 'Ultra Fit', '4C5310010110########', ['0100'], 5000),
    stick('0951', '1666', 'Kingston', 'DataTraveler 3.0', '60A44C413D########F###', ['0110', '0001'], 5000),
    stick('0951', '1665', 'Kingston', 'DataTraveler 2.0', '001A92053B6A########', ['0100']),
    stick('0930', '6545', 'Kingston', 'DataTraveler 2.0', 'C860008862D8########', ['0100']),
    stick('13FE', '4300', 'PNY', 'USB 2.0 FD', '070B3########', ['0100']),
    stick('154B', '0078', 'PNY', 'USB 2.0 FD', 'AD9E###############', ['0100']),
    stick('090C', '1000', 'General', 'USB Flash Disk', '0374######', ['1100']),
    // The cheap ones all carry the same number.
    stick('058F', '6387', 'Generic', 'Mass Storage', 'CCYYMMDDHHmmSS', ['0102', '0100']),
  ],
  disk: [
    stick('1058', '25A2', 'Western Digital', 'Elements 25A2', '575835314########', ['1014'], 5000),
    stick('0BC2', 'AB24', 'Seagate', 'BUP Portable', 'NA8#####', ['0100'], 5000),
    {
      ...stick('174C', '55AA', 'ASMedia', 'ASM1153E', '#############', ['0100'], 5000),
      interfaces: ['08:06:50', { code: '08:06:62', number: 0, alternate: 1 }],
    },
    {
      ...stick('152D', '0578', 'JMicron', 'USB to ATA/ATAPI Bridge', '0123456789ABCDEF', ['3201', '0508'], 5000),
      interfaces: ['08:06:50', { code: '08:06:62', number: 0, alternate: 1 }],
    },
  ],
  phone: [
    {
      vid: '05AC',
      pid: '12A8',
      manufacturer: 'Apple Inc.',
      product: 'iPhone',
      revisions: ['1402', '1503', '1601'],
      serial: '00008110-00##########',
      speedMbps: 480,
      maxPowerMa: 500,
      interfaces: ['06:01:01'],
      moreConfigurations: [['06:01:01', 'ff:fe:02']],
    },
    {
      vid: '04E8',
      pid: '6860',
      manufacturer: 'SAMSUNG',
      product: 'SAMSUNG_Android',
      revisions: ['0400', '0504'],
      serial: 'R58N#######',
      speedMbps: 480,
      maxPowerMa: 500,
      interfaces: ['06:01:01', '02:02:01', '0a:00:00'],
    },
    {
      vid: '18D1',
      pid: '4EE1',
      manufacturer: 'Google',
      product: 'Pixel 8',
      revisions: ['0440', '0515'],
      serial: '3########00###',
      speedMbps: 480,
      maxPowerMa: 500,
      interfaces: ['06:01:01'],
    },
    {
      vid: '2717',
      pid: 'FF40',
      manufacturer: 'Xiaomi',
      product: 'Redmi Note 12',
      revisions: ['0404'],
      serial: '########',
      speedMbps: 480,
      maxPowerMa: 500,
      interfaces: ['06:01:01'],
    },
  ],
  token: [
    {
      vid: '1050',
      pid: '0407',
      manufacturer: 'Yubico',
      product: 'YubiKey OTP+FIDO+CCID',
      revisions: ['0574', '0543', '0527'],
      serial: null,
      speedMbps: 12,
      maxPowerMa: 30,
      interfaces: ['03:01:01', '03:00:00', '0b:00:00'],
    },
    {
      vid: '1050',
      pid: '0120',
      manufacturer: 'Yubico',
      product: 'Security Key by Yubico',
      revisions: ['0574'],
      serial: null,
      speedMbps: 12,
      maxPowerMa: 30,
      interfaces: ['03:00:00'],
    },
  ],
  smartCard: [
    { ...wired('08E6', '3437', 'Gemplus', 'USB SmartCard Reader', ['0b:00:00'], ['0200']), speedMbps: 12 },
    { ...wired('076B', '3031', 'HID Global', 'OMNIKEY 3x21 Smart Card Reader', ['0b:00:00'], ['0100']), speedMbps: 12 },
    {
      ...wired('04E6', '5116', 'SCM Microsystems Inc.', 'SCR3310 v2.0 USB SC Reader', ['0b:00:00'], ['0622']),
      speedMbps: 12,
      serial: '5312########',
    },
    {
      ...wired('0C4B', '0500', 'REINER SCT', 'cyberJack RFID standard', ['0b:00:00'], ['0100']),
      speedMbps: 12,
      serial: '##########',
    },
  ],
  network: [
    {
      vid: '0BDA',
      pid: '8153',
      manufacturer: 'Realtek',
      product: 'USB 10/100/1000 LAN',
      revisions: ['3000', '3100'],
      serial: '00#######',
      speedMbps: 5000,
      bcdUsb: 0x0300,
      maxPowerMa: 288,
      interfaces: ['ff:ff:00'],
      moreConfigurations: [['02:06:00', '0a:00:00']],
    },
    {
      vid: '0BDA',
      pid: '8152',
      manufacturer: 'Realtek',
      product: 'USB 10/100 LAN',
      revisions: ['2000'],
      serial: '00E04C######',
      speedMbps: 480,
      maxPowerMa: 180,
      interfaces: ['ff:ff:00'],
      moreConfigurations: [['02:06:00', '0a:00:00']],
    },
  ],
  printer: [
    {
      vid: '0A5F',
      pid: '00D1',
      manufacturer: 'Zebra Technologies',
      product: 'ZTC GC420d (EPL)',
      revisions: ['0100'],
      serial: '54J#########',
      speedMbps: 480,
      maxPowerMa: 2,
      interfaces: ['07:01:02'],
    },
    {
      vid: '0519',
      pid: '0003',
      manufacturer: 'Star',
      product: 'TSP143 (STR_T-001)',
      revisions: ['0200'],
      serial: '##########',
      speedMbps: 12,
      maxPowerMa: 2,
      interfaces: ['07:01:02'],
    },
    {
      vid: '04B8',
      pid: '0202',
      manufacturer: 'EPSON',
      product: 'TM-T88V',
      revisions: ['0100'],
      serial: 'J5MF######',
      speedMbps: 12,
      maxPowerMa: 2,
      interfaces: ['07:01:02'],
    },
  ],
  scanner: [
    {
      ...wired(
        '0C2E',
        '0B6A',
        'Honeywell Imaging and Mobility',
        'Vuquest 3310 Area-Imaging Scanner',
        ['03:01:01'],
        ['0100'],
      ),
      speedMbps: 12,
      maxPowerMa: 400,
      serial: '1#########',
    },
    {
      ...wired(
        '05E0',
        '1200',
        'Symbol Technologies, Inc, 2008',
        'Symbol Bar Code Scanner',
        ['03:01:01'],
        ['0120', '0110'],
      ),
      speedMbps: 12,
      maxPowerMa: 500,
    },
  ],
  serial: [
    {
      vid: '0403',
      pid: '6001',
      manufacturer: 'FTDI',
      product: 'FT232R USB UART',
      revisions: ['0600'],
      serial: 'A######',
      speedMbps: 12,
      maxPowerMa: 90,
      interfaces: ['ff:ff:ff'],
    },
    {
      vid: '10C4',
      pid: 'EA60',
      manufacturer: 'Silicon Labs',
      product: 'CP2102 USB to UART Bridge Controller',
      revisions: ['0100'],
      serial: '0001',
      speedMbps: 12,
      maxPowerMa: 100,
      interfaces: ['ff:00:00'],
    },
    {
      vid: '067B',
      pid: '2303',
      manufacturer: 'Prolific Technology Inc.',
      product: 'USB-Serial Controller',
      revisions: ['0300', '0400'],
      serial: null,
      speedMbps: 12,
      maxPowerMa: 100,
      interfaces: ['ff:00:00'],
    },
    {
      vid: '1A86',
      pid: '7523',
      product: 'USB Serial',
      revisions: ['0264', '0263'],
      serial: null,
      speedMbps: 12,
      maxPowerMa: 98,
      interfaces: ['ff:01:02'],
    },
  ],
  board: [
    {
      vid: '2341',
      pid: '0043',
      manufacturer: 'Arduino (www.arduino.cc)',
      revisions: ['0001'],
      serial: '7543##########0F1F1#',
      speedMbps: 12,
      maxPowerMa: 100,
      deviceCode: '02:00:00',
      interfaces: ['02:02:01', '0a:00:00'],
    },
    {
      vid: '0483',
      pid: '374B',
      manufacturer: 'STMicroelectronics',
      product: 'STM32 STLink',
      revisions: ['0100'],
      serial: '0667FF##################',
      speedMbps: 12,
      maxPowerMa: 300,
      deviceCode: 'ef:02:01',
      interfaces: ['ff:ff:ff', '08:06:50', '02:02:01', '0a:00:00'],
    },
  ],
  ups: [
    {
      ...wired(
        '051D',
        '0002',
        'American Power Conversion',
        'Back-UPS ES 700G FW:871.O4 .I USB FW:O4',
        ['03:00:00'],
        ['0106'],
      ),
      serial: '5B########## ',
    },
    { ...wired('0764', '0501', 'CPS', 'CP1500PFCLCD', ['03:00:00'], ['0200', '0001']), serial: '000000000000' },
  ],
} as const satisfies Record<string, readonly Model[]>

export type Role = keyof typeof models

/** What does not belong on a desk. */
export const attackTools: readonly Model[] = [
  {
    vid: '03EB',
    pid: '2401',
    manufacturer: 'ATMEL',
    product: 'HID Keyboard',
    revisions: ['0100'],
    serial: null,
    speedMbps: 12,
    maxPowerMa: 100,
    interfaces: ['03:01:01'],
  },
  {
    vid: '03EB',
    pid: '2422',
    manufacturer: 'ATMEL',
    product: 'ASF HID Keyboard',
    revisions: ['0100'],
    serial: '123456789ABC',
    speedMbps: 480,
    maxPowerMa: 100,
    interfaces: ['08:06:50', '03:01:01'],
  },
  {
    vid: '046D',
    pid: 'C529',
    revisions: ['0100'],
    serial: null,
    speedMbps: 12,
    maxPowerMa: 500,
    interfaces: [{ code: '03:01:01', endpoints: [{ address: 0x81, maxPacketSize: 16, interval: 2 }] }],
  },
  {
    vid: 'F000',
    pid: 'FF02',
    manufacturer: 'Hak5',
    product: 'Bash Bunny',
    revisions: ['0333'],
    serial: 'ch000001',
    speedMbps: 480,
    maxPowerMa: 500,
    interfaces: ['03:01:01', '08:06:50'],
  },
  {
    vid: '1D6B',
    pid: '1347',
    manufacturer: 'MaMe82',
    product: 'P4wnP1 by MaMe82',
    revisions: ['0100'],
    serial: 'deadbeef1337',
    speedMbps: 480,
    maxPowerMa: 500,
    deviceCode: 'ef:02:01',
    interfaces: ['02:06:00', '0a:00:00', '03:01:01'],
  },
]
