import { join } from 'node:path'
import { sleep } from '../clock.ts'
import { createSysfsCollector } from '../collectors/sysfs.ts'
import type { AgentConfig } from '../config.ts'
import { cannotStart, messageOf } from '../exit.ts'
import { readIfThere, removeIfThere, writeDurable } from '../files.ts'
import { acquireLock, holderOf } from '../lock.ts'
import { createDefaults, lift, notRestored } from './defaults.ts'
import { createInterfaces } from './interfaces.ts'
import { createKernel } from './kernel.ts'
import { createMemoryFile, type EnforcementMemory, hasHold, kernelBoot, RELEASED, staysClosed } from './memory.ts'

type Where = Pick<AgentConfig, 'stateDir' | 'sysfsRoot' | 'procRoot'>

/** The running agent lifts some dozen devices, each within 20 ms. */
const ANSWER_MS = 10_000

const requestPath = (stateDir: string): string => join(stateDir, 'release')

/** Whether root asked for a release that nobody has carried out; `done` takes the request away. */
export const releaseRequest = (stateDir: string) => ({
  isThere: (): boolean => readIfThere(requestPath(stateDir)) !== undefined,
  done: (): void => removeIfThere(requestPath(stateDir)),
})

/** What is known of the host; a damaged file says as much as the closed controllers do. */
const recalled = (
  { stateDir, procRoot }: Where,
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
 * Gives the controllers the defaults back that a dead agent left closed. Blocked devices stay blocked and the host stays
 * armed: the next start goes on. Does nothing while an agent runs. Returns a sentence for the journal.
 *
 * @throws AgentExit(1) with what the kernel refused
 */
export const restoreDefaults = (where: Where): string => {
  const { stateDir, sysfsRoot, procRoot } = where
  const pid = holderOf(stateDir)
  if (pid !== undefined) return `The agent runs (process ${pid}); nothing to restore.`
  const kernel = createKernel({ sysfsRoot })
  const memory = recalled(where, kernel)
  if (memory === undefined || Object.keys(memory.defaults).length === 0) return 'Nothing to restore.'
  if (memory.kernelBoot !== kernelBoot(procRoot)) return 'The kernel was started since; nothing to restore.'
  if (staysClosed(memory)) return 'This host fails closed: new devices stay blocked. To free it, run "release" as root.'
  return withLock(stateDir, () => {
    const problems = createDefaults(kernel).giveBack(memory.defaults)
    if (problems.length > 0) throw cannotStart(`The kernel refused: ${problems.join('; ')}`)
    createMemoryFile(stateDir).save({ ...memory, defaults: {} })
    return `Defaults restored: ${Object.keys(memory.defaults).sort().join(', ')}.`
  })
}

const releaseAlone = (where: Where): string => {
  const { stateDir, sysfsRoot, procRoot } = where
  const kernel = createKernel({ sysfsRoot })
  const memory = recalled(where, kernel)
  if (memory === undefined || !hasHold(memory)) return 'This host is not armed.'
  return withLock(stateDir, () => {
    const boot = kernelBoot(procRoot)
    const known = memory.kernelBoot === boot ? memory : { ...memory, defaults: {}, foreign: [] }
    const ports = createSysfsCollector({ sysfsRoot }).ports()
    const problems = lift({
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
    if (problems.length > 0) throw cannotStart(`Free, but the kernel refused: ${problems.join('; ')}`)
    return 'The host is free.'
  })
}

/**
 * Root's way out: lifts every block, gives the defaults back and leaves the host Free; the server is told at the next
 * check-in. A running agent does it itself, so that nobody undoes it.
 *
 * @throws AgentExit(1) when it could not be done
 */
export const releaseHost = async (where: Where): Promise<string> => {
  const { stateDir } = where
  const pid = holderOf(stateDir)
  if (pid === undefined) return releaseAlone(where)
  const request = releaseRequest(stateDir)
  try {
    writeDurable(requestPath(stateDir), '')
    process.kill(pid, 'SIGUSR2')
  } catch (error) {
    throw cannotStart(`The agent (process ${pid}) cannot be asked: ${messageOf(error)}. Run this as root.`)
  }
  for (let waited = 0; waited < ANSWER_MS && request.isThere(); waited += 20) {
    if (holderOf(stateDir) === undefined) break
    await sleep(20)
  }
  if (!request.isThere()) return 'The host is free.'
  if (holderOf(stateDir) !== undefined)
    throw cannotStart(`The agent (process ${pid}) does not answer. End it, then run this again.`)
  request.done()
  return releaseAlone(where)
}
