/**
 * Writes the Device Installation Restrictions of the agent, recognises values that it did not set, and restores the
 * previous ones. Does not change values of Group Policy, an MDM or an administrator.
 */
import { dwordOf, type Registry, type RegistryKey, textOf } from '../registry.ts'
import { exists, isOwned } from './restriction-backup.ts'
import {
  DENIED_IDS,
  FIRST_LISTS,
  FIXED_LISTS,
  fold,
  HUB_IDS,
  LISTS,
  type ListName,
  listKey,
  MDM_KEY,
  OWN_KEY,
  RESTRICTIONS,
  SWITCHES,
} from './restriction-keys.ts'
import { createLedger, type Ledger, type ListContents } from './restriction-ledger.ts'

/** Maximum entries of the lists of the agent. A host with all ports of a large dock in use has fewer than 100. */
export const MAX_ALLOWED = 512
export const MAX_DENIED = 128
/** Attempts to write while another program changes the same values. */
const MAX_ATTEMPTS = 3

/** The devices that the lists contain. */
export interface Wanted {
  /** Instance IDs that Windows may install. */
  allowed: readonly string[]
  /** Instance IDs that Windows must not install, although a rule for hubs or for built-in devices would allow them. */
  denied: readonly string[]
}

const wantedLists = ({ allowed, denied }: Wanted): Record<ListName, readonly string[]> => ({
  AllowDeviceIDs: FIXED_LISTS.AllowDeviceIDs ?? [],
  AllowInstanceIDs: allowed,
  DenyInstanceIDs: denied,
  DenyDeviceIDs: DENIED_IDS,
})

const isListHeld = (ledger: Ledger, name: ListName, ids: readonly string[]): boolean => {
  const { own, saved } = ledger.contents(name)
  const texts = new Set([...own.values()].map(fold))
  return (
    saved.length === 0 &&
    own.size === ids.length &&
    ids.every((id) => texts.has(fold(id))) &&
    (ledger.owner(name) === 'agent') === ids.length > 0
  )
}

/** Returns whether the registry holds exactly these restrictions, apart from foreign values. */
export const holdsRestrictions = (registry: Registry, wanted: Wanted): boolean => {
  const ledger = createLedger(registry)
  const lists = wantedLists(wanted)
  return (
    LISTS.every((name) => isListHeld(ledger, name, lists[name])) &&
    ledger.owner('AllowDenyLayered') === 'agent' &&
    ledger.owner('DenyRemovableDevices') === 'agent'
  )
}

/**
 * Assigns entries to slots without foreign entries. An unchanged entry keeps its slot. A moved entry is written before
 * its old slot is removed, so no entry is lost if the agent is killed in between.
 */
const placesOf = (name: ListName, ids: readonly string[], { own, foreign }: ListContents): Map<string, string> => {
  const taken = new Set(foreign.map((value) => value.name))
  const fixed = FIXED_LISTS[name]
  if (fixed !== undefined)
    return new Map(
      fixed.map((id, index) => {
        let slot = index + 1
        while (taken.has(String(slot))) slot += fixed.length
        return [String(slot), id]
      }),
    )
  const slots: string[] = []
  for (let slot = 1; slots.length < ids.length; slot++) if (!taken.has(String(slot))) slots.push(String(slot))
  const open = new Map(ids.map((id) => [fold(id), id]))
  const places = new Map<string, string>()
  for (const slot of slots) {
    const id = open.get(fold(own.get(slot) ?? ''))
    if (id === undefined) continue
    open.delete(fold(id))
    places.set(slot, id)
  }
  const rest = [...open.values()]
  for (const slot of slots) if (!places.has(slot)) places.set(slot, rest.shift() ?? '')
  return places
}

function writeList(registry: Registry, ledger: Ledger, name: ListName, ids: readonly string[]): void {
  const contents = ledger.contents(name)
  const { own, saved, foreign } = contents
  if (ids.length === 0) ledger.release(name, foreign.length > 0)
  for (const slot of saved) registry.remove(listKey(name), slot)
  const places = placesOf(name, ids, contents)
  for (const [slot, id] of places) {
    const text = own.get(slot)
    if (fold(text ?? '') === fold(id)) continue
    if (text !== undefined) ledger.drop(name, slot, text)
    ledger.add(name, slot, id)
  }
  for (const [slot, text] of own) if (!places.has(slot)) ledger.drop(name, slot, text)
  if (ids.length > 0) ledger.turnOn(name)
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
  for (let attempt = 0; attempt < MAX_ATTEMPTS; attempt++) {
    const ledger = createLedger(registry)
    for (const name of FIRST_LISTS) writeList(registry, ledger, name, lists[name])
    ledger.turnOn('AllowDenyLayered')
    writeList(registry, ledger, 'DenyDeviceIDs', lists.DenyDeviceIDs)
    ledger.turnOn('DenyRemovableDevices')
    if (holdsRestrictions(registry, wanted)) return
  }
  throw new Error(`Windows did not keep the values that the agent wrote to ${RESTRICTIONS}.`)
}

/**
 * Restores the values that `saveBefore` saved and removes everything else that the agent wrote. Keeps foreign
 * values that arrived while the host was armed. Removes the default deny before the lists.
 *
 * @throws if Windows refuses, or if the registry holds something else afterwards
 */
export const restoreBefore = (registry: Registry): void => {
  if (!isOwned(registry)) {
    // An agent that was killed while it tested its write access left this key.
    if (exists(registry, OWN_KEY)) registry.removeTree(OWN_KEY)
    return
  }
  const ledger = createLedger(registry)
  let isRestored = true
  for (const name of SWITCHES.toReversed()) {
    const list = LISTS.find((one) => one === name)
    const isShared = list !== undefined && ledger.contents(list).foreign.length > 0
    if (!ledger.release(name, isShared)) isRestored = false
  }
  for (const list of LISTS.toReversed()) {
    const key = listKey(list)
    const { own, saved } = ledger.contents(list)
    for (const [name, text] of own) if (!ledger.drop(list, name, text, ledger.before(key, name))) isRestored = false
    for (const name of saved) if (ledger.before(key, name) === undefined) registry.remove(key, name)
    for (const { name } of ledger.savedValues(key)) if (!ledger.restore(key, name)) isRestored = false
  }
  for (const key of ledger.missing().toReversed())
    if (exists(registry, key) && registry.list(key).length === 0 && registry.keys(key).length === 0)
      registry.removeTree(key)
  if (!isRestored) throw new Error(`Windows did not restore the previous values of ${RESTRICTIONS}.`)
  // Last, because it shows that a restore is needed.
  for (const name of registry.keys(OWN_KEY)) registry.removeTree(`${OWN_KEY}\\${name}`)
  registry.removeTree(OWN_KEY)
}

const quoted = (name: string): string => JSON.stringify(name.slice(0, 100))

const reasonOf = (key: RegistryKey, name: string, isArmed: boolean): string =>
  `The value ${quoted(name)} of ${key} is set by Group Policy, an MDM or an administrator. ${
    isArmed
      ? 'Free this host, remove the value there, and arm the host again.'
      : 'Remove it there before you arm this host.'
  }`

/** Returns a reason if the lists and switches of an armed host contain a foreign value. */
const foreignInside = (ledger: Ledger): string | undefined => {
  const [replaced] = ledger.replaced()
  if (replaced !== undefined) return reasonOf(RESTRICTIONS, replaced, true)
  for (const list of LISTS) {
    const [value] = ledger.contents(list).foreign
    if (value !== undefined) return reasonOf(listKey(list), value.name, true)
  }
  return undefined
}

/**
 * Returns why the restrictions are managed by Group Policy, an MDM or an administrator. On a host that is not armed,
 * ignores values without an effect, such as a switch with the number 0 or a list without its switch: the agent saves and
 * restores them. On an armed host, every foreign value in the lists and switches counts.
 */
export const foreignRestriction = (registry: Registry): string | undefined => {
  const isArmed = isOwned(registry)
  const ledger = createLedger(registry)
  for (const value of registry.list(RESTRICTIONS)) {
    if (dwordOf(value) === 0) continue
    const own = SWITCHES.find((name) => fold(name) === fold(value.name))
    if (isArmed && own !== undefined && ledger.owner(own) !== 'other') continue
    return reasonOf(RESTRICTIONS, value.name, isArmed)
  }
  const inside = isArmed ? foreignInside(ledger) : undefined
  if (inside !== undefined) return inside
  for (const { name } of registry.list(MDM_KEY)) {
    if (/_(ProviderSet|WinningProvider)$/i.test(name)) continue
    return `An MDM sets ${quoted(name)} (${MDM_KEY}). Remove this policy from the host before you arm it.`
  }
  return undefined
}

/** Returns whether a foreign entry allows Windows to install this instance. Only a denial by name prevents it. */
export const isAllowedByOthers = (registry: Registry, instanceId: string): boolean =>
  createLedger(registry)
    .contents('AllowInstanceIDs')
    .foreign.some((value) => fold(textOf(value) ?? '') === fold(instanceId))

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
