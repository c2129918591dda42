/** Reads descriptors and strings of USB devices from the hubs that they are attached to (usbioctl.h). */
import { cutText } from '../../collectors/text.ts'
import { createDeviceInterfaces } from './device-interfaces.ts'
import type { HubData, ReadHub } from './inventory.ts'
import type { Koffi } from './koffi.ts'

/** Sends a request to a hub. Returns the bytes of its response, or undefined if the hub refuses. */
export type AskHub = (code: number, request: Uint8Array) => Buffer | undefined

const NODE_CONNECTION = 0x22_0448
const NODE_CONNECTION_V2 = 0x22_045c
const DESCRIPTOR = 0x22_0410

const CONFIGURATION = 2
const STRING = 3
const DEVICE_BYTES = 18
/** USB_NODE_CONNECTION_INFORMATION_EX up to its list of pipes, without padding. */
const CONNECTION_BYTES = 35
const MAX_CONFIGURATIONS = 8
const MAX_CONFIGURATION_BYTES = 8192
const SETUP_BYTES = 12
/** Mbit/s by USB_DEVICE_SPEED: low, full, high, super. */
const SPEEDS = [1.5, 12, 480, 5000]
const MAX_STRING = 256

/** Returns a descriptor without the request that precedes it. */
const descriptorOf = (ask: AskHub, port: number, kind: number, index: number, language: number, length: number) => {
  const request = Buffer.alloc(SETUP_BYTES + length)
  request.writeUInt32LE(port, 0)
  // The hub driver sets bmRequest and bRequest itself.
  request.writeUInt16LE((kind << 8) | index, 6)
  request.writeUInt16LE(language, 8)
  request.writeUInt16LE(length, 10)
  const answer = ask(DESCRIPTOR, request)?.subarray(SETUP_BYTES)
  return answer !== undefined && answer.length >= 2 && answer[1] === kind ? answer : undefined
}

const configurationOf = (ask: AskHub, port: number, index: number): Buffer | undefined => {
  const head = descriptorOf(ask, port, CONFIGURATION, index, 0, 9)
  if (head === undefined || head.length < 9) return undefined
  const length = head.readUInt16LE(2)
  if (length < 9 || length > MAX_CONFIGURATION_BYTES) return undefined
  const whole = descriptorOf(ask, port, CONFIGURATION, index, 0, length)
  return whole?.length === length ? whole : undefined
}

/** Returns the speed in Mbit/s. Undefined if the hub does not report it. */
const speedOf = (ask: AskHub, port: number, speed: number): number | undefined => {
  const request = Buffer.alloc(16)
  request.writeUInt32LE(port, 0)
  request.writeUInt32LE(16, 4)
  // Asks for all protocols.
  request.writeUInt32LE(7, 8)
  const flags = ask(NODE_CONNECTION_V2, request)
  // Bit 0: operates at SuperSpeed. Bit 2: operates at SuperSpeedPlus.
  const bits = flags !== undefined && flags.length >= 16 ? flags.readUInt32LE(12) : 0
  if ((bits & 4) !== 0) return 10_000
  return (bits & 1) !== 0 ? 5000 : SPEEDS[speed]
}

/** Reads a device as sysfs shows it: device descriptor, all configurations, and the strings in its first language. */
export const readFromHub = (ask: AskHub, port: number): HubData | undefined => {
  const request = Buffer.alloc(CONNECTION_BYTES)
  request.writeUInt32LE(port, 0)
  const connection = ask(NODE_CONNECTION, request)
  if (connection === undefined || connection.length < CONNECTION_BYTES) return undefined
  const device = connection.subarray(4, 4 + DEVICE_BYTES)
  if (device[0] !== DEVICE_BYTES || device[1] !== 1) return undefined
  const current = connection[22]
  const count = Math.min(device[17] ?? 0, MAX_CONFIGURATIONS)
  const configurations = Array.from({ length: count }, (_, index) => configurationOf(ask, port, index))
  if (configurations.some((one) => one === undefined)) return undefined

  const languages = descriptorOf(ask, port, STRING, 0, 0, MAX_STRING - 1)
  const language = languages !== undefined && languages.length >= 4 ? languages.readUInt16LE(2) : undefined
  function text(index: number | undefined): string | undefined {
    if (index === undefined || index === 0 || language === undefined) return undefined
    const answer = descriptorOf(ask, port, STRING, index, language, MAX_STRING - 1)
    const length = Math.min(answer?.[0] ?? 0, answer?.length ?? 0) & ~1
    return answer === undefined || length < 4 ? undefined : cutText(answer.toString('utf16le', 2, length), MAX_STRING)
  }

  const active = configurations.find((one) => one?.[5] === current)
  const strings = {
    manufacturer: text(device[14]),
    product: text(device[15]),
    serial: text(device[16]),
    configuration: text(active?.[6]),
  }
  const speed = speedOf(ask, port, connection[23] ?? SPEEDS.length)
  return {
    descriptors: Buffer.concat([device, ...configurations.flatMap((one) => one ?? [])]),
    ...Object.fromEntries(Object.entries(strings).filter(([, value]) => value !== undefined)),
    ...(speed === undefined ? {} : { speedMbps: speed }),
  }
}

const HUB_INTERFACE = 'f18a0e88-c30c-11d0-8815-00a0c906bed8'
const GENERIC_WRITE = 0x4000_0000
const SHARE_READ_WRITE = 3
const OPEN_EXISTING = 3
const INVALID_HANDLE = 0xffff_ffff_ffff_ffffn

/** Cached attachments. Without the cache, a scan would send a dozen requests to each device. */
const MAX_KNOWN = 512

/** Reads devices through their hubs, each attachment once. Returns undefined if the hub refuses. Never throws. */
export const createHubReader = (koffi: Koffi): ReadHub => {
  const interfaces = createDeviceInterfaces(koffi)
  const kernel = koffi.load('kernel32.dll')
  const createFile = kernel.func(
    'uintptr CreateFileW(str16 name, uint32 access, uint32 share, void* security, uint32 how, uint32 flags, void* template)',
  )
  const control = kernel.func(
    'bool DeviceIoControl(uintptr file, uint32 code, uint8_t* input, uint32 size, _Out_ uint8_t* output, uint32 room, _Out_ uint32* written, void* overlapped)',
  )
  const close = kernel.func('bool CloseHandle(uintptr file)')
  const known = new Map<string, HubData>()

  function ask(hub: string, port: number): HubData | undefined {
    try {
      const [path] = interfaces(HUB_INTERFACE, hub)
      if (path === undefined) return undefined
      const file = createFile(path, GENERIC_WRITE, SHARE_READ_WRITE, null, OPEN_EXISTING, 0, null)
      if (BigInt(file as number | bigint) === INVALID_HANDLE) return undefined
      try {
        return readFromHub((code, request) => {
          const output = Buffer.alloc(request.length)
          const written = [0]
          if (control(file, code, request, request.length, output, output.length, written, null) !== true)
            return undefined
          return output.subarray(0, written[0])
        }, port)
      } finally {
        close(file)
      }
    } catch {
      return undefined
    }
  }

  return (hub, port, attachment) => {
    if (attachment === undefined) return ask(hub, port)
    const data = known.get(attachment) ?? ask(hub, port)
    known.delete(attachment)
    if (data !== undefined) known.set(attachment, data)
    for (const oldest of known.keys()) {
      if (known.size <= MAX_KNOWN) break
      known.delete(oldest)
    }
    return data
  }
}
