import type { Koffi } from './koffi.ts'
import { HIVES, type NamedValue, type RawRegistry, type RegistryKey, registryLimits, STATUS } from './registry.ts'

/** The view of 64-bit programs, even in a 32-bit process. */
const KEY_WOW64_64KEY = 0x100
const KEY_READ = 0x20019 | KEY_WOW64_64KEY
const KEY_SET_VALUE = 0x2 | KEY_WOW64_64KEY
const REG_OPTION_VOLATILE = 1
/** DELETE, KEY_QUERY_VALUE, KEY_SET_VALUE and KEY_ENUMERATE_SUB_KEYS, as RegDeleteTreeW requires. */
const KEY_DELETE_TREE = 0x1000b | KEY_WOW64_64KEY
/** Longest name of a value, with its NUL. */
const NAME_CHARACTERS = 16_384

/** Calls the registry functions of Windows (advapi32.dll). */
export const createRegistryApi = (koffi: Koffi): RawRegistry => {
  const library = koffi.load('advapi32.dll')
  const openKey = library.func('int32 RegOpenKeyExW(intptr k, str16 s, uint32 o, uint32 m, _Out_ uint8_t* r)')
  const createKey = library.func(
    'int32 RegCreateKeyExW(intptr k, str16 s, uint32 z, void* c, uint32 o, uint32 m, void* a, _Out_ uint8_t* r, void* d)',
  )
  const closeKey = library.func('int32 RegCloseKey(intptr k)')
  const flushKey = library.func('int32 RegFlushKey(intptr k)')
  const queryValue = library.func(
    'int32 RegQueryValueExW(intptr k, str16 n, void* z, _Out_ uint8_t* t, _Out_ uint8_t* d, _Inout_ uint8_t* c)',
  )
  const enumValue = library.func(
    'int32 RegEnumValueW(intptr k, uint32 i, _Out_ uint8_t* n, _Inout_ uint8_t* l, void* z, _Out_ uint8_t* t, _Out_ uint8_t* d, _Inout_ uint8_t* c)',
  )
  const enumKey = library.func(
    'int32 RegEnumKeyExW(intptr k, uint32 i, _Out_ uint8_t* n, _Inout_ uint8_t* l, void* z, void* c, void* m, void* w)',
  )
  const setValue = library.func('int32 RegSetValueExW(intptr k, str16 n, uint32 z, uint32 t, uint8_t* d, uint32 c)')
  const deleteValue = library.func('int32 RegDeleteValueW(intptr k, str16 n)')
  const deleteTree = library.func('int32 RegDeleteTreeW(intptr k, str16 s)')

  const data = Buffer.alloc(registryLimits.valueBytes)
  const nameBytes = Buffer.alloc(NAME_CHARACTERS * 2)
  const [type, size, length, handle] = [Buffer.alloc(4), Buffer.alloc(4), Buffer.alloc(4), Buffer.alloc(8)]

  /** Opens a key, passes it to `use` and closes it. Returns the status of the first call that failed. */
  function withKey(key: RegistryKey, open: (hive: bigint, path: string) => unknown, use: (opened: bigint) => number) {
    const at = key.indexOf('\\')
    const status = Number(open(HIVES[key.slice(0, at) as keyof typeof HIVES], key.slice(at + 1)))
    if (status !== STATUS.ok) return status
    const opened = handle.readBigInt64LE()
    try {
      return use(opened)
    } finally {
      closeKey(opened)
    }
  }

  const opening = (access: number) => (hive: bigint, path: string) => openKey(hive, path, 0, access, handle)
  const creating = (options: number) => (hive: bigint, path: string) =>
    createKey(hive, path, 0, null, options, KEY_SET_VALUE, null, handle, null)

  /** Calls `next` until Windows has no more items. A list beyond the limit fails as a whole. */
  function enumerate(limit: number, next: (index: number) => unknown, take: () => void): number {
    for (let index = 0; ; index++) {
      const status = Number(next(index))
      if (status === STATUS.noMoreItems) return STATUS.ok
      if (status !== STATUS.ok) return status
      if (index >= limit) return STATUS.moreData
      take()
    }
  }

  const readName = (): string => nameBytes.toString('utf16le', 0, length.readUInt32LE() * 2)
  const readValue = () => ({ type: type.readUInt32LE(), data: Uint8Array.from(data.subarray(0, size.readUInt32LE())) })

  return {
    query(key, name) {
      size.writeUInt32LE(data.length)
      const status = withKey(key, opening(KEY_READ), (opened) =>
        Number(queryValue(opened, name, null, type, data, size)),
      )
      return status === STATUS.ok ? { status, value: readValue() } : { status }
    },
    values(key) {
      const values: NamedValue[] = []
      const status = withKey(key, opening(KEY_READ), (opened) =>
        enumerate(
          registryLimits.values,
          (index) => {
            length.writeUInt32LE(NAME_CHARACTERS)
            size.writeUInt32LE(data.length)
            return enumValue(opened, index, nameBytes, length, null, type, data, size)
          },
          () => values.push({ name: readName(), ...readValue() }),
        ),
      )
      return { status, values }
    },
    keys(key) {
      const names: string[] = []
      const status = withKey(key, opening(KEY_READ), (opened) =>
        enumerate(
          registryLimits.keys,
          (index) => {
            length.writeUInt32LE(NAME_CHARACTERS)
            return enumKey(opened, index, nameBytes, length, null, null, null, null)
          },
          () => names.push(readName()),
        ),
      )
      return { status, names }
    },
    set: (key, name, value) =>
      withKey(key, creating(0), (opened) =>
        Number(setValue(opened, name, 0, value.type, value.data.length === 0 ? null : value.data, value.data.length)),
      ),
    createVolatile: (key) => withKey(key, creating(REG_OPTION_VOLATILE), () => STATUS.ok),
    remove: (key, name) => withKey(key, opening(KEY_SET_VALUE), (opened) => Number(deleteValue(opened, name))),
    removeTree(key) {
      const at = key.lastIndexOf('\\')
      return withKey(key.slice(0, at) as RegistryKey, opening(KEY_DELETE_TREE), (opened) =>
        Number(deleteTree(opened, key.slice(at + 1))),
      )
    },
    flush: (key) => withKey(key, opening(KEY_READ), (opened) => Number(flushKey(opened))),
  }
}
