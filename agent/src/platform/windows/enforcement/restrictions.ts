/**
 * The Device Installation Restrictions of Windows (Policy CSP DeviceInstallation). Writes the values of the agent,
 * recognises values that it did not set, and restores the previous ones.
 */
import { dwordOf, type Registry, type RegistryKey, type RegistryValue, textOf, textValue } from '../registry.ts'

const DEVICE_INSTALL = 'HKLM\\Software\\Policies\\Microsoft\\Windows\\DeviceInstall'
export const RESTRICTIONS: RegistryKey = `${DEVICE_INSTALL}\\Restrictions`
/** The agent's own key: the previous values, and the devices that the lists contain. */
export const OWN_KEY: RegistryKey = 'HKLM\\Software\\PortcullisEnforcement'
const MDM_KEY: RegistryKey = 'HKLM\\Software\\Microsoft\\PolicyManager\\current\\device\\DeviceInstallation'
const SAVED = 'Before'

/**
 * The lists of the agent. Each is a value with the number 1 and a key of the same name with the entries `1`, `2`, ….
 * Device IDs are hardware and compatible IDs.
 */
const FIRST_LISTS = ['AllowDeviceIDs', 'AllowInstanceIDs', 'DenyInstanceIDs'] as const
const LISTS = [...FIRST_LISTS, 'DenyDeviceIDs'] as const
type ListName = (typeof LISTS)[number]
/** In the order of writing: without `AllowDenyLayered`, a deny would override every allow. */
const SWITCHES = [...FIRST_LISTS, 'AllowDenyLayered', 'DenyDeviceIDs', 'DenyRemovableDevices'] as const

/** Hubs. Without them, no device of a dock works. */
const HUB_IDS = ['USB\\Class_09', 'USB\\USB20_HUB', 'USB\\USB30_HUB'] as const
const HUB_CLASS = 0x09
/**
 * Devices and functions of every other class. `DenyRemovableDevices` alone is not enough: the hub of a device reports
 * whether the device is removable, and an attacker can bring a hub. Allowed instances take precedence.
 */
const DENIED_IDS: readonly string[] = [
  ...['USB\\COMPOSITE', 'USB\\DevClass_00', 'USB\\DevClass_EF'],
  ...Array.from({ length: 256 }, (_, number) => number)
    .filter((number) => number !== HUB_CLASS)
    .map((number) => `USB\\Class_${number.toString(16).toUpperCase().padStart(2, '0')}`),
]
/** Marks the policy as set by the agent. No device has this ID. */
const OWNER_ID = 'PORTCULLIS\\MANAGED'
const DEVICE_IDS = [...HUB_IDS, OWNER_ID]

/** Maximum entries of the lists of the agent. A host with all ports of a large dock in use has fewer than 100. */
export const MAX_ALLOWED = 512
export const MAX_DENIED = 128
/** Maximum number of existing values that the agent saves. */
const MAX_SAVED = 256

/** The devices that the lists contain. */
export interface Wanted {
  /** Instance IDs that Windows may install. */
  allowed: readonly string[]
  /** Instance IDs that Windows must not install, although a rule for hubs or for built-in devices would allow them. */
  denied: readonly string[]
}

const listKey = (name: ListName): RegistryKey => `${RESTRICTIONS}\\${name}`
const fold = (text: string): string => text.toUpperCase()

const wantedLists = ({ allowed, denied }: Wanted): Record<ListName, readonly string[]> => ({
  AllowDeviceIDs: DEVICE_IDS,
  AllowInstanceIDs: allowed,
  DenyInstanceIDs: denied,
  DenyDeviceIDs: DENIED_IDS,
})

/** Returns the slot number of an entry; undefined for other values. */
const slotOf = (name: string): number | undefined => (/^[1-9][0-9]{0,4}$/.test(name) ? Number(name) : undefined)

const entriesOf = (registry: Registry, name: ListName): Map<string, string> =>
  new Map(registry.list(listKey(name)).map((value) => [value.name, textOf(value) ?? '']))

const isSwitchedOn = (registry: Registry, name: (typeof SWITCHES)[number]): boolean => {
  const value = registry.read(RESTRICTIONS, name)
  return value !== undefined && dwordOf(value) === 1
}

const isSwitchOff = (registry: Registry, name: (typeof SWITCHES)[number]): boolean =>
  registry.read(RESTRICTIONS, name) === undefined

/** Returns whether the registry holds exactly these restrictions. */
export const holdsRestrictions = (registry: Registry, wanted: Wanted): boolean => {
  const lists = wantedLists(wanted)
  for (const name of LISTS) {
    const found = registry.list(listKey(name))
    if (found.length !== lists[name].length) return false
    const texts = new Set(found.flatMap((value) => (slotOf(value.name) === undefined ? [] : fold(textOf(value) ?? ''))))
    if (lists[name].some((id) => !texts.has(fold(id)))) return false
    if (lists[name].length === 0 ? !isSwitchOff(registry, name) : !isSwitchedOn(registry, name)) return false
  }
  return isSwitchedOn(registry, 'AllowDenyLayered') && isSwitchedOn(registry, 'DenyRemovableDevices')
}

/**
 * Assigns entries to slots. An unchanged entry keeps its slot. A moved entry is written before its old slot is removed,
 * so no entry is lost if the agent is killed in between.
 */
const slotsOf = (found: ReadonlyMap<string, string>, ids: readonly string[]): string[] => {
  const open = new Map(ids.map((id) => [fold(id), id]))
  const slots: (string | undefined)[] = ids.map((_, index) => {
    const id = open.get(fold(found.get(String(index + 1)) ?? ''))
    if (id !== undefined) open.delete(fold(id))
    return id
  })
  const rest = [...open.values()]
  return slots.map((id) => id ?? rest.shift() ?? '')
}

function writeList(registry: Registry, name: ListName, ids: readonly string[]): void {
  const found = entriesOf(registry, name)
  if (ids.length === 0 && !isSwitchOff(registry, name)) registry.remove(RESTRICTIONS, name)
  for (const [index, id] of slotsOf(found, ids).entries()) {
    const slot = String(index + 1)
    if (!registry.holds(listKey(name), slot, textValue(id))) registry.writeText(listKey(name), slot, id)
  }
  for (const slot of found.keys()) {
    const number = slotOf(slot)
    if (number === undefined || number > ids.length) registry.remove(listKey(name), slot)
  }
  if (ids.length > 0 && !isSwitchedOn(registry, name)) registry.writeDword(RESTRICTIONS, name, 1)
}

/**
 * Writes restrictions and reads them back. Writes only what differs.
 *
 * @throws if Windows refuses, or if the registry holds something else afterwards
 */
export const writeRestrictions = (registry: Registry, wanted: Wanted): void => {
  if (wanted.allowed.length > MAX_ALLOWED || wanted.denied.length > MAX_DENIED)
    throw new Error(`Too many devices: the limit is ${MAX_ALLOWED} allowed and ${MAX_DENIED} denied devices.`)
  const lists = wantedLists(wanted)
  for (const name of FIRST_LISTS) writeList(registry, name, lists[name])
  if (!isSwitchedOn(registry, 'AllowDenyLayered')) registry.writeDword(RESTRICTIONS, 'AllowDenyLayered', 1)
  writeList(registry, 'DenyDeviceIDs', lists.DenyDeviceIDs)
  if (!isSwitchedOn(registry, 'DenyRemovableDevices')) registry.writeDword(RESTRICTIONS, 'DenyRemovableDevices', 1)
  if (!holdsRestrictions(registry, wanted))
    throw new Error(`Windows did not keep the values that the agent wrote to ${RESTRICTIONS}.`)
}

/** The previous values that the agent overwrites. */
interface Saved {
  /** Keys that did not exist. */
  missing: RegistryKey[]
  values: { key: RegistryKey; name: string; type: number; data: string }[]
}

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

/** Keys that the agent writes to, parents first. */
const TOUCHED: readonly RegistryKey[] = [DEVICE_INSTALL, RESTRICTIONS, ...LISTS.map(listKey)]
/** Saved values that were tampered with must not make the agent write to other keys. */
const isTouched = (key: unknown): boolean => TOUCHED.some((one) => one === key)

const exists = (registry: Registry, key: RegistryKey): boolean => {
  const at = key.lastIndexOf('\\')
  return registry.keys(key.slice(0, at) as RegistryKey).some((name) => fold(name) === fold(key.slice(at + 1)))
}

/** Returns the saved values. `damaged` if they cannot be read. */
const savedOf = (registry: Registry): Saved | 'damaged' | undefined => {
  const value = registry.read(OWN_KEY, SAVED)
  if (value === undefined) return undefined
  try {
    const saved: unknown = JSON.parse(textOf(value) ?? '')
    return isSaved(saved) ? saved : 'damaged'
  } catch {
    return 'damaged'
  }
}

/** Returns whether the restrictions contain the mark of the agent. */
const isMarked = (registry: Registry): boolean =>
  [...entriesOf(registry, 'AllowDeviceIDs').values()].some((id) => fold(id) === OWNER_ID)

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
  const saved: Saved = {
    missing: TOUCHED.filter((key) => isLeftOver || !exists(registry, key)),
    values: values.map(({ key, name, type, data }) => ({ key, name, type, data: Buffer.from(data).toString('hex') })),
  }
  registry.writeText(OWN_KEY, SAVED, JSON.stringify(saved))
  registry.flush(OWN_KEY)
  if (!isPrepared(registry)) throw new Error(`Windows did not keep the values that the agent saved in ${OWN_KEY}.`)
}

/**
 * Restores the values that `saveBefore` saved and removes everything else that the agent wrote. Removes the default
 * deny before the lists.
 *
 * @throws if Windows refuses, or if the registry holds something else afterwards
 */
export const restoreBefore = (registry: Registry): void => {
  const found = savedOf(registry)
  if (found === undefined && !isMarked(registry)) return
  const saved: Saved = found === undefined || found === 'damaged' ? { missing: [...TOUCHED], values: [] } : found
  const before = (key: RegistryKey, name: string): RegistryValue | undefined => {
    const value = saved.values.find((one) => one.key === key && fold(one.name) === fold(name))
    return value && { type: value.type, data: Buffer.from(value.data, 'hex') }
  }
  function put(key: RegistryKey, name: string): void {
    const value = before(key, name)
    if (value === undefined) registry.remove(key, name)
    else if (!registry.holds(key, name, value)) registry.write(key, name, value)
  }
  for (const name of SWITCHES.toReversed()) put(RESTRICTIONS, name)
  for (const list of LISTS.toReversed()) {
    for (const { name } of registry.list(listKey(list)))
      if (before(listKey(list), name) === undefined) registry.remove(listKey(list), name)
    for (const { key, name } of saved.values) if (key === listKey(list)) put(key, name)
  }
  for (const key of saved.missing.toReversed())
    if (exists(registry, key) && registry.list(key).length === 0 && registry.keys(key).length === 0)
      registry.removeTree(key)
  const isRestored =
    SWITCHES.every((name) => holdsAsBefore(registry, RESTRICTIONS, name, before(RESTRICTIONS, name))) &&
    saved.values.every(({ key, name }) => holdsAsBefore(registry, key, name, before(key, name)))
  if (!isRestored) throw new Error(`Windows did not restore the previous values of ${RESTRICTIONS}.`)
  // Last, because it shows that a restore is needed.
  for (const name of registry.keys(OWN_KEY)) registry.removeTree(`${OWN_KEY}\\${name}`)
  registry.removeTree(OWN_KEY)
}

const holdsAsBefore = (
  registry: Registry,
  key: RegistryKey,
  name: string,
  value: RegistryValue | undefined,
): boolean => (value === undefined ? registry.read(key, name) === undefined : registry.holds(key, name, value))

const quoted = (name: string): string => JSON.stringify(name.slice(0, 100))

/**
 * Returns why the restrictions are managed by Group Policy, an MDM or an administrator. Ignores values without an
 * effect, such as a switch with the number 0 or a list without its switch. The agent saves and restores them.
 */
export const foreignRestriction = (registry: Registry): string | undefined => {
  const isOurs = isOwned(registry)
  const values = registry.list(RESTRICTIONS)
  for (const value of values) {
    const isOwnName = SWITCHES.some((name) => fold(name) === fold(value.name))
    if ((isOurs && isOwnName) || dwordOf(value) === 0) continue
    return `The value ${quoted(value.name)} of ${RESTRICTIONS} is set by Group Policy, an MDM or an administrator. Remove it there before you arm this host.`
  }
  for (const { name } of registry.list(MDM_KEY)) {
    if (/_(ProviderSet|WinningProvider)$/i.test(name)) continue
    return `An MDM sets ${quoted(name)} (${MDM_KEY}). Remove this policy from the host before you arm it.`
  }
  return undefined
}

/** A device that the restrictions apply to. */
export interface Candidate {
  instanceId: string
  hardwareIds: readonly string[]
  compatibleIds: readonly string[]
  /** Whether its hub reports it as removable. If unknown, assume that it is not. */
  isRemovable: boolean
}

/** Returns whether the restrictions of the agent keep this device from getting a driver (layered evaluation). */
export const isDenied = ({ allowed, denied }: Wanted, device: Candidate): boolean => {
  const has = (list: readonly string[]): boolean => list.some((id) => fold(id) === fold(device.instanceId))
  if (has(denied)) return true
  if (has(allowed)) return false
  const ids = new Set([...device.hardwareIds, ...device.compatibleIds].map(fold))
  if (DENIED_IDS.some((id) => ids.has(fold(id)))) return true
  return !HUB_IDS.some((id) => ids.has(fold(id))) && device.isRemovable
}
