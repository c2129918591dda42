/**
 * A registry in memory that behaves like that of Windows. Tests can make it refuse calls, return other values and
 * change.
 */
import {
  createRegistry,
  type NamedValue,
  type RawRegistry,
  type Registry,
  type RegistryKey,
  type RegistryValue,
  STATUS,
} from '../src/platform/windows/registry.ts'

/** Calls that a test can refuse. */
export type RegistryCall = keyof RawRegistry

export interface MemoryRegistry {
  registry: Registry
  raw: RawRegistry
  /** Makes the calls for a key and everything below it fail, with ERROR_ACCESS_DENIED unless another status is given. */
  refuse(key: RegistryKey, calls: readonly RegistryCall[], status?: number): void
  /** Ends all refusals. */
  allow(): void
  /** Makes reads of a value return another one, or nothing, whatever is written. */
  lie(key: RegistryKey, name: string, value: RegistryValue | undefined): void
  /** Called after each change with the key, before the call returns. It can change the registry as another program would. */
  onChange(react: ((key: RegistryKey, name: string | undefined) => void) | undefined): void
  /** Removes the keys that exist until a restart. */
  restart(): void
  /** Returns everything as `KEY\name` with type and hexadecimal data, sorted, with keys in lower case. */
  dump(): Record<string, string>
}

const fold = (text: string): string => text.toLowerCase()
const copyOf = ({ type, data }: RegistryValue): RegistryValue => ({ type, data: new Uint8Array(data) })

/** Creates an empty registry. */
export const createMemoryRegistry = (): MemoryRegistry => {
  /** Values by name in lower case, by key in lower case. */
  const tree = new Map<string, { key: RegistryKey; values: Map<string, NamedValue> }>()
  const volatileKeys = new Set<string>()
  const refusals: { key: string; calls: readonly RegistryCall[]; status: number }[] = []
  const lies = new Map<string, RegistryValue | undefined>()
  let react: ((key: RegistryKey, name: string | undefined) => void) | undefined
  /** Prevents reactions to the changes of a reaction. */
  let isReacting = false

  const isBelow = (key: string, other: string): boolean => key === other || key.startsWith(`${other}\\`)
  const refusalOf = (call: RegistryCall, key: RegistryKey): number | undefined =>
    refusals.find((one) => one.calls.includes(call) && isBelow(fold(key), one.key))?.status

  function changed(key: RegistryKey, name: string | undefined): void {
    if (isReacting) return
    isReacting = true
    try {
      react?.(key, name)
    } finally {
      isReacting = false
    }
  }

  function create(key: RegistryKey): Map<string, NamedValue> {
    const names = key.split('\\')
    for (let depth = 2; depth <= names.length; depth++) {
      const path = names.slice(0, depth).join('\\') as RegistryKey
      if (!tree.has(fold(path))) tree.set(fold(path), { key: path, values: new Map() })
    }
    return tree.get(fold(key))?.values ?? new Map()
  }

  /** Returns what a read sees: the stored value, unless a test replaced it. */
  function shown(key: RegistryKey, name: string, stored: RegistryValue | undefined): RegistryValue | undefined {
    if (lies.size === 0) return stored
    const place = fold(`${key}\\${name}`)
    return lies.has(place) ? lies.get(place) : stored
  }

  const raw: RawRegistry = {
    query(key, name) {
      const refused = refusalOf('query', key)
      if (refused !== undefined) return { status: refused }
      const value = shown(key, name, tree.get(fold(key))?.values.get(fold(name)))
      return value === undefined ? { status: STATUS.missing } : { status: STATUS.ok, value: copyOf(value) }
    },
    values(key) {
      const refused = refusalOf('values', key)
      if (refused !== undefined) return { status: refused, values: [] }
      const found = tree.get(fold(key))
      if (found === undefined) return { status: STATUS.missing, values: [] }
      const values: NamedValue[] = []
      for (const stored of found.values.values()) {
        const value = shown(key, stored.name, stored)
        if (value !== undefined) values.push({ name: stored.name, ...copyOf(value) })
      }
      return { status: STATUS.ok, values }
    },
    keys(key) {
      const refused = refusalOf('keys', key)
      if (refused !== undefined) return { status: refused, names: [] }
      if (!tree.has(fold(key))) return { status: STATUS.missing, names: [] }
      const names = [...tree.values()]
        .map((one) => one.key)
        .filter((one) => isBelow(fold(one), fold(key)) && one.split('\\').length === key.split('\\').length + 1)
        .map((one) => one.slice(key.length + 1))
      return { status: STATUS.ok, names }
    },
    set(key, name, { type, data }) {
      const refused = refusalOf('set', key)
      if (refused !== undefined) return refused
      create(key).set(fold(name), { name, ...copyOf({ type, data }) })
      changed(key, name)
      return STATUS.ok
    },
    createVolatile(key) {
      const refused = refusalOf('createVolatile', key)
      if (refused !== undefined) return refused
      if (!tree.has(fold(key))) volatileKeys.add(fold(key))
      create(key)
      return STATUS.ok
    },
    remove(key, name) {
      const refused = refusalOf('remove', key)
      if (refused !== undefined) return refused
      if (tree.get(fold(key))?.values.delete(fold(name)) !== true) return STATUS.missing
      changed(key, name)
      return STATUS.ok
    },
    removeTree(key) {
      const refused = refusalOf('removeTree', key)
      if (refused !== undefined) return refused
      if (!tree.has(fold(key))) return STATUS.missing
      for (const path of [...tree.keys()]) if (isBelow(path, fold(key))) tree.delete(path)
      changed(key, undefined)
      return STATUS.ok
    },
    flush: (key) => refusalOf('flush', key) ?? (tree.has(fold(key)) ? STATUS.ok : STATUS.missing),
  }

  return {
    registry: createRegistry(raw),
    raw,
    refuse: (key, calls, status = STATUS.denied) => void refusals.push({ key: fold(key), calls, status }),
    allow: () => void refusals.splice(0),
    lie: (key, name, value) => void lies.set(fold(`${key}\\${name}`), value),
    onChange: (next) => {
      react = next
    },
    restart() {
      for (const path of [...tree.keys()]) if ([...volatileKeys].some((key) => isBelow(path, key))) tree.delete(path)
      volatileKeys.clear()
    },
    dump: () =>
      Object.fromEntries(
        [...tree]
          .flatMap(([key, { values }]) =>
            [...values.values()].map(
              ({ name, type, data }) => [`${key}\\${name}`, `${type}:${Buffer.from(data).toString('hex')}`] as const,
            ),
          )
          .sort(([a], [b]) => (a < b ? -1 : 1)),
      ),
  }
}
