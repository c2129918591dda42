import { readFileSync } from 'node:fs'
import { join } from 'node:path'
import type { PolicyDevice } from '@portcullis/domain'
import { readIfThere, writeDurable } from '../files.ts'
import type { AcceptedDrivers, Hold } from './holds.ts'

/** A device that the policy keeps from working, as `status` and the message to the user tell it. */
export interface BlockedDevice {
  portPath: string
  caseNumber: string
  /** Cleaned name, as the device gives it. */
  name: string
  reason: string
  /** ISO time it was blocked. */
  since: string
}

/** A device that was let work, and by which identity it was: what a replug within minutes is compared with. */
export interface RecentDevice {
  /** Port, fingerprint without revision and serial number. */
  key: string
  /** `devnum` of the attachment: the same one goes on however long ago it was noted. */
  instance: string
  /** What it was when a rule last allowed it. */
  device: PolicyDevice
  /** Wall clock, ms since 1970, when it was last seen working. */
  at: number
}

/** What has to outlive the agent. Old values of the kernel are on disk before they are changed. */
export interface EnforcementMemory {
  /** The identity that commanded the mode; another one starts Free. */
  agentId: string
  mode: 'Free' | 'Armed'
  /** Why it is so when nobody commanded it; else empty. */
  reason: string
  applyToPresent: boolean
  /** Wall clock, ms since 1970, by which a check-in has to be acknowledged after arming; null once one was. */
  contactBy: number | null
  /** Boot of the kernel that `defaults`, `foreign` and instances belong to. */
  kernelBoot: string
  /** `authorized_default` as it was, by controller, and `interface_authorized_default` as `usb1/interface`. Not empty: the kernel may hold ours. */
  defaults: Record<string, string>
  /** `port|devnum` of devices, and `1-3:1.0|devnum` of interfaces, that somebody else had closed before: Free leaves those. */
  foreign: string[]
  /** Keys of devices exempt from the implicit block, because they worked when the host was armed. */
  present: string[]
  recent: RecentDevice[]
  blocked: BlockedDevice[]
  /** Ports held because of a driver mismatch; missing in what older versions wrote. */
  held?: Hold[]
  accepted?: AcceptedDrivers[]
  /** The signed policy says that nothing new works while the agent does not run. */
  failsClosed?: boolean
}

/** Reason for Free after local root freed the host. Only this also releases held ports. */
export const RELEASED = 'Released by root on the host.'

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

/** Whether something of ours may be in the kernel. On any other host what is de-authorised is somebody else's doing. */
export const hasHold = ({ mode, defaults, blocked }: EnforcementMemory): boolean =>
  mode === 'Armed' || Object.keys(defaults).length > 0 || blocked.length > 0

/** Whether the defaults stay closed while the agent does not run, until root releases the host. */
export const staysClosed = ({ mode, failsClosed }: EnforcementMemory): boolean =>
  mode === 'Armed' && failsClosed === true

/** Identifier of the running kernel's boot; empty when it has none. */
export const kernelBoot = (procRoot: string): string => {
  try {
    return readFileSync(join(procRoot, 'sys/kernel/random/boot_id'), 'utf8').trim()
  } catch {
    return ''
  }
}

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

/** `enforcement.json` of a state directory. */
export const createMemoryFile = (stateDir: string) => {
  const path = join(stateDir, 'enforcement.json')
  return {
    /** Undefined when there is none yet; `damaged` when there is one that cannot be understood. */
    load(): EnforcementMemory | 'damaged' | undefined {
      const text = readIfThere(path)
      if (text === undefined) return undefined
      try {
        const value: unknown = JSON.parse(text)
        return isMemory(value) ? value : 'damaged'
      } catch {
        return 'damaged'
      }
    },
    /** Durable when it returns. */
    save: (memory: EnforcementMemory): void => writeDurable(path, `${JSON.stringify(memory, null, 1)}\n`),
  }
}
export type MemoryFile = ReturnType<typeof createMemoryFile>
