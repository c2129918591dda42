/**
 * Distinguishes the values that the agent wrote to the restrictions from foreign values. The agent records each value
 * before it writes it. Every other value belongs to Group Policy, an MDM or an administrator, even if it arrived later.
 */
import { dwordOf, type NamedValue, type Registry, type RegistryKey, type RegistryValue, textOf } from '../registry.ts'
import { ON, putSaved, type Saved, type SavedValue, savedOf, WRITTEN, writtenKey } from './restriction-backup.ts'
import {
  FIXED_LISTS,
  fold,
  type ListName,
  listKey,
  RESTRICTIONS,
  type SwitchName,
  TOUCHED,
} from './restriction-keys.ts'

const isSame = (a: RegistryValue, b: RegistryValue): boolean =>
  a.type === b.type && Buffer.compare(a.data, b.data) === 0

/** The values of a list by their origin. */
export interface ListContents {
  /** Entries of the agent, by name. */
  own: Map<string, string>
  /** Names of values from before the host was armed. The agent saved them. */
  saved: string[]
  /** Values of Group Policy, an MDM or an administrator that the agent did not save. */
  foreign: NamedValue[]
}

/** Distinguishes the values of the agent from foreign values. Reads the registry at each call. */
export const createLedger = (registry: Registry) => {
  const found = savedOf(registry)
  // Without saved values, the agent was interrupted or its key was removed: everything counts as its own.
  const ownsAll = found === undefined
  let saved: Saved = found === undefined || found === 'damaged' ? { missing: [...TOUCHED], values: [] } : found

  const decoded = ({ type, data }: SavedValue): RegistryValue => ({ type, data: Buffer.from(data, 'hex') })
  const isAt = (one: SavedValue, key: RegistryKey, name: string): boolean =>
    one.key === key && fold(one.name) === fold(name)
  /** Returns the value to restore. */
  const before = (key: RegistryKey, name: string): RegistryValue | undefined => {
    const value = saved.values.find((one) => isAt(one, key, name))
    return value && decoded(value)
  }
  const isFromBefore = (key: RegistryKey, { name, ...value }: NamedValue): boolean =>
    saved.values.some((one) => isAt(one, key, name) && one.isLater !== true && isSame(decoded(one), value))

  function contents(list: ListName): ListContents {
    const key = listKey(list)
    const fixed = FIXED_LISTS[list]
    const written = new Map(
      fixed === undefined ? registry.list(writtenKey(list)).map((value) => [value.name, textOf(value)]) : [],
    )
    const isOwn = (name: string, text: string | undefined): text is string => {
      if (text === undefined) return false
      if (ownsAll) return true
      if (fixed === undefined) return written.get(name) === text
      const slot = Number(name)
      return String(slot) === name && fixed[(slot - 1) % fixed.length] === text
    }
    const result: ListContents = { own: new Map(), saved: [], foreign: [] }
    for (const value of registry.list(key)) {
      const text = textOf(value)
      if (isOwn(value.name, text)) result.own.set(value.name, text)
      else if (isFromBefore(key, value) || ownsAll) result.saved.push(value.name)
      else result.foreign.push(value)
    }
    return result
  }

  const isNoted = (name: SwitchName): boolean => ownsAll || registry.read(WRITTEN, name) !== undefined
  /** Returns who set a switch: `saved` is a value from before the host was armed. */
  const owner = (name: SwitchName): 'nobody' | 'agent' | 'saved' | 'other' => {
    const value = registry.read(RESTRICTIONS, name)
    if (value === undefined) return 'nobody'
    if (dwordOf(value) === ON && isNoted(name)) return 'agent'
    return ownsAll || isFromBefore(RESTRICTIONS, { name, ...value }) ? 'saved' : 'other'
  }

  const isDynamic = (list: ListName): boolean => !ownsAll && FIXED_LISTS[list] === undefined

  function removeLater(name: SwitchName): void {
    if (!saved.values.some((one) => isAt(one, RESTRICTIONS, name) && one.isLater === true)) return
    saved = { ...saved, values: saved.values.filter((one) => !isAt(one, RESTRICTIONS, name)) }
    putSaved(registry, saved)
  }

  /** Removes the saved value of another program if that program has removed its switch in the meantime. */
  function dropWithdrawn(name: SwitchName): void {
    if (owner(name) === 'nobody' && isNoted(name)) removeLater(name)
  }

  function put(key: RegistryKey, name: string, value: RegistryValue | undefined): void {
    if (value === undefined) registry.remove(key, name)
    else if (!registry.holds(key, name, value)) registry.write(key, name, value)
  }
  const isAs = (key: RegistryKey, name: string, value: RegistryValue | undefined): boolean =>
    value === undefined ? registry.read(key, name) === undefined : registry.holds(key, name, value)

  /** Saves a switch that another program set while the host was armed. It is restored instead of an older value. */
  function keepLater(name: SwitchName, { type, data }: RegistryValue): void {
    const later = { key: RESTRICTIONS, name, type, data: Buffer.from(data).toString('hex'), isLater: true }
    saved = { ...saved, values: [...saved.values.filter((one) => !isAt(one, RESTRICTIONS, name)), later] }
    putSaved(registry, saved)
  }

  return {
    contents,
    owner,
    before,
    /** Returns the keys that did not exist, parents first. */
    missing: (): readonly RegistryKey[] => saved.missing,
    savedValues: (key: RegistryKey): readonly Pick<SavedValue, 'name'>[] =>
      saved.values.filter((one) => one.key === key),
    /** Restores a saved value unless another program wrote a new one. Returns false if Windows did not restore it. */
    restore(key: RegistryKey, name: string): boolean {
      if (registry.read(key, name) === undefined) put(key, name, before(key, name))
      return registry.read(key, name) !== undefined
    },
    /** Returns the names of foreign switches that the agent replaced. */
    replaced: (): string[] =>
      saved.values
        .filter((one) => one.key === RESTRICTIONS && (one.isLater === true || dwordOf(decoded(one)) !== 0))
        .map(({ name }) => name),
    /** Turns a switch on. Saves a foreign value first. */
    turnOn(name: SwitchName): void {
      dropWithdrawn(name)
      const value = registry.read(RESTRICTIONS, name)
      const by = owner(name)
      if (by === 'agent') return
      if (by === 'other' && value !== undefined) keepLater(name, value)
      if (!ownsAll) registry.writeText(WRITTEN, name, '')
      if (value === undefined || dwordOf(value) !== ON) registry.writeDword(RESTRICTIONS, name, ON)
    },
    /**
     * Restores the previous value of a switch, unless another program set it.
     *
     * @param leaves true if the switch stays on because it also applies to foreign entries
     * @returns false if Windows did not restore it
     */
    release(name: SwitchName, leaves: boolean): boolean {
      dropWithdrawn(name)
      const value = before(RESTRICTIONS, name)
      const by = owner(name)
      if (by === 'other' || by === 'saved' || (by === 'nobody' && value === undefined)) return true
      if (by === 'nobody' || !leaves) {
        put(RESTRICTIONS, name, value)
        if (!isAs(RESTRICTIONS, name, value) && owner(name) !== 'other') return false
      }
      if (by === 'agent' && !ownsAll) registry.remove(WRITTEN, name)
      removeLater(name)
      return true
    },
    /**
     * Writes an entry.
     *
     * @returns false if another program took its slot in the meantime
     */
    add(list: ListName, name: string, text: string): boolean {
      if (registry.read(listKey(list), name) !== undefined) return false
      if (isDynamic(list)) registry.writeText(writtenKey(list), name, text)
      registry.writeText(listKey(list), name, text)
      return true
    },
    /**
     * Removes an entry of the agent, or restores the value that it replaced.
     *
     * @param text the entry; stays unchanged if another program overwrote it
     * @returns false if Windows did not restore it
     */
    drop(list: ListName, name: string, text: string, value?: RegistryValue): boolean {
      const key = listKey(list)
      const now = registry.read(key, name)
      if (now !== undefined && textOf(now) === text) {
        put(key, name, value)
        const left = registry.read(key, name)
        if (!isAs(key, name, value) && left !== undefined && textOf(left) === text) return false
      }
      if (isDynamic(list)) registry.remove(writtenKey(list), name)
      return true
    },
  }
}
export type Ledger = ReturnType<typeof createLedger>
