/**
 * Simulated devices. IDs and names are from usb.ids; descriptors are from public dumps and knowledge/. The strings are
 * those of the real devices.
 */
import { type InterfaceSpec, interfacesOf } from '@portcullis/domain/testing'

/** One product. Each entry of `revisions` (bcdDevice) gives another fingerprint. */
export interface Model {
  vid: string
  pid: string
  manufacturer: string
  product: string
  /** bcdDevice, most common first. */
  revisions: readonly string[]
  /** Serial number: none, or a pattern in which each `#` is a hex digit. */
  serial: string | null
  speedMbps: number
  maxPowerMa: number
  bcdUsb: number | undefined
  deviceCode: string | undefined
  interfaces: readonly InterfaceSpec[]
  moreConfigurations: readonly (readonly InterfaceSpec[])[] | undefined
  /** Configuration string by revision. Logitech stores the firmware name there. */
  configurations: Readonly<Record<string, string>>
}

/** Parses a table of models. The last column has members that few devices have, and configuration strings by revision. */
const table = (rows: string): Model[] =>
  rows
    .trim()
    .split('\n')
    .map((row) => {
      const [
        ids = '',
        manufacturer = '',
        product = '',
        revisions = '',
        serial = '',
        speed,
        power,
        interfaces = '',
        last = '',
      ] = row.trim().split(/ \| | \|$/)
      const [vid = '', pid = ''] = ids.split(':')
      const words = last === '' ? [] : last.split(' ').map((word) => word.split('='))
      const { device, usb, second, ...configurations } = Object.fromEntries(words) as Record<string, string>
      return {
        ...{ vid, pid, manufacturer, product, revisions: revisions.split(' '), serial: serial || null },
        ...{ speedMbps: Number(speed), maxPowerMa: Number(power), deviceCode: device },
        bcdUsb: usb === undefined ? undefined : Number.parseInt(usb, 16),
        interfaces: interfacesOf(interfaces),
        moreConfigurations: second === undefined ? undefined : [second.split('+')],
        configurations,
      }
    })

/**
 * Models by the role of a device on a host. Columns: ids, manufacturer, product, revisions, serial number, Mbit/s, mA,
 * interfaces, and what few devices have.
 */
export const models = {
  keyboard: table(`
    413C:2113 | Dell | Dell KB216 Wired Keyboard | 0110 0111 |  | 1.5 | 100 | 03:01:01 03:00:00 |
    413C:2107 | DELL | Dell USB Entry Keyboard | 0115 |  | 1.5 | 100 | 03:01:01 |
    413C:2003 | Dell | Dell USB Keyboard | 0301 |  | 1.5 | 100 | 03:01:01 |
    046D:C31C | Logitech | USB Keyboard | 6402 4920 |  | 1.5 | 100 | 03:01:01 03:00:00 |
    045E:0750 | Microsoft | Wired Keyboard 600 | 0163 |  | 1.5 | 100 | 03:01:01 03:00:00 |
    03F0:2B4A | HP, Inc | HP Business Slim Keyboard | 0116 |  | 1.5 | 100 | 03:01:01 03:00:00 |
    03F0:034A | Chicony | HP Elite USB Keyboard | 0211 |  | 1.5 | 100 | 03:01:01 03:00:00 |
    05AC:024F | Apple Inc. | Apple Keyboard | 0074 |  | 1.5 | 100 | 03:01:01 03:00:00 |`),
  mouse: table(`
    413C:301A | PixArt | Dell MS116 USB Optical Mouse | 0100 |  | 1.5 | 100 | 03:01:02 |
    413C:3012 | Dell | Dell USB Optical Mouse | 4320 |  | 1.5 | 100 | 03:01:02 |
    046D:C077 | Logitech | USB Optical Mouse | 7200 6700 |  | 1.5 | 100 | 03:01:02 |
    046D:C05A | Logitech | USB Optical Mouse | 5400 |  | 1.5 | 100 | 03:01:02 |
    03F0:134A | PixArt | HP USB Optical Mouse | 0100 |  | 1.5 | 100 | 03:01:02 |
    17EF:608D | PixArt | Lenovo USB Optical Mouse | 0100 |  | 1.5 | 100 | 03:01:02 |
    0461:4E22 | PixArt | USB Optical Mouse | 0200 |  | 1.5 | 100 | 03:01:02 |`),
  receiver: table(`
    046D:C534 | Logitech | USB Receiver | 2901 |  | 12 | 98 | 03:01:01 03:01:02 | 2901=RQR29.01_B0029
    046D:C548 | Logitech | USB Receiver | 0503 0501 |  | 12 | 98 | 03:01:02 03:01:01 03:00:00 | 0503=MPR05.03_B0010 0501=MPR05.01_B0008
    045E:07B2 | Microsoft | Microsoft® Nano Transceiver v1.0 | 0704 |  | 12 | 100 | 03:01:01 03:01:02 03:00:00 |`),
  // Receivers with vulnerable firmware and with fixed firmware.
  unifying: table(`
    046D:C52B | Logitech | USB Receiver | 1211 2411 1210 1207 1203 2407 |  | 12 | 98 | 03:01:01 03:01:02 03:00:00 | 1203=RQR12.03_B0025 1207=RQR12.07_B0029 1210=RQR12.10_B0032 1211=RQR12.11_B0032 2407=RQR24.07_B0030 2411=RQR24.11_B0036`),
  hub: table(`
    0BDA:5411 | Generic | 4-Port USB 2.0 Hub | 0104 0101 |  | 480 | 0 | 09:00:01@0 09:00:02@0.1 | device=09:00:01 usb=0210
    05E3:0610 | GenesysLogic | USB2.1 Hub | 9304 0655 9226 |  | 480 | 0 | 09:00:01@0 09:00:02@0.1 | device=09:00:01 usb=0210
    05E3:0608 |  | USB2.0 Hub | 8536 6090 |  | 480 | 0 | 09:00:01@0 09:00:02@0.1 | device=09:00:01 usb=0210
    2109:2813 | VIA Labs, Inc. | USB2.0 Hub | 0221 9011 |  | 480 | 0 | 09:00:01@0 09:00:02@0.1 | device=09:00:01 usb=0210
    0424:2514 |  |  | 0BB3 |  | 480 | 0 | 09:00:01@0 09:00:02@0.1 | device=09:00:01 usb=0210
    1A40:0101 |  | USB 2.0 Hub | 0111 |  | 480 | 0 | 09:00:01@0 09:00:02@0.1 | device=09:00:01 usb=0210
    17EF:1010 | VIA Labs, Inc. | USB2.0 Hub | 9091 |  | 480 | 0 | 09:00:01@0 09:00:02@0.1 | device=09:00:01 usb=0210`),
  internalCamera: table(`
    04F2:B604 | Chicony Electronics Co.,Ltd. | Integrated Camera (1280x720@30) | 2747 | 0001 | 480 | 500 | 0e:01:00 0e:02:00@1[] 0e:02:00@1.1 | device=ef:02:01
    5986:2113 | SunplusIT Inc | Integrated Camera | 6010 |  | 480 | 500 | 0e:01:00 0e:02:00@1[] 0e:02:00@1.1 | device=ef:02:01
    064E:E263 | SuYin | HP TrueVision HD | 2208 | 200901010001 | 480 | 500 | 0e:01:00 0e:02:00@1[] 0e:02:00@1.1 | device=ef:02:01`),
  bluetooth: table(`
    8087:0029 |  |  | 0001 |  | 12 | 100 | e0:01:01 e0:01:01 | device=e0:01:01
    8087:0AAA |  |  | 0002 |  | 12 | 100 | e0:01:01 e0:01:01 | device=e0:01:01
    8087:0A2B |  |  | 0010 |  | 12 | 100 | e0:01:01 e0:01:01 | device=e0:01:01
    0CF3:E300 |  |  | 0001 |  | 12 | 100 | e0:01:01 e0:01:01 | device=e0:01:01`),
  fingerprint: table(`
    06CB:00BD |  |  | 0000 | ############ | 12 | 100 | ff:00:00 | device=ff:10:ff
    27C6:5395 | HTMicroelectronics | Goodix Fingerprint Device | 0100 |  | 12 | 100 | 02:02:01 0a:00:00 | device=ef:00:00`),
  camera: table(`
    046D:082D |  | HD Pro Webcam C920 | 0011 | ######## | 480 | 500 | 0e:01:00 0e:02:00@1[] 0e:02:00@1.1 01:01:00@2 01:02:00@3 | device=ef:02:01
    046D:0825 |  |  | 0012 | ######## | 480 | 500 | 0e:01:00 0e:02:00@1[] 0e:02:00@1.1 01:01:00@2 01:02:00@3 | device=ef:02:01
    046D:085E | Logitech | Logitech BRIO | 0016 0317 | ######## | 5000 | 800 | 0e:01:00 0e:02:00@1[] 0e:02:00@1.1 01:01:00@2 01:02:00@3 03:00:00@4 | device=ef:02:01 usb=0310`),
  headset: table(`
    046D:0A44 | Logitech | H390 headset with microphone | 0013 |  | 12 | 100 | 01:01:00 01:02:00 01:02:00 03:00:00 |
    047F:C056 | Plantronics | Plantronics Blackwire 3220 Series | 0215 | ################################ | 12 | 100 | 01:01:00 01:02:00 01:02:00 03:00:00 |
    0B0E:0422 | Jabra | Jabra SPEAK 510 USB | 0214 0210 | 50C2ED######x011200 | 12 | 100 | 01:01:00 01:02:00 01:02:00 03:00:00 |
    1395:0025 | Sennheiser | Sennheiser USB headset | 0100 |  | 12 | 100 | 01:01:00 01:02:00 01:02:00 03:00:00 |
    0D8C:0014 | C-Media Electronics Inc. | USB Audio Device | 0100 |  | 12 | 100 | 01:01:00 01:02:00 01:02:00 03:00:00 |`),
  storage: table(`
    0781:5581 | SanDisk | Ultra | 0100 | 4C5300012306######## | 5000 | 200 | 08:06:50 | usb=0300
    0781:5567 | SanDisk | Cruzer Blade | 0100 0127 | 4C5300000204######## | 480 | 200 | 08:06:50 |
    0781:5583 | SanDisk | Ultra Fit | 0100 | 4C5310010110######## | 5000 | 200 | 08:06:50 | usb=0300
    0951:1666 | Kingston | DataTraveler 3.0 | 0110 0001 | 60A44C413D########F### | 5000 | 200 | 08:06:50 | usb=0300
    0951:1665 | Kingston | DataTraveler 2.0 | 0100 | 001A92053B6A######## | 480 | 200 | 08:06:50 |
    0930:6545 | Kingston | DataTraveler 2.0 | 0100 | C860008862D8######## | 480 | 200 | 08:06:50 |
    13FE:4300 | PNY | USB 2.0 FD | 0100 | 070B3######## | 480 | 200 | 08:06:50 |
    154B:0078 | PNY | USB 2.0 FD | 0100 | AD9E############### | 480 | 200 | 08:06:50 |
    090C:1000 | General | USB Flash Disk | 1100 | 0374###### | 480 | 200 | 08:06:50 |
    058F:6387 | Generic | Mass Storage | 0102 0100 | CCYYMMDDHHmmSS | 480 | 200 | 08:06:50 |`),
  disk: table(`
    1058:25A2 | Western Digital | Elements 25A2 | 1014 | 575835314######## | 5000 | 200 | 08:06:50 | usb=0300
    0BC2:AB24 | Seagate | BUP Portable | 0100 | NA8##### | 5000 | 200 | 08:06:50 | usb=0300
    174C:55AA | ASMedia | ASM1153E | 0100 | ############# | 5000 | 200 | 08:06:50 08:06:62@0.1 | usb=0300
    152D:0578 | JMicron | USB to ATA/ATAPI Bridge | 3201 0508 | 0123456789ABCDEF | 5000 | 200 | 08:06:50 08:06:62@0.1 | usb=0300`),
  phone: table(`
    05AC:12A8 | Apple Inc. | iPhone | 1402 1503 1601 | 00008110-00########## | 480 | 500 | 06:01:01 | second=06:01:01+ff:fe:02
    04E8:6860 | SAMSUNG | SAMSUNG_Android | 0400 0504 | R58N####### | 480 | 500 | 06:01:01 02:02:01 0a:00:00 |
    18D1:4EE1 | Google | Pixel 8 | 0440 0515 | 3########00### | 480 | 500 | 06:01:01 |
    2717:FF40 | Xiaomi | Redmi Note 12 | 0404 | ######## | 480 | 500 | 06:01:01 |`),
  token: table(`
    1050:0407 | Yubico | YubiKey OTP+FIDO+CCID | 0574 0543 0527 |  | 12 | 30 | 03:01:01 03:00:00 0b:00:00 |
    1050:0120 | Yubico | Security Key by Yubico | 0574 |  | 12 | 30 | 03:00:00 |`),
  smartCard: table(`
    08E6:3437 | Gemplus | USB SmartCard Reader | 0200 |  | 12 | 100 | 0b:00:00 |
    076B:3031 | HID Global | OMNIKEY 3x21 Smart Card Reader | 0100 |  | 12 | 100 | 0b:00:00 |
    04E6:5116 | SCM Microsystems Inc. | SCR3310 v2.0 USB SC Reader | 0622 | 5312######## | 12 | 100 | 0b:00:00 |
    0C4B:0500 | REINER SCT | cyberJack RFID standard | 0100 | ########## | 12 | 100 | 0b:00:00 |`),
  network: table(`
    0BDA:8153 | Realtek | USB 10/100/1000 LAN | 3000 3100 | 00####### | 5000 | 288 | ff:ff:00 | usb=0300 second=02:06:00+0a:00:00
    0BDA:8152 | Realtek | USB 10/100 LAN | 2000 | 00E04C###### | 480 | 180 | ff:ff:00 | second=02:06:00+0a:00:00`),
  printer: table(`
    0A5F:00D1 | Zebra Technologies | ZTC GC420d (EPL) | 0100 | 54J######### | 480 | 2 | 07:01:02 |
    0519:0003 | Star | TSP143 (STR_T-001) | 0200 | ########## | 12 | 2 | 07:01:02 |
    04B8:0202 | EPSON | TM-T88V | 0100 | J5MF###### | 12 | 2 | 07:01:02 |`),
  scanner: table(`
    0C2E:0B6A | Honeywell Imaging and Mobility | Vuquest 3310 Area-Imaging Scanner | 0100 | 1######### | 12 | 400 | 03:01:01 |
    05E0:1200 | Symbol Technologies, Inc, 2008 | Symbol Bar Code Scanner | 0120 0110 |  | 12 | 500 | 03:01:01 |`),
  serial: table(`
    0403:6001 | FTDI | FT232R USB UART | 0600 | A###### | 12 | 90 | ff:ff:ff |
    10C4:EA60 | Silicon Labs | CP2102 USB to UART Bridge Controller | 0100 | 0001 | 12 | 100 | ff:00:00 |
    067B:2303 | Prolific Technology Inc. | USB-Serial Controller | 0300 0400 |  | 12 | 100 | ff:00:00 |
    1A86:7523 |  | USB Serial | 0264 0263 |  | 12 | 98 | ff:01:02 |`),
  board: table(`
    2341:0043 | Arduino (www.arduino.cc) |  | 0001 | 7543##########0F1F1# | 12 | 100 | 02:02:01 0a:00:00 | device=02:00:00
    0483:374B | STMicroelectronics | STM32 STLink | 0100 | 0667FF################## | 12 | 300 | ff:ff:ff 08:06:50 02:02:01 0a:00:00 | device=ef:02:01`),
  ups: table(`
    051D:0002 | American Power Conversion | Back-UPS ES 700G FW:871.O4 .I USB FW:O4 | 0106 | 5B##########  | 1.5 | 100 | 03:00:00 |
    0764:0501 | CPS | CP1500PFCLCD | 0200 0001 | 000000000000 | 1.5 | 100 | 03:00:00 |`),
}

export type Role = keyof typeof models

export const attackTools: readonly Model[] = table(`
  03EB:2401 | ATMEL | HID Keyboard | 0100 |  | 12 | 100 | 03:01:01 |
  03EB:2422 | ATMEL | ASF HID Keyboard | 0100 | 123456789ABC | 480 | 100 | 08:06:50 03:01:01 |
  046D:C529 |  |  | 0100 |  | 12 | 500 | 03:01:01<16/2 |
  F000:FF02 | Hak5 | Bash Bunny | 0333 | ch000001 | 480 | 500 | 03:01:01 08:06:50 |
  1D6B:1347 | MaMe82 | P4wnP1 by MaMe82 | 0100 | deadbeef1337 | 480 | 500 | 02:06:00 0a:00:00 03:01:01 | device=ef:02:01`)
