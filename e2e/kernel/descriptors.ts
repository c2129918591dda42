/** USB descriptors (USB 2.0, chapter 9) and the formats in which gadgetfs and FunctionFS accept them. */
const word = (value: number): number[] => [value & 0xff, value >>> 8]
const long = (value: number): number[] => [...word(value & 0xffff), ...word(value >>> 16)]
const base64 = (...parts: readonly number[][]): string => Buffer.from(parts.flat()).toString('base64')

export interface DeviceIds {
  vid: number
  pid: number
  deviceClass: number
}

const deviceDescriptor = ({ vid, pid, deviceClass }: DeviceIds): number[] => [
  ...[18, 1, ...word(0x0200), deviceClass, 0, 0, 64],
  ...[...word(vid), ...word(pid), ...word(0x0100), 0, 0, 0, 1],
]

/** Class, subclass and protocol. */
export type InterfaceClass = readonly [number, number, number]
export const HUB: InterfaceClass = [9, 0, 0]
export const KEYBOARD: InterfaceClass = [3, 1, 1]
export const DISK: InterfaceClass = [8, 6, 0x50]
export const VENDOR: InterfaceClass = [0xff, 0xff, 0xff]

export type Endpoint = (isHighSpeed: boolean) => number[]
/** @param address includes 0x80 for endpoints from the device to the host */
export const bulk =
  (address: number): Endpoint =>
  (isHighSpeed) => [7, 5, address, 2, ...word(isHighSpeed ? 512 : 64), 0]
export const interrupt =
  (address: number): Endpoint =>
  () => [7, 5, address, 3, ...word(8), 4]

/** Report descriptor of a keyboard (HID specification, appendix B.1). */
export const KEYBOARD_REPORT = Buffer.from(
  '05010906a101050719e029e71500250175019508810295017508810395057501050819012905910295017503910395067508150025650507190029658100c0',
  'hex',
)

export interface Interface {
  of: InterfaceClass
  endpoints: readonly Endpoint[]
}

const interfaceDescriptors = (isHighSpeed: boolean, interfaces: readonly Interface[]): number[] =>
  interfaces.flatMap(({ of, endpoints }, number) => [
    ...[9, 4, number, 0, endpoints.length, ...of, 0],
    ...(of[0] === KEYBOARD[0] ? [9, 0x21, ...word(0x0111), 0, 1, 0x22, ...word(KEYBOARD_REPORT.length)] : []),
    ...endpoints.flatMap((endpoint) => endpoint(isHighSpeed)),
  ])

const configurationDescriptor = (isHighSpeed: boolean, interfaces: readonly Interface[], claimed: number): number[] => {
  const body = interfaceDescriptors(isHighSpeed, interfaces)
  return [9, 2, ...word(9 + body.length), claimed, 1, 0, 0x80, 50, ...body]
}

/**
 * Returns a device in the format of gadgetfs: both configurations, then the device.
 *
 * @param claimed `bNumInterfaces`; a device may claim more than it describes
 */
export const gadgetfsDevice = (
  ids: DeviceIds,
  interfaces: readonly Interface[],
  claimed: number = interfaces.length,
): string =>
  base64(
    long(0),
    configurationDescriptor(false, interfaces, claimed),
    configurationDescriptor(true, interfaces, claimed),
    deviceDescriptor(ids),
  )

/** Returns the bytes that configure a file of gadgetfs as an endpoint. */
export const gadgetfsEndpoint = (endpoint: Endpoint): string => base64(long(1), endpoint(false), endpoint(true))

const MAGIC = { descriptors: 3, strings: 2 }
/** Flags: full speed, high speed, and all control requests that no other function handles. */
const FLAGS = 1 | 2 | 64

/** Returns an interface in the format of FunctionFS: its descriptors and an empty list of strings. */
export const functionFs = (one: Interface): { descriptors: string; strings: string } => {
  const [full, high] = [interfaceDescriptors(false, [one]), interfaceDescriptors(true, [one])]
  const count = long(1 + one.endpoints.length)
  const length = 20 + full.length + high.length
  return {
    descriptors: base64(long(MAGIC.descriptors), long(length), long(FLAGS), count, count, full, high),
    strings: base64(long(MAGIC.strings), long(16), long(0), long(0)),
  }
}
