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
  /** Program and arguments that give the kernel its defaults back when the agent dies. */
  restoreCommand: readonly string[] | undefined
  clock: Clock
  log: Log
  reports: Pick<Reports, 'add'>
  look: () => void
  onState: () => void
}

/** What the last run left behind, as far as it still holds. */
const recall = ({ identity, stateDir, procRoot, kernel, reports }: SetUpDeps): EnforcementMemory => {
  const boot = kernelBoot(procRoot)
  const loaded = createMemoryFile(stateDir).load()
  const fresh = freshMemory(identity.agentId, boot)
  if (loaded === undefined) return fresh
  if (loaded === 'damaged') {
    reports.add(
      'enforcement_file_damaged',
      'enforcement.json cannot be read; the kernel tells whether the host was armed.',
    )
    // A closed controller is our doing; whatever was before, 1 is what kernels start with.
    const closed = kernel.switches().filter((name) => kernel.default(name) === '0')
    if (closed.length === 0) return { ...fresh, reason: 'The state of enforcement was damaged.' }
    return { ...fresh, mode: 'Armed', defaults: Object.fromEntries(closed.map((name) => [name, '1'])) }
  }
  // The kernel starts with its own defaults and forgets who was de-authorised.
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
  // Another server, or a new identity: nobody there commanded this.
  const reason = memory.mode === 'Armed' ? 'The host was enrolled anew.' : ''
  return { ...memory, agentId: identity.agentId, mode: 'Free', contactBy: null, reason }
}

/** Enforcement of a host: what the state directory remembers, and the machinery on top of it. */
export const setUpEnforcement = (deps: SetUpDeps) => {
  const { identity, stateDir, procRoot, sysfsRoot, kernel, clock, log, reports } = deps
  const policyFile = createPolicyFile({ stateDir, agentId: identity.agentId, keys: deps.keys })
  const held = policyFile.load()
  const isRefused = held !== undefined && 'refused' in held
  if (isRefused) reports.add('policy_refused', `The policy on disk is not used: ${held.refused}.`)
  const notify = createNotify({ command: deps.notifyCommand, clock, log })
  const enforcer = createEnforcer({
    agentId: identity.agentId,
    kernel,
    interfaces: deps.interfaces,
    sysfs: deps.sysfs,
    needs: createHostNeeds({ procRoot, sysfsRoot }),
    defaults: createDefaults(kernel),
    memory: recall(deps),
    saveMemory: createMemoryFile(stateDir).save,
    policy: isRefused ? undefined : held,
    notify,
    publicStatus: createPublicStatus({ dir: deps.publicDir }),
    watchdog: createWatchdog({ restore: deps.restoreCommand, log }),
    clock,
    log,
    reports,
    look: deps.look,
    onState: deps.onState,
  })
  return { enforcer, policyFile, notify }
}
