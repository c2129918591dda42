/** Plug and Play devices as Windows lists them for a report of Linux, by the documentation of device identification strings. */
import type { DeviceReport } from '@portcullis/contract/agent-protocol.ts'
import { hidFunctions, interfaceCode, parseReport } from '@portcullis/domain'
import type { HubData, RawNode } from '../src/platform/windows/inventory.ts'
import { PROPERTIES, PROPERTY_TYPES, type PropertyName, type RawProperty } from '../src/platform/windows/properties.ts'

type Values = Partial<Record<PropertyName, string | number | readonly string[]>>

/** Encodes a property as Windows stores it. */
const rawProperty = (name: PropertyName, value: string | number | readonly string[]): RawProperty => {
  const type = PROPERTY_TYPES[PROPERTIES[name][2]]
  if (typeof value === 'number') {
    const data = Buffer.alloc(4)
    data.writeUInt32LE(value)
    return { type, data }
  }
  const text = typeof value === 'string' ? `${value}\0` : `${value.map((one) => `${one}\0`).join('')}\0`
  return { type, data: Buffer.from(text, 'utf16le') }
}

export const rawNode = (instanceId: string, values: Values = {}, isPresent = true): RawNode => ({
  instanceId,
  isPresent,
  properties: Object.fromEntries(
    Object.entries(values).map(([name, value]) => [name, rawProperty(name as PropertyName, value)]),
  ),
})

const hex = (value: number, digits: number): string => value.toString(16).toUpperCase().padStart(digits, '0')
const usages = { keyboard: '0001_U:0006', mouse: '0001_U:0002', fido: 'F1D0_U:0001', consumer: '000C_U:0001' } as const

/** Returns the nodes of a device: itself, its interfaces if it is composite, and its HID functions. */
export const windowsNodes = (report: DeviceReport, hub = 'USB\\ROOT_HUB30\\4&1A2B3C4D&0&0'): RawNode[] => {
  const parsed = parseReport(report)
  const ports = report.portPath.split(/[-.]/).slice(1).map(Number)
  const model = `USB\\VID_${parsed.vid}&PID_${parsed.pid}`
  const hubs = ports.slice(0, -1).join('')
  const place = ports.join('')
  const id = `${model}\\${report.serial ?? `5&2AB01C3${hubs}&0&${ports.at(-1)}`}`
  const classIds = (prefix: string, code: string): string[] => {
    const [a, b, c] = code.toUpperCase().split(':')
    return [`USB\\${prefix}_${a}&SubClass_${b}&Prot_${c}`, `USB\\${prefix}_${a}&SubClass_${b}`, `USB\\${prefix}_${a}`]
  }
  const first = (parsed.configurations[0]?.interfaces ?? []).filter((i) => i.alternate === 0)
  const isComposite = parsed.deviceClass !== 9 && first.length > 1
  const deviceCode = [parsed.deviceClass, parsed.deviceSubclass, parsed.deviceProtocol].map((n) => hex(n, 2)).join(':')
  const device = rawNode(id, {
    hardwareIds: [`${model}&REV_${hex(parsed.bcdDevice, 4)}`, model],
    compatibleIds: isComposite
      ? [...classIds('DevClass', deviceCode), 'USB\\COMPOSITE']
      : classIds('Class', first[0] ? interfaceCode(first[0]) : deviceCode),
    service: isComposite ? 'usbccgp' : 'HidUsb',
    driver: '{36fc9e60-c465-11cf-8056-444553540000}\\0003',
    capabilities: 0x80 | (report.serial === undefined ? 0 : 0x10) | (report.removable === 'fixed' ? 0 : 4),
    address: ports.at(-1) ?? 0,
    // The hash of this controller makes it bus 1.
    locationPaths: [`PCIROOT(0)#PCI(009D)#USBROOT(0)${ports.map((port) => `#USB(${port})`).join('')}`],
    ...(report.product === undefined ? {} : { product: report.product }),
    status: 0x180200a,
    problem: 0,
    parent: hub,
  })
  const parts = first.flatMap((i, index) => {
    const part = isComposite ? `${model}&MI_${hex(i.number, 2)}\\6&3B1F${index}${place}&0&${hex(i.number, 4)}` : id
    const nodes = isComposite
      ? [rawNode(part, { compatibleIds: classIds('Class', interfaceCode(i)), parent: id, status: 0x180200a })]
      : []
    if (i.class !== 3) return nodes
    const text = report.reportDescriptors?.[first.filter((other) => other.class === 3).indexOf(i)]
    const boot =
      i.subclass === 1 && i.protocol === 1 ? 'keyboard' : i.subclass === 1 && i.protocol === 2 ? 'mouse' : null
    const functions = text === undefined ? {} : hidFunctions(Buffer.from(text, 'base64'))
    const found = (Object.keys(usages) as (keyof typeof usages)[]).filter((key) =>
      text === undefined ? key === boot : (functions as Record<string, boolean>)[key],
    )
    const children = found.map((key, col) =>
      rawNode(
        `${part.replace(/^USB/, 'HID').split('\\').slice(0, 2).join('\\')}&COL0${col + 1}\\7&${place}${index}&0&000${col}`,
        {
          hardwareIds: [`HID_DEVICE_UP:${usages[key]}`, 'HID_DEVICE'],
          parent: part,
        },
      ),
    )
    return [...nodes, ...children]
  })
  return [device, ...parts]
}

/** Returns the data that the device returns through its hub. */
export const hubDataFor = (report: DeviceReport): HubData => {
  const { manufacturer, product, serial, configuration, speedMbps } = report
  return {
    descriptors: Buffer.from(report.descriptors, 'base64'),
    ...(manufacturer === undefined ? {} : { manufacturer }),
    ...(product === undefined ? {} : { product }),
    ...(serial === undefined ? {} : { serial }),
    ...(configuration === undefined ? {} : { configuration }),
    ...(speedMbps === undefined ? {} : { speedMbps }),
  }
}
