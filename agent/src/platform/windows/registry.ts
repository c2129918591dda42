/** Typed and bounded access to the registry. Any value may have the wrong type, be too large or be missing. */

/** A key with its hive, such as `HKLM\Software\Policies`. */
export type RegistryKey = `${keyof typeof HIVES}\\${string}`

/** Predefined handles as Windows extends them to 64 bits. */
export const HIVES = { HKCU: -0x7fffffffn, HKLM: -0x7ffffffen, HKU: -0x7ffffffdn } as const

export const VALUE_TYPES = { text: 1, expandable: 2, binary: 3, dword: 4, list: 7 } as const

export interface RegistryValue {
  /** A number of `VALUE_TYPES`, or any other number that a program wrote. */
  type: number
  data: Uint8Array
}
export type NamedValue = RegistryValue & { name: string }

/** Statuses of Windows (winerror.h) that the agent distinguishes. */
export const STATUS = {
  ok: 0,
  missing: 2,
  pathMissing: 3,
  denied: 5,
  moreData: 234,
  noMoreItems: 259,
  keyDeleted: 1018,
} as const

/** The Windows calls. Each returns its status. The caller has checked keys and names. */
export interface RawRegistry {
  query(key: RegistryKey, name: string): { status: number; value?: RegistryValue }
  values(key: RegistryKey): { status: number; values: NamedValue[] }
  keys(key: RegistryKey): { status: number; names: string[] }
  /** Creates a key that exists until Windows restarts. Does nothing if the key exists. */
  createVolatile(key: RegistryKey): number
  /** Creates the key if it is missing. */
  set(key: RegistryKey, name: string, value: RegistryValue): number
  remove(key: RegistryKey, name: string): number
  removeTree(key: RegistryKey): number
  flush(key: RegistryKey): number
}

/** Limits of one value and of one list. Exceeding them is an error; nothing is read in part. */
export const registryLimits = { valueBytes: 64 * 1024, values: 4096, keys: 4096, depth: 32 } as const
/** Windows limits the name of a key to 255 characters and the name of a value to 16,383. */
const MAX_KEY_NAME = 255
const MAX_VALUE_NAME = 16_383

/**
 * `registry_denied`: Windows refused access. `registry_type`: the value has another type than expected or is malformed.
 * `registry_too_large`: beyond `registryLimits`. `registry_name`: Windows allows no such key or name.
 * `registry_failed`: any other status.
 */
export type RegistryFaultCode =
  | 'registry_denied'
  | 'registry_type'
  | 'registry_too_large'
  | 'registry_name'
  | 'registry_failed'

/** A registry access that failed, with a code for reports. */
export class RegistryFault extends Error {
  readonly code: RegistryFaultCode
  /** Status of Windows; 0 if the agent refused the access itself. */
  readonly status: number
  constructor(code: RegistryFaultCode, message: string, status = 0) {
    super(message)
    this.name = 'RegistryFault'
    this.code = code
    this.status = status
  }
}

const checkKey = (key: RegistryKey): void => {
  const [hive = '', ...names] = key.split('\\')
  const isValid =
    Object.hasOwn(HIVES, hive) &&
    names.length > 0 &&
    names.length <= registryLimits.depth &&
    names.every((name) => name !== '' && name.length <= MAX_KEY_NAME && !name.includes('\0'))
  if (!isValid) throw new RegistryFault('registry_name', `${JSON.stringify(key.slice(0, 300))} is not a registry key.`)
}

const checkName = (name: string): void => {
  if (name.length > MAX_VALUE_NAME || name.includes('\0'))
    throw new RegistryFault('registry_name', `${JSON.stringify(name.slice(0, 300))} is not the name of a value.`)
}

const isMissing = (status: number): boolean =>
  status === STATUS.missing || status === STATUS.pathMissing || status === STATUS.keyDeleted

const check = (status: number, what: string): void => {
  if (status === STATUS.ok) return
  if (status === STATUS.denied) throw new RegistryFault('registry_denied', `Windows denied access to ${what}.`, status)
  if (status === STATUS.moreData)
    throw new RegistryFault('registry_too_large', `${what} exceeds the limits of the agent.`, status)
  throw new RegistryFault('registry_failed', `Windows returned error ${status} for ${what}.`, status)
}

const utf16 = (data: Uint8Array): string =>
  Buffer.from(data.buffer, data.byteOffset, data.byteLength).toString('utf16le')

/** Decodes a text up to its first NUL. Windows does not guarantee a NUL at the end. Undefined for another type. */
export const textOf = ({ type, data }: RegistryValue): string | undefined => {
  if ((type !== VALUE_TYPES.text && type !== VALUE_TYPES.expandable) || data.length % 2 !== 0) return undefined
  const text = utf16(data)
  const end = text.indexOf('\0')
  return end === -1 ? text : text.slice(0, end)
}

/** Undefined for another type. */
export const dwordOf = ({ type, data }: RegistryValue): number | undefined =>
  type === VALUE_TYPES.dword && data.length === 4
    ? Buffer.from(data.buffer, data.byteOffset, 4).readUInt32LE()
    : undefined

export const textValue = (text: string): RegistryValue => ({
  type: VALUE_TYPES.text,
  data: Buffer.from(`${text}\0`, 'utf16le'),
})

export const dwordValue = (value: number): RegistryValue => {
  const data = Buffer.alloc(4)
  data.writeUInt32LE(value)
  return { type: VALUE_TYPES.dword, data }
}

const isSame = (a: RegistryValue, b: RegistryValue): boolean =>
  a.type === b.type && Buffer.compare(a.data, b.data) === 0

/**
 * Creates typed access to the registry. All functions throw a `RegistryFault` if Windows refuses or a limit is exceeded.
 * Keys and names are case-insensitive, and the view is always the 64-bit one.
 */
export const createRegistry = (raw: RawRegistry) => {
  function read(key: RegistryKey, name: string): RegistryValue | undefined {
    checkKey(key)
    checkName(name)
    const { status, value } = raw.query(key, name)
    if (isMissing(status)) return undefined
    check(status, `${key} ${name}`)
    return value
  }

  function readAs<T>(key: RegistryKey, name: string, decode: (value: RegistryValue) => T | undefined): T | undefined {
    const value = read(key, name)
    if (value === undefined) return undefined
    const decoded = decode(value)
    if (decoded === undefined)
      throw new RegistryFault('registry_type', `${key} ${name} has the unexpected type ${value.type}.`)
    return decoded
  }

  function write(key: RegistryKey, name: string, value: RegistryValue): void {
    checkKey(key)
    checkName(name)
    if (value.data.length > registryLimits.valueBytes)
      throw new RegistryFault('registry_too_large', `The value for ${key} ${name} has ${value.data.length} bytes.`)
    check(raw.set(key, name, value), `${key} ${name}`)
  }

  function list(key: RegistryKey): NamedValue[] {
    checkKey(key)
    const { status, values } = raw.values(key)
    if (isMissing(status)) return []
    check(status, key)
    return values
  }

  return {
    /** Returns a value as it is, or undefined if the key or the value is missing. */
    read,
    /** Returns a REG_DWORD, or undefined if it is missing. */
    readDword: (key: RegistryKey, name: string): number | undefined => readAs(key, name, dwordOf),
    /** Returns a REG_SZ or REG_EXPAND_SZ without expanding it, or undefined if it is missing. */
    readText: (key: RegistryKey, name: string): string | undefined => readAs(key, name, textOf),
    /** Returns all values of a key; none if the key is missing. */
    list,
    /** Returns the names of the keys below a key; none if the key is missing. */
    keys(key: RegistryKey): string[] {
      checkKey(key)
      const { status, names } = raw.keys(key)
      if (isMissing(status)) return []
      check(status, key)
      return names
    },
    /** Writes a value and creates its key if necessary. */
    write,
    writeDword: (key: RegistryKey, name: string, value: number): void => write(key, name, dwordValue(value)),
    writeText: (key: RegistryKey, name: string, text: string): void => write(key, name, textValue(text)),
    /** Creates a key that exists, with its values, until Windows restarts. Does nothing if the key exists. */
    createVolatile(key: RegistryKey): void {
      checkKey(key)
      check(raw.createVolatile(key), key)
    },
    /** Removes a value. Does nothing if it is missing. */
    remove(key: RegistryKey, name: string): void {
      checkKey(key)
      checkName(name)
      const status = raw.remove(key, name)
      if (!isMissing(status)) check(status, `${key} ${name}`)
    },
    /** Removes a key with everything below it. Does nothing if it is missing. Never removes a key of the first level. */
    removeTree(key: RegistryKey): void {
      checkKey(key)
      if (key.split('\\').length < 3)
        throw new RegistryFault('registry_name', `The agent does not remove the key ${key}.`)
      const status = raw.removeTree(key)
      if (!isMissing(status)) check(status, key)
    },
    /** Writes the changes of a key to the disk, so that they survive a power loss. */
    flush(key: RegistryKey): void {
      checkKey(key)
      check(raw.flush(key), key)
    },
    /** Returns whether a value reads back as written. False if it is missing or cannot be read. */
    holds(key: RegistryKey, name: string, expected: RegistryValue): boolean {
      try {
        const found = read(key, name)
        return found !== undefined && isSame(found, expected)
      } catch {
        return false
      }
    },
  }
}
export type Registry = ReturnType<typeof createRegistry>
