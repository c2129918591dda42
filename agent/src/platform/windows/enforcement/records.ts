import type { PolicyDevice } from '@portcullis/domain'
import { MAX_INSTANCE_ID } from '../properties.ts'
import { type Registry, type RegistryKey, textOf } from '../registry.ts'
import { OWN_KEY } from './restriction-keys.ts'
import { MAX_ALLOWED, MAX_DENIED, type Wanted } from './restrictions.ts'
import { foldId } from './tree.ts'

/** A device that the restrictions name, attached or not. */
export interface DeviceRecord {
  instanceId: string
  isAllowed: boolean
  /** Nodes below the device that need an entry of their own. */
  parts: readonly string[]
  /** Key of the device (`IdentifiedDevice.key`) and the properties that rules match. Null until the device was evaluated. */
  key: string
  device: PolicyDevice | null
  /** True if the agent disabled the device because Windows did not remove it. */
  isDisabled?: boolean
}

const DEVICES_KEY: RegistryKey = `${OWN_KEY}\\Devices`
const MAX_PARTS = 32

const isId = (value: unknown): value is string =>
  typeof value === 'string' && value !== '' && value.length <= MAX_INSTANCE_ID

const isDevice = (value: unknown): value is PolicyDevice => {
  const device = value as Partial<PolicyDevice> | null
  return (
    typeof device === 'object' &&
    device !== null &&
    [device.vid, device.pid, device.serial, device.fingerprint, device.fingerprintWithoutRevision].every(
      (text) => typeof text === 'string',
    ) &&
    Array.isArray(device.kinds)
  )
}

const parse = (instanceId: string, text: string): DeviceRecord | undefined => {
  try {
    const { isAllowed, parts, key, device, isDisabled } = JSON.parse(text) as Partial<DeviceRecord>
    if (!isId(instanceId) || typeof isAllowed !== 'boolean' || typeof key !== 'string') return undefined
    if (!Array.isArray(parts) || parts.length > MAX_PARTS || !parts.every(isId)) return undefined
    if (device !== null && !isDevice(device)) return undefined
    return { instanceId, isAllowed, parts, key, device, ...(isDisabled === true ? { isDisabled } : {}) }
  } catch {
    return undefined
  }
}

/**
 * Stores the devices that the restrictions name in the registry. Writes a record before the list of Windows. If the
 * agent is killed in between, it completes the list at its next start.
 */
export const createRecords = (registry: Registry) => {
  let records: Map<string, DeviceRecord> | undefined

  function all(): Map<string, DeviceRecord> {
    if (records !== undefined) return records
    const found = new Map<string, DeviceRecord>()
    for (const value of registry.list(DEVICES_KEY)) {
      const record = parse(value.name, textOf(value) ?? '')
      // Invalid records are ignored: the device is evaluated again.
      if (record !== undefined) found.set(foldId(record.instanceId), record)
    }
    records = found
    return found
  }
  const idsOf = ({ instanceId, parts }: DeviceRecord): string[] => [instanceId, ...parts]
  const count = (isAllowed: boolean, except?: string): number =>
    [...all().values()]
      .filter((one) => one.isAllowed === isAllowed && foldId(one.instanceId) !== except)
      .reduce((sum, one) => sum + 1 + one.parts.length, 0)

  return {
    get: (instanceId: string): DeviceRecord | undefined => all().get(foldId(instanceId)),
    list: (): DeviceRecord[] => [...all().values()],
    /** Returns whether the Windows lists have space for a record. */
    hasRoom: ({ instanceId, isAllowed, parts }: DeviceRecord): boolean =>
      parts.length <= MAX_PARTS &&
      count(isAllowed, foldId(instanceId)) + 1 + parts.length <= (isAllowed ? MAX_ALLOWED : MAX_DENIED),
    put(record: DeviceRecord): void {
      const { instanceId, ...rest } = record
      const text = JSON.stringify(rest)
      const before = all().get(foldId(instanceId))
      if (before !== undefined && JSON.stringify({ ...before, instanceId: undefined }) === text) return
      registry.writeText(DEVICES_KEY, instanceId, text)
      // Moves it to the end, because the oldest records are dropped first.
      all().delete(foldId(instanceId))
      all().set(foldId(instanceId), record)
    },
    remove(instanceId: string): void {
      if (!all().has(foldId(instanceId))) return
      registry.remove(DEVICES_KEY, instanceId)
      all().delete(foldId(instanceId))
    },
    /** Forgets all records without a write, after `restoreBefore` removed them. */
    clear(): void {
      records = undefined
    },
    /** Returns the wanted contents of the Windows lists. */
    wanted: (): Wanted => {
      const unique = (some: readonly DeviceRecord[]): string[] => [
        ...new Map(some.flatMap(idsOf).map((id) => [foldId(id), id])).values(),
      ]
      const list = [...all().values()]
      return {
        allowed: unique(list.filter((one) => one.isAllowed)),
        denied: unique(list.filter((one) => !one.isAllowed)),
      }
    },
  }
}
