import type { CommandKeys } from '../command-keys.ts'
import type { HostTime } from '../host-time.ts'
import type { Log } from '../log.ts'
import type { Platform } from '../platform/platform.ts'
import type { Reports } from '../reports.ts'
import type { Identity } from '../state.ts'
import { createPublicStatus } from './blocked-lines.ts'
import { closedDefaults, createDefaults } from './defaults.ts'
import { createEnforcer } from './enforcer.ts'
import { createMemoryFile, type EnforcementMemory, freshMemory } from './memory.ts'
import { createNotify } from './notify.ts'
import { createPolicyFile } from './policy-file.ts'

export interface SetUpDeps {
  identity: Pick<Identity, 'agentId'>
  keys: CommandKeys
  stateDir: string
  platform: Platform
  /** Program and arguments of this agent; undefined in tests that need no watchdog. */
  self: readonly string[] | undefined
  time: HostTime
  log: Log
  reports: Pick<Reports, 'add'>
  rescan: () => void
  onState: () => void
}

/** Returns the stored state of enforcement without the parts that no longer apply. */
const loadMemory = ({ identity, stateDir, platform, reports }: SetUpDeps): EnforcementMemory => {
  const { gate } = platform
  const boot = platform.boot.id
  const loaded = createMemoryFile(stateDir).load()
  const fresh = freshMemory(identity.agentId, boot)
  // If the file is missing, the host was never armed, unless the switches are lasting.
  if (loaded === undefined) return gate.isLasting === true ? { ...fresh, defaults: closedDefaults(gate) } : fresh
  if (loaded === 'damaged') {
    reports.add(
      'enforcement_file_damaged',
      'The file enforcement.json is damaged. The agent uses the state of the system to find out whether the host was armed.',
    )
    const defaults = closedDefaults(gate)
    if (Object.keys(defaults).length === 0) return { ...fresh, reason: 'The stored state of enforcement was damaged.' }
    return { ...fresh, mode: 'Armed', defaults }
  }
  // A restart of Linux resets its defaults and authorisations.
  const isSameBoot = loaded.kernelBoot === boot || gate.isLasting === true
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
  const { identity, stateDir, platform, time, log, reports } = deps
  const { gate, interfaces, inventory, needs, programs } = platform
  const policyFile = createPolicyFile({ stateDir, agentId: identity.agentId, keys: deps.keys })
  const held = policyFile.load()
  const isRefused = held !== undefined && 'refused' in held
  if (isRefused) reports.add('policy_refused', `The agent refused the policy on disk: ${held.refused}.`)
  else if (held !== undefined) time.atLeast(Date.parse(held.policy.issuedAt))
  const notify = createNotify({ show: platform.showMessage, clock: time, log })
  const enforcer = createEnforcer({
    agentId: identity.agentId,
    ...{ gate, interfaces, inventory, needs, programs },
    defaults: createDefaults(gate),
    memory: loadMemory(deps),
    saveMemory: createMemoryFile(stateDir).save,
    policy: isRefused ? undefined : held,
    notify,
    publicStatus: createPublicStatus({ dir: platform.publicDir }),
    watchdog: platform.watchdog({ self: deps.self, stateDir, log }),
    clock: time,
    keepTime: time.keep,
    log,
    reports,
    rescan: deps.rescan,
    onState: deps.onState,
  })
  return { enforcer, policyFile, notify }
}
