import { join } from 'node:path'
import type { PolicyDevice } from '@portcullis/domain'
import { parseJson, readIfThere, writeDurable } from '../files.ts'
import type { AcceptedDrivers, Hold } from './holds.ts'

/** A blocked device, as `status` and the message to the user show it. */
export interface BlockedDevice {
  portPath: string
  caseNumber: string
  /** Cleaned name that the device reports. */
  name: string
  reason: string
  /** ISO time of the block. */
  since: string
}

/** A device that worked recently. The agent compares a replug within minutes with it. */
export interface RecentDevice {
  /** Port, fingerprint without revision, and serial number (`IdentifiedDevice.key`). */
  key: string
  /** `devnum` of the attachment. The same attachment keeps working, whatever its age. */
  instance: string
  /** The device as a rule last allowed it. */
  device: PolicyDevice
  /** Wall clock, ms since 1970, when it last worked. */
  at: number
}

/** Persistent state of enforcement. Old values of the kernel are on disk before the agent changes them. */
export interface EnforcementMemory {
  /** Identity for which the mode was set. Another identity starts Free. */
  agentId: string
  mode: 'Free' | 'Armed'
  /** Reason for a mode that no command set; otherwise empty. */
  reason: string
  applyToPresent: boolean
  /** Deadline (ms since 1970) of the first acknowledged check-in after arming. Null after that check-in, or without one. */
  contactBy: number | null
  /** Boot of the kernel to which `defaults`, `foreign` and instances belong. */
  kernelBoot: string
  /**
   * Old values of `authorized_default` by controller, and of `interface_authorized_default` as `usb1/interface`. Not empty
   * while the kernel may have the values of the agent.
   */
  defaults: Record<string, string>
  /** Devices (`port|devnum`) and interfaces (`1-3:1.0|devnum`) that were blocked before arming. Free does not open them. */
  foreign: string[]
  /** Keys of devices that worked when the host was armed. They are exempt from the implicit block. */
  present: string[]
  recent: RecentDevice[]
  blocked: BlockedDevice[]
  /** Ports held because of a driver mismatch; missing in files of older versions. */
  held?: Hold[]
  accepted?: AcceptedDrivers[]
  /** The signed policy says that no new device works while the agent does not run. */
  failsClosed?: boolean
}

/** Reason of Free after root freed the host. Only this release also releases held ports. */
export const RELEASED = 'Freed by root on the host.'

export const freshMemory = (agentId: string, kernelBoot: string): EnforcementMemory => ({
  agentId,
  mode: 'Free',
  reason: '',
  applyToPresent: false,
  contactBy: null,
  kernelBoot,
  defaults: {},
  foreign: [],
  present: [],
  recent: [],
  blocked: [],
})

/** Returns whether the kernel may have values of the agent. On other hosts, another program blocked the devices. */
export const hasHold = ({ mode, defaults, blocked }: EnforcementMemory): boolean =>
  mode === 'Armed' || Object.keys(defaults).length > 0 || blocked.length > 0

/** Returns whether the defaults stay closed while the agent does not run. */
export const staysClosed = ({ mode, failsClosed }: EnforcementMemory): boolean =>
  mode === 'Armed' && failsClosed === true

const isMemory = (value: unknown): value is EnforcementMemory => {
  const m = value as Partial<EnforcementMemory> | null
  return (
    typeof m === 'object' &&
    m !== null &&
    (m.mode === 'Free' || m.mode === 'Armed') &&
    typeof m.agentId === 'string' &&
    typeof m.kernelBoot === 'string' &&
    typeof m.defaults === 'object' &&
    m.defaults !== null &&
    [m.foreign, m.present, m.recent, m.blocked].every(Array.isArray)
  )
}

/** Reads and writes `enforcement.json` in a state directory. */
export const createMemoryFile = (stateDir: string) => {
  const path = join(stateDir, 'enforcement.json')
  return {
    /** Returns undefined if the file does not exist and `damaged` if it cannot be parsed. */
    load(): EnforcementMemory | 'damaged' | undefined {
      const text = readIfThere(path)
      if (text === undefined) return undefined
      const value = parseJson(text)
      return isMemory(value) ? value : 'damaged'
    },
    /** Writes the file durably. */
    save: (memory: EnforcementMemory): void => writeDurable(path, `${JSON.stringify(memory, null, 1)}\n`),
  }
}
export type MemoryFile = ReturnType<typeof createMemoryFile>
