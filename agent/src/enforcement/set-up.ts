import type { Clock } from '../clock.ts'
import type { SysfsCollector } from '../collectors/sysfs.ts'
import type { CommandKeys } from '../command-keys.ts'
import type { Log } from '../log.ts'
import type { Reports } from '../reports.ts'
import type { Identity } from '../state.ts'
import { createPublicStatus } from './blocked-lines.ts'
import { createDefaults } from './defaults.ts'
import { createEnforcer } from './enforcer.ts'
import { createHostNeeds } from './host-needs.ts'
import type { Interfaces } from './interfaces.ts'
import type { Kernel } from './kernel.ts'
import { createMemoryFile, type EnforcementMemory, freshMemory, kernelBoot } from './memory.ts'
import { createNotify } from './notify.ts'
import { createPolicyFile } from './policy-file.ts'
import { createWatchdog } from './watchdog.ts'

export interface SetUpDeps {
  identity: Pick<Identity, 'agentId'>
  keys: CommandKeys
  stateDir: string
  sysfsRoot: string
  procRoot: string
  kernel: Kernel
  interfaces: Interfaces
  sysfs: Pick<SysfsCollector, 'ports' | 'read'>
  notifyCommand: readonly string[] | undefined
  publicDir: string | undefined
  /** Program and arguments that restore the kernel's defaults if the agent dies. */
  restoreCommand: readonly string[] | undefined
  clock: Clock
  log: Log
  reports: Pick<Reports, 'add'>
  rescan: () => void
  onState: () => void
}

/** Returns the stored state of enforcement without the parts that no longer apply. */
const loadMemory = ({ identity, stateDir, procRoot, kernel, reports }: SetUpDeps): EnforcementMemory => {
  const boot = kernelBoot(procRoot)
  const loaded = createMemoryFile(stateDir).load()
  const fresh = freshMemory(identity.agentId, boot)
  if (loaded === undefined) return fresh
  if (loaded === 'damaged') {
    reports.add(
      'enforcement_file_damaged',
      'The file enforcement.json is damaged. The agent uses the state of the kernel to find out whether the host was armed.',
    )
    // The agent closed these controllers. Their old values are unknown, and 1 is the kernel's default.
    const closed = kernel.switches().filter((name) => kernel.default(name) === '0')
    if (closed.length === 0) return { ...fresh, reason: 'The stored state of enforcement was damaged.' }
    return { ...fresh, mode: 'Armed', defaults: Object.fromEntries(closed.map((name) => [name, '1'])) }
  }
  // A restart of the kernel resets its defaults and authorisations.
  const isSameBoot = loaded.kernelBoot === boot
  const memory = isSameBoot
    ? loaded
    : {
        ...loaded,
        kernelBoot: boot,
        defaults: {},
        foreign: [],
        recent: loaded.recent.map((entry) => ({ ...entry, instance: '' })),
      }
  if (memory.agentId === identity.agentId) return memory
  // The server of the new identity did not set this mode.
  const reason = memory.mode === 'Armed' ? 'The host was enrolled again.' : ''
  return { ...memory, agentId: identity.agentId, mode: 'Free', contactBy: null, reason }
}

/** Creates the enforcement of a host from the state directory. */
export const setUpEnforcement = (deps: SetUpDeps) => {
  const { identity, stateDir, procRoot, sysfsRoot, kernel, clock, log, reports } = deps
  const policyFile = createPolicyFile({ stateDir, agentId: identity.agentId, keys: deps.keys })
  const held = policyFile.load()
  const isRefused = held !== undefined && 'refused' in held
  if (isRefused) reports.add('policy_refused', `The agent refused the policy on disk: ${held.refused}.`)
  const notify = createNotify({ command: deps.notifyCommand, clock, log })
  const enforcer = createEnforcer({
    agentId: identity.agentId,
    kernel,
    interfaces: deps.interfaces,
    sysfs: deps.sysfs,
    needs: createHostNeeds({ procRoot, sysfsRoot }),
    defaults: createDefaults(kernel),
    memory: loadMemory(deps),
    saveMemory: createMemoryFile(stateDir).save,
    policy: isRefused ? undefined : held,
    notify,
    publicStatus: createPublicStatus({ dir: deps.publicDir }),
    watchdog: createWatchdog({ restore: deps.restoreCommand, log }),
    clock,
    log,
    reports,
    rescan: deps.rescan,
    onState: deps.onState,
  })
  return { enforcer, policyFile, notify }
}
