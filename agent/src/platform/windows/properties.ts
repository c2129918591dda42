/** Properties of Plug and Play devices (devpkey.h) and their values. A device chooses many of them. */

const DEVICE = 'a45c254e-df1c-4efd-8020-67d146a850e0'
const TREE = '4340a6c5-93fa-4706-972c-7b648008a5a7'

export const PROPERTY_TYPES = { uint32: 0x07, fileTime: 0x10, text: 0x12, list: 0x2012 } as const
type PropertyType = keyof typeof PROPERTY_TYPES

/** Format ID, number and type of the properties that the inventory reads. */
export const PROPERTIES = {
  hardwareIds: [DEVICE, 3, 'list'],
  compatibleIds: [DEVICE, 4, 'list'],
  service: [DEVICE, 6, 'text'],
  driver: [DEVICE, 11, 'text'],
  capabilities: [DEVICE, 17, 'uint32'],
  address: [DEVICE, 30, 'uint32'],
  locationPaths: [DEVICE, 37, 'list'],
  product: ['540b947e-8b40-45bc-a8a2-6a0b894cbda2', 4, 'text'],
  status: [TREE, 2, 'uint32'],
  problem: [TREE, 3, 'uint32'],
  parent: [TREE, 8, 'text'],
  arrival: ['83da6326-97a6-4088-9453-a1923f573b29', 102, 'fileTime'],
} as const satisfies Record<string, readonly [string, number, PropertyType]>
export type PropertyName = keyof typeof PROPERTIES

/** Maximum bytes of a property. The list of hardware IDs of a real device has less than 2 KiB. */
export const MAX_PROPERTY_BYTES = 16 * 1024
const MAX_LIST = 64
/** Windows limits IDs to 200 characters (MAX_DEVICE_ID_LEN). */
export const MAX_INSTANCE_ID = 200
const MAX_TEXT = 400

/** A property as Windows returned it. Without data, it is larger than `MAX_PROPERTY_BYTES`. */
export interface RawProperty {
  type: number
  data?: Uint8Array
}

/** Decodes UTF-16 up to the first NUL. */
const textOf = (data: Uint8Array): string => {
  const text = Buffer.from(data.buffer, data.byteOffset, data.byteLength & ~1).toString('utf16le')
  const end = text.indexOf('\0')
  return (end < 0 ? text : text.slice(0, end)).slice(0, MAX_TEXT)
}

const listOf = (data: Uint8Array): string[] =>
  Buffer.from(data.buffer, data.byteOffset, data.byteLength & ~1)
    .toString('utf16le')
    .split('\0', MAX_LIST)
    .filter((text) => text !== '')
    .map((text) => text.slice(0, MAX_TEXT))

type Decoded<T extends PropertyType> = T extends 'uint32' ? number : T extends 'list' ? string[] : string
export type Properties = { [Name in PropertyName]?: Decoded<(typeof PROPERTIES)[Name][2]> }
export type PropertyFault = 'property_type' | 'property_too_large'

/** Decodes the properties of a device. Omits invalid ones and passes their names to `onFault`. */
export const decodeProperties = (
  raw: Partial<Record<PropertyName, RawProperty>>,
  onFault: (code: PropertyFault, name: PropertyName) => void,
): Properties => {
  const found: Record<string, unknown> = {}
  for (const name of Object.keys(PROPERTIES) as PropertyName[]) {
    const property = raw[name]
    if (property === undefined) continue
    const { type, data } = property
    const expected: PropertyType = PROPERTIES[name][2]
    if (data === undefined || data.length > MAX_PROPERTY_BYTES) onFault('property_too_large', name)
    else if (type !== PROPERTY_TYPES[expected]) onFault('property_type', name)
    else if (expected === 'text') found[name] = textOf(data)
    else if (expected === 'list') found[name] = listOf(data)
    else if (expected === 'uint32' && data.length === 4) found[name] = Buffer.from(data).readUInt32LE()
    else if (expected === 'fileTime' && data.length === 8) found[name] = Buffer.from(data).readBigUInt64LE().toString()
    else onFault('property_type', name)
  }
  return found as Properties
}
