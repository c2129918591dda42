import { join } from 'node:path'
import { sleep } from '../clock.ts'
import { cannotStart, messageOf } from '../exit.ts'
import { readIfThere, removeIfThere, writeDurable } from '../files.ts'
import { acquireLock, holderOf } from '../lock.ts'
import type { Gate, Platform, System } from '../platform/platform.ts'
import { closedDefaults, createDefaults, notRestored, unblockAll } from './defaults.ts'
import { createMemoryFile, type EnforcementMemory, freshMemory, hasHold, RELEASED, staysClosed } from './memory.ts'

export interface Offline {
  stateDir: string
  system: System
  platform: Platform
}

/** Time limit for a running agent, which unblocks each device within 20 ms. */
const ANSWER_MS = 10_000

const requestPath = (stateDir: string): string => join(stateDir, 'release')

/** Creates access to the release request of root. `done` removes it. */
export const releaseRequest = (stateDir: string) => ({
  exists: (): boolean => readIfThere(requestPath(stateDir)) !== undefined,
  done: (): void => removeIfThere(requestPath(stateDir)),
})

/** Returns the stored state of enforcement. If the file is damaged, closed switches mean that the host was armed. */
const storedMemory = (stateDir: string, gate: Gate, boot: string): EnforcementMemory | undefined => {
  const memory = createMemoryFile(stateDir).load()
  const defaults = closedDefaults(gate)
  const isLost = memory === undefined && gate.isLasting === true && Object.keys(defaults).length > 0
  if (memory !== 'damaged' && !isLost) return memory
  return { ...freshMemory('', boot), mode: 'Armed', defaults }
}

const withLock = <T>({ stateDir, system }: Offline, work: () => T): T => {
  const release = acquireLock(stateDir, system.processes)
  try {
    return work()
  } finally {
    release()
  }
}

/**
 * Restores the defaults that a crashed agent left closed. Blocked devices stay blocked and the host stays armed for the
 * next start. Does nothing while an agent runs. Returns a message for the journal.
 *
 * @throws AgentExit(1) with the refusals of the system
 */
export const restoreDefaults = (where: Offline): string => {
  const { stateDir, system, platform } = where
  const { gate, boot } = platform
  const pid = holderOf(stateDir, system.processes)
  if (pid !== undefined) return `The agent is running (process ${pid}). Nothing to restore.`
  const memory = storedMemory(stateDir, gate, boot.id)
  if (memory === undefined || Object.keys(memory.defaults).length === 0) return 'Nothing to restore.'
  if (memory.kernelBoot !== boot.id && gate.isLasting !== true)
    return 'The host was restarted since. Nothing to restore.'
  if (staysClosed(memory))
    return 'This host fails closed, so new devices stay blocked. To free it, run "portcullis-agent release" as root.'
  return withLock(where, () => {
    const problems = createDefaults(gate).restore(memory.defaults)
    if (problems.length > 0) throw cannotStart(`The system refused some changes: ${problems.join('; ')}`)
    createMemoryFile(stateDir).save({ ...memory, defaults: {} })
    return `Restored the defaults of ${Object.keys(memory.defaults).sort().join(', ')}. New devices work again.`
  })
}

const releaseAlone = (where: Offline): string => {
  const { stateDir, platform } = where
  const { gate, interfaces, programs, inventory, boot } = platform
  const memory = storedMemory(stateDir, gate, boot.id)
  if (memory === undefined || !hasHold(memory)) return 'This host is not armed.'
  return withLock(where, () => {
    const known =
      memory.kernelBoot === boot.id || gate.isLasting === true ? memory : { ...memory, defaults: {}, foreign: [] }
    const defaults = createDefaults(gate)
    const problems = unblockAll({ gate, interfaces, programs, defaults, ports: inventory.ports(), memory: known })
    createMemoryFile(stateDir).save({
      ...known,
      kernelBoot: boot.id,
      mode: 'Free',
      reason: memory.mode === 'Armed' ? RELEASED : memory.reason,
      contactBy: null,
      defaults: notRestored(gate, known.defaults),
      foreign: [],
      present: [],
      recent: [],
      blocked: [],
      held: [],
    })
    if (problems.length > 0)
      throw cannotStart(`The host is free, but the system refused some changes: ${problems.join('; ')}`)
    return 'The host is free.'
  })
}

/**
 * Frees the host for root: unblocks all devices and restores the defaults. The next check-in reports it to the server. A
 * running agent does this itself, so that it does not undo it.
 *
 * @throws AgentExit(1) with the reason if it fails
 */
export const releaseHost = async (where: Offline): Promise<string> => {
  const { stateDir, system } = where
  const holder = (): number | undefined => holderOf(stateDir, system.processes)
  const pid = holder()
  if (pid === undefined) return releaseAlone(where)
  const request = releaseRequest(stateDir)
  try {
    writeDurable(requestPath(stateDir), '')
    system.request(pid)
  } catch (error) {
    throw cannotStart(`Cannot reach the agent (process ${pid}): ${messageOf(error)}. Run this command as root.`)
  }
  for (let waited = 0; waited < ANSWER_MS && request.exists(); waited += 20) {
    if (holder() === undefined) break
    await sleep(20)
  }
  if (!request.exists()) return 'The host is free.'
  if (holder() !== undefined)
    throw cannotStart(
      `The agent (process ${pid}) did not answer within ${ANSWER_MS / 1000} s. Stop it, then run this command again.`,
    )
  request.done()
  return releaseAlone(where)
}
