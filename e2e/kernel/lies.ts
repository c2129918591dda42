import type { PolicyRule } from '@portcullis/contract/agent-protocol.ts'
import {
  bulk,
  DISK,
  functionFs,
  gadgetfsDevice,
  gadgetfsEndpoint,
  HUB,
  type Interface,
  interrupt,
  KEYBOARD,
  KEYBOARD_REPORT,
  VENDOR,
} from './descriptors.ts'
import type { DeviceCommand } from './device-commands.ts'

type Plug = Extract<DeviceCommand, { do: 'plug' }>
type Harm = 'frames' | 'sectors' | 'keystrokes'

/** A device with a false claim. */
export interface Lie {
  name: string
  /** Its false claim, for the name of a test. */
  what: string
  /** Harm to an unprotected host. If undefined, only a foreign driver binds. */
  harm?: Harm
  /** Driver that an unprotected host binds and that the claimed device never needs. */
  foreign: string
  /** Drivers of the claimed device. */
  honest: readonly string[]
  /** Rules of the host that it tries to bypass. */
  rules: readonly PolicyRule[]
  /** Uses gadgetfs at controller 0, or configfs at controller 1. */
  device: { plug: Plug } | ConfigfsDevice
  /** Product ID after it made the host reset it. Before, it is a disk that a rule allows. */
  changesTo?: string
}

interface ConfigfsDevice {
  /** Files of the gadget at each attachment. */
  attributes: Record<string, string>
  /** Shell commands that create its functions. `$g` is its folder. */
  functions: readonly string[]
  offers: readonly Extract<DeviceCommand, { do: 'offer' }>[]
  /** Has a keyboard with usb_f_hid that types whenever possible. */
  types?: boolean
}

const allow = (...kinds: NonNullable<PolicyRule['kinds']>): PolicyRule[] => [
  // Gadget keyboards resemble attack tools. The rules allow them, so that only the kernel's drivers reveal them.
  { id: 'kinds', effect: 'allow', level: 'global', kinds, overrideAttackTool: true },
]

const RTL8150 = { vid: 0x0bda, pid: 0x8150 }
/** Endpoints that the driver expects, whatever the descriptors contain: frames in 1 and out 2, events 3. */
const adapterEndpoints = [bulk(0x81), bulk(0x02), interrupt(0x83)]
const adapterFiles: Plug['endpoints'] = [
  { file: 'ep1in-bulk', config: gadgetfsEndpoint(bulk(0x81)), does: 'frames-in' },
  { file: 'ep2out-bulk', config: gadgetfsEndpoint(bulk(0x02)), does: 'frames-out' },
  { file: 'ep5in-int', config: gadgetfsEndpoint(interrupt(0x83)), does: 'silent' },
]
const keyboardFiles: Plug['endpoints'] = [
  { file: 'ep5in-int', config: gadgetfsEndpoint(interrupt(0x85)), does: 'keys' },
]
const keyboard: Interface = { of: KEYBOARD, endpoints: [interrupt(0x85)] }

const plug = (
  name: string,
  ids: Parameters<typeof gadgetfsDevice>[0],
  interfaces: readonly Interface[],
  endpoints: Plug['endpoints'],
  claimed?: number,
): { plug: Plug } => ({
  plug: {
    do: 'plug',
    name,
    descriptors: gadgetfsDevice(ids, interfaces, claimed),
    endpoints,
    report: KEYBOARD_REPORT.toString('base64'),
  },
})

const mountOf = (name: string): string => `/dev/ffs-${name}`
const ownFunction = (name: string): string =>
  `mkdir -p $g/functions/ffs.${name} ${mountOf(name)}; mount -t functionfs ${name} ${mountOf(name)}; ln -s $g/functions/ffs.${name} $g/configs/c.1/`
const offer = (
  name: string,
  does: 'disk' | 'nothing',
  one: Interface,
  becomes?: Extract<DeviceCommand, { do: 'offer' }>['becomes'],
): Extract<DeviceCommand, { do: 'offer' }> => ({
  do: 'offer',
  name,
  does,
  dir: mountOf(name),
  ...functionFs(one),
  ...(becomes === undefined ? {} : { becomes }),
})
const disk = [bulk(0x81), bulk(0x02)]

/** Number of interfaces that fit into the 256 bytes of a configuration that gadgetfs sends. */
const DESCRIBED = 25

const quirk = 'quirk-disk'
const nested = 'hub-with-keyboard'
const sounding = 'disk-with-sound'
const double = 'two-configurations'
const changing = 'changing-disk'

export const lies: readonly Lie[] = [
  {
    name: 'hub-adapter',
    what: 'a network adapter (rtl8150) with the class of a hub',
    harm: 'frames',
    foreign: 'rtl8150',
    honest: ['hub'],
    rules: [],
    device: plug(
      'hub-adapter',
      { ...RTL8150, deviceClass: 9 },
      [{ of: HUB, endpoints: adapterEndpoints }],
      adapterFiles,
    ),
  },
  {
    name: 'strict-hub',
    what: 'all descriptors of a proper hub, with the ids of an I/O board (iowarrior)',
    foreign: 'iowarrior',
    honest: ['hub'],
    rules: [],
    device: plug(
      'strict-hub',
      { vid: 0x07c0, pid: 0x1501, deviceClass: 9 },
      [{ of: HUB, endpoints: [interrupt(0x85)] }],
      [],
    ),
  },
  {
    name: 'vendor-class',
    what: 'a network adapter (rtl8150) with a keyboard interface and bDeviceClass=0xff, for which the kernel skips classes',
    harm: 'frames',
    foreign: 'rtl8150',
    honest: ['usbhid', 'hid-generic'],
    rules: allow('Keyboard'),
    device: plug(
      'vendor-class',
      { ...RTL8150, deviceClass: 0xff },
      [{ of: KEYBOARD, endpoints: adapterEndpoints }],
      adapterFiles,
    ),
  },
  {
    name: 'hid-bridge',
    what: 'a keyboard with the ids of an I2C bridge (hid-mcp2221), which has a driver on the HID bus',
    foreign: 'mcp2221',
    honest: ['usbhid', 'hid-generic'],
    rules: allow('Keyboard'),
    device: plug('hid-bridge', { vid: 0x04d8, pid: 0x00dd, deviceClass: 0 }, [keyboard], keyboardFiles),
  },
  {
    name: 'many-interfaces',
    what: 'a network adapter (rtl8150) that claims 255 interfaces, each a hub',
    harm: 'frames',
    foreign: 'rtl8150',
    honest: ['hub'],
    rules: allow('Hub'),
    device: plug(
      'many-interfaces',
      { ...RTL8150, deviceClass: 9 },
      Array.from({ length: DESCRIBED }, (_, i) => ({ of: HUB, endpoints: i === 0 ? adapterEndpoints : [] })),
      adapterFiles,
      255,
    ),
  },
  {
    name: quirk,
    what: 'a disk (by a quirk of usb-storage) with the class of a hub',
    harm: 'sectors',
    foreign: 'usb-storage',
    honest: ['hub'],
    rules: [],
    device: {
      attributes: { bDeviceClass: '9', idVendor: '0x04b8', idProduct: '0x0602', bcdDevice: '0x0110' },
      functions: [ownFunction(quirk)],
      offers: [offer(quirk, 'disk', { of: HUB, endpoints: disk })],
    },
  },
  {
    name: nested,
    what: 'a hub with a keyboard interface',
    harm: 'keystrokes',
    foreign: 'usbhid',
    honest: ['hub'],
    rules: allow('Hub'),
    device: {
      attributes: { bDeviceClass: '9' },
      functions: [ownFunction(nested), `keyboard_function ${nested}`],
      offers: [offer(nested, 'nothing', { of: HUB, endpoints: [interrupt(0x85)] })],
      types: true,
    },
  },
  {
    name: sounding,
    what: 'a disk that is a sound device (MIDI) besides',
    harm: 'sectors',
    foreign: 'snd-usb-audio',
    honest: ['usb-storage'],
    rules: allow('Mass Storage'),
    device: {
      attributes: {},
      functions: [
        `storage_function ${sounding}`,
        'mkdir $g/functions/midi.0',
        'ln -s $g/functions/midi.0 $g/configs/c.1/',
      ],
      offers: [],
    },
  },
  {
    name: double,
    what: 'a disk in its first configuration, and a keyboard in its second, which the kernel picks',
    harm: 'keystrokes',
    foreign: 'usbhid',
    honest: ['usb-storage'],
    rules: allow('Mass Storage'),
    device: {
      attributes: {},
      functions: [
        ownFunction(double),
        `storage_function ${double}`,
        `keyboard_function ${double}`,
        'mkdir -p $g/configs/c.2; rm $g/configs/c.1/hid.0; ln -s $g/functions/hid.0 $g/configs/c.2/',
      ],
      offers: [offer(double, 'nothing', { of: VENDOR, endpoints: disk })],
      types: true,
    },
  },
  {
    name: changing,
    what: 'a disk that is an I/O board (iowarrior) after a reset',
    foreign: 'iowarrior',
    honest: ['usb-storage'],
    rules: allow('Mass Storage'),
    changesTo: '1501',
    device: {
      attributes: { idVendor: '0x0781', idProduct: '0x5567', bDeviceClass: '0' },
      functions: [ownFunction(changing)],
      offers: [
        offer(
          changing,
          'disk',
          { of: DISK, endpoints: [...disk, interrupt(0x85)] },
          {
            afterAnswers: 12,
            attributes: {
              [`/sys/kernel/config/usb_gadget/${changing}/idVendor`]: '0x07c0',
              [`/sys/kernel/config/usb_gadget/${changing}/idProduct`]: '0x1501',
              [`/sys/kernel/config/usb_gadget/${changing}/bDeviceClass`]: '0xff',
            },
          },
        ),
      ],
    },
  },
]
