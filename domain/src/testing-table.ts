import type { DeviceSpec, EndpointSpec, InterfaceSpec } from './testing-build.ts'

const endpointOf = (text: string): EndpointSpec => {
  const [size, interval, address] = text.slice(1).split('/')
  const usual = text.startsWith('<') ? 0x81 : 0x01
  return {
    address: address === undefined ? usual : Number.parseInt(address, 16),
    attributes: 3,
    maxPacketSize: Number(size),
    interval: Number(interval),
  }
}

/**
 * Parses an interface: its code, and optionally its number and alternate setting (`08:06:62@0.1`), and its interrupt
 * endpoints (`03:01:01<8/24>8/1`: an input with packets of 8 bytes every 24, then an output), or none (`[]`).
 */
const interfaceOf = (word: string): InterfaceSpec => {
  const [, code = '', number, alternate, ends = ''] = /^([^@<>[]+)(?:@(\d+)(?:\.(\d+))?)?(.*)$/s.exec(word) ?? []
  if (code === word) return code
  return {
    code,
    ...(number === undefined ? {} : { number: Number(number) }),
    ...(alternate === undefined ? {} : { alternate: Number(alternate) }),
    ...(ends === '' ? {} : { endpoints: ends === '[]' ? [] : ends.split(/(?=[<>])/).map(endpointOf) }),
  }
}

/** Parses interfaces, separated by spaces. */
export const interfacesOf = (text: string): InterfaceSpec[] => text.split(' ').map(interfaceOf)

const members: Readonly<Record<string, (value: string) => Partial<DeviceSpec>>> = {
  bcd: (bcdDevice) => ({ bcdDevice }),
  usb: (hex) => ({ bcdUsb: Number.parseInt(hex, 16) }),
  device: (deviceCode) => ({ deviceCode }),
  packet: (size) => ({ maxPacketSize0: Number(size) }),
  power: (milliamperes) => ({ maxPowerMa: Number(milliamperes) }),
  self: (answer) => ({ selfPowered: answer === 'yes' }),
  wake: (answer) => ({ remoteWakeup: answer === 'yes' }),
  speed: (mbps) => ({ speedMbps: Number(mbps) }),
  port: (portPath) => ({ portPath }),
  serial: (serial) => ({ serial }),
  configuration: (configuration) => ({ configuration }),
  removable: (removable) => ({ removable: removable as NonNullable<DeviceSpec['removable']> }),
  second: (list) => ({ moreConfigurations: [list.split('+')] }),
}

/**
 * Parses a device: ids, manufacturer, product, and words in any order. A word is an interface of the first configuration
 * or `member=value`. Later words override earlier ones.
 */
export const deviceSpec = (row: string): DeviceSpec => {
  const [ids = '', manufacturer = '', product = '', words = ''] = row.split('|').map((column) => column.trim())
  const [vid = '', pid = ''] = ids.split(':')
  const spec: DeviceSpec & { interfaces: InterfaceSpec[] } = { vid, pid, interfaces: [] }
  if (manufacturer !== '') spec.manufacturer = manufacturer
  if (product !== '') spec.product = product
  for (const word of words.split(' ')) {
    const [member = '', value] = word.split('=')
    if (value === undefined) spec.interfaces.push(interfaceOf(word))
    else Object.assign(spec, members[member]?.(value))
  }
  return spec
}
