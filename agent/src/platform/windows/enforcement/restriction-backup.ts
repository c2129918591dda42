/** Saves the values that the agent replaces in the restrictions. The registry contains them before the agent writes. */
import { type Registry, type RegistryKey, textOf } from '../registry.ts'
import {
  FIXED_LISTS,
  fold,
  LISTS,
  type ListName,
  listKey,
  OWN_KEY,
  OWNER_ID,
  RESTRICTIONS,
  SWITCHES,
  TOUCHED,
} from './restriction-keys.ts'

const SAVED = 'Before'
/** What the agent wrote: switches as values, and a key with the entries of each list. Updated before each write. */
export const WRITTEN: RegistryKey = `${OWN_KEY}\\Written`
export const writtenKey = (list: ListName): RegistryKey => `${WRITTEN}\\${list}`
/** Maximum number of existing values that the agent saves. */
const MAX_SAVED = 256
export const ON = 1

export interface SavedValue {
  key: RegistryKey
  name: string
  type: number
  /** Hexadecimal. */
  data: string
  /** True if another program set it while the host was armed, and the agent replaced it. */
  isLater?: boolean
}

/** The values that the agent replaces. */
export interface Saved {
  /** Keys that did not exist. */
  missing: RegistryKey[]
  values: SavedValue[]
}

/** Saved values that were tampered with must not make the agent write to other keys. */
const isTouched = (key: unknown): boolean => TOUCHED.some((one) => one === key)

const isSaved = (value: unknown): value is Saved => {
  const saved = value as Partial<Saved> | null
  return (
    typeof saved === 'object' &&
    saved !== null &&
    Array.isArray(saved.missing) &&
    Array.isArray(saved.values) &&
    [...saved.missing, ...saved.values.map((one) => one?.key)].every(isTouched) &&
    saved.values.every(
      (one) => typeof one.name === 'string' && typeof one.data === 'string' && Number.isInteger(one.type),
    )
  )
}

/** Returns the saved values. `damaged` if they cannot be read. */
export const savedOf = (registry: Registry): Saved | 'damaged' | undefined => {
  const value = registry.read(OWN_KEY, SAVED)
  if (value === undefined) return undefined
  try {
    const saved: unknown = JSON.parse(textOf(value) ?? '')
    return isSaved(saved) ? saved : 'damaged'
  } catch {
    return 'damaged'
  }
}

export const exists = (registry: Registry, key: RegistryKey): boolean => {
  const at = key.lastIndexOf('\\')
  return registry.keys(key.slice(0, at) as RegistryKey).some((name) => fold(name) === fold(key.slice(at + 1)))
}

/** Returns whether the restrictions contain the mark of the agent. */
const isMarked = (registry: Registry): boolean =>
  registry.list(listKey('AllowDeviceIDs')).some((value) => fold(textOf(value) ?? '') === OWNER_ID)

/** Returns whether the registry contains restrictions of the agent, complete or not, or saved values. */
export const isOwned = (registry: Registry): boolean =>
  registry.read(OWN_KEY, SAVED) !== undefined || isMarked(registry)

/** Returns whether the previous values are saved, so that the agent may write. */
export const isPrepared = (registry: Registry): boolean => {
  const saved = savedOf(registry)
  return saved !== undefined && saved !== 'damaged'
}

/**
 * Saves the values that the agent is about to overwrite. Does nothing if they are saved already.
 *
 * @throws if they cannot be saved; the agent must not write then
 */
export const saveBefore = (registry: Registry): void => {
  if (isPrepared(registry)) return
  // A mark without saved values: the previous values are lost, and Windows has none by default.
  const isLeftOver = isMarked(registry)
  const values = isLeftOver
    ? []
    : [
        ...SWITCHES.flatMap((name) => {
          const value = registry.read(RESTRICTIONS, name)
          return value === undefined ? [] : [{ key: RESTRICTIONS, name, ...value }]
        }),
        ...LISTS.flatMap((list) => registry.list(listKey(list)).map((value) => ({ key: listKey(list), ...value }))),
      ]
  if (values.length > MAX_SAVED)
    throw new Error(
      `${RESTRICTIONS} has more than ${MAX_SAVED} values that the agent did not set. Remove some before you arm this host.`,
    )
  if (isLeftOver) noteAll(registry)
  else registry.removeTree(WRITTEN)
  const saved: Saved = {
    missing: TOUCHED.filter((key) => isLeftOver || !exists(registry, key)),
    values: values.map(({ key, name, type, data }) => ({ key, name, type, data: Buffer.from(data).toString('hex') })),
  }
  putSaved(registry, saved)
  if (!isPrepared(registry)) throw new Error(`Windows did not keep the values that the agent saved in ${OWN_KEY}.`)
}

export function putSaved(registry: Registry, saved: Saved): void {
  registry.writeText(OWN_KEY, SAVED, JSON.stringify(saved))
  registry.flush(OWN_KEY)
}

/** Records all entries and switches as written by the agent, because its own records are lost. */
function noteAll(registry: Registry): void {
  for (const list of LISTS)
    for (const value of registry.list(listKey(list))) {
      const text = textOf(value)
      if (FIXED_LISTS[list] === undefined && text !== undefined) registry.writeText(writtenKey(list), value.name, text)
    }
  for (const name of SWITCHES)
    if (registry.read(RESTRICTIONS, name) !== undefined) registry.writeText(WRITTEN, name, '')
}
