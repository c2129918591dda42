import { join } from 'node:path'
import { sleep } from '../clock.ts'
import { createSysfsCollector } from '../collectors/sysfs.ts'
import type { AgentConfig } from '../config.ts'
import { cannotStart, messageOf } from '../exit.ts'
import { readIfThere, removeIfThere, writeDurable } from '../files.ts'
import { acquireLock, holderOf } from '../lock.ts'
import { createDefaults, notRestored, unblockAll } from './defaults.ts'
import { createInterfaces } from './interfaces.ts'
import { createKernel } from './kernel.ts'
import { createMemoryFile, type EnforcementMemory, hasHold, kernelBoot, RELEASED, staysClosed } from './memory.ts'

type Paths = Pick<AgentConfig, 'stateDir' | 'sysfsRoot' | 'procRoot'>

/** Time limit for a running agent, which unblocks each device within 20 ms. */
const ANSWER_MS = 10_000

const requestPath = (stateDir: string): string => join(stateDir, 'release')

/** Creates access to the release request of root. `done` removes it. */
export const releaseRequest = (stateDir: string) => ({
  exists: (): boolean => readIfThere(requestPath(stateDir)) !== undefined,
  done: (): void => removeIfThere(requestPath(stateDir)),
})

/** Returns the stored state of enforcement. If the file is damaged, closed controllers show that the host was armed. */
const storedMemory = (
  { stateDir, procRoot }: Paths,
  kernel: ReturnType<typeof createKernel>,
): EnforcementMemory | undefined => {
  const memory = createMemoryFile(stateDir).load()
  if (memory !== 'damaged') return memory
  const closed = kernel.switches().filter((name) => kernel.default(name) === '0')
  return {
    agentId: '',
    mode: 'Armed',
    reason: '',
    applyToPresent: false,
    contactBy: null,
    kernelBoot: kernelBoot(procRoot),
    defaults: Object.fromEntries(closed.map((name) => [name, '1'])),
    foreign: [],
    present: [],
    recent: [],
    blocked: [],
  }
}

const withLock = <T>(stateDir: string, work: () => T): T => {
  const release = acquireLock(stateDir)
  try {
    return work()
  } finally {
    release()
  }
}

/**
 * Restores the controllers' defaults that a dead agent left closed. Blocked devices stay blocked and the host stays armed
 * for the next start. Does nothing while an agent runs. Returns a message for the journal.
 *
 * @throws AgentExit(1) with the refusals of the kernel
 */
export const restoreDefaults = (where: Paths): string => {
  const { stateDir, sysfsRoot, procRoot } = where
  const pid = holderOf(stateDir)
  if (pid !== undefined) return `The agent is running (process ${pid}). Nothing to restore.`
  const kernel = createKernel({ sysfsRoot })
  const memory = storedMemory(where, kernel)
  if (memory === undefined || Object.keys(memory.defaults).length === 0) return 'Nothing to restore.'
  if (memory.kernelBoot !== kernelBoot(procRoot)) return 'The host was restarted since. Nothing to restore.'
  if (staysClosed(memory))
    return 'This host fails closed, so new devices stay blocked. To free it, run "portcullis-agent release" as root.'
  return withLock(stateDir, () => {
    const problems = createDefaults(kernel).restore(memory.defaults)
    if (problems.length > 0) throw cannotStart(`The kernel refused some changes: ${problems.join('; ')}`)
    createMemoryFile(stateDir).save({ ...memory, defaults: {} })
    return `Restored the defaults of ${Object.keys(memory.defaults).sort().join(', ')}. New devices work again.`
  })
}

const releaseAlone = (where: Paths): string => {
  const { stateDir, sysfsRoot, procRoot } = where
  const kernel = createKernel({ sysfsRoot })
  const memory = storedMemory(where, kernel)
  if (memory === undefined || !hasHold(memory)) return 'This host is not armed.'
  return withLock(stateDir, () => {
    const boot = kernelBoot(procRoot)
    const known = memory.kernelBoot === boot ? memory : { ...memory, defaults: {}, foreign: [] }
    const ports = createSysfsCollector({ sysfsRoot }).ports()
    const problems = unblockAll({
      kernel,
      interfaces: createInterfaces({ sysfsRoot }),
      defaults: createDefaults(kernel),
      ports,
      memory: known,
    })
    createMemoryFile(stateDir).save({
      ...known,
      kernelBoot: boot,
      mode: 'Free',
      reason: memory.mode === 'Armed' ? RELEASED : memory.reason,
      contactBy: null,
      defaults: notRestored(kernel, known.defaults),
      foreign: [],
      present: [],
      recent: [],
      blocked: [],
      held: [],
    })
    if (problems.length > 0)
      throw cannotStart(`The host is free, but the kernel refused some changes: ${problems.join('; ')}`)
    return 'The host is free.'
  })
}

/**
 * Frees the host for root: unblocks all devices and restores the defaults. The next check-in reports it to the server. A
 * running agent does this itself, so that it does not undo it.
 *
 * @throws AgentExit(1) with the reason if it fails
 */
export const releaseHost = async (where: Paths): Promise<string> => {
  const { stateDir } = where
  const pid = holderOf(stateDir)
  if (pid === undefined) return releaseAlone(where)
  const request = releaseRequest(stateDir)
  try {
    writeDurable(requestPath(stateDir), '')
    process.kill(pid, 'SIGUSR2')
  } catch (error) {
    throw cannotStart(`Cannot reach the agent (process ${pid}): ${messageOf(error)}. Run this command as root.`)
  }
  for (let waited = 0; waited < ANSWER_MS && request.exists(); waited += 20) {
    if (holderOf(stateDir) === undefined) break
    await sleep(20)
  }
  if (!request.exists()) return 'The host is free.'
  if (holderOf(stateDir) !== undefined)
    throw cannotStart(
      `The agent (process ${pid}) did not answer within ${ANSWER_MS / 1000} s. Stop it, then run this command again.`,
    )
  request.done()
  return releaseAlone(where)
}
