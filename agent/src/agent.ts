import { createCheckIns } from './check-in.ts'
import type { Clock } from './clock.ts'
import { createFactsCollector } from './collectors/facts.ts'
import { createSysfsCollector } from './collectors/sysfs.ts'
import { createWatcher, type WatcherTiming, watcherTiming } from './collectors/watcher.ts'
import { createCommands } from './commands.ts'
import type { AgentConfig } from './config.ts'
import { createEnrolment } from './enrol.ts'
import { createKick } from './kick.ts'
import { acquireLock } from './lock.ts'
import type { Log } from './log.ts'
import { createLoop, type Loop, type LoopTiming, loopTiming } from './loop.ts'
import { createProtocol } from './protocol.ts'
import { createReports } from './reports.ts'
import { createSpool } from './spool.ts'
import { createState, prepareStateDir } from './state.ts'
import { createWake } from './transport/wake.ts'

export interface AgentTiming {
  loop: LoopTiming
  watcher: WatcherTiming
  factsEveryMs: number
}

export const agentTiming: AgentTiming = { loop: loopTiming, watcher: watcherTiming, factsEveryMs: 30_000 }

export interface AgentDeps {
  config: AgentConfig
  version: string
  clock: Clock
  /** Made after the state directory is known to be usable: the log's ring lies in it. */
  createLog: (dir: string) => Log
  uid: number
  timing?: AgentTiming
}

/**
 * Runs the agent until the signal is aborted, or with `once` until one exchange is complete.
 *
 * @throws AgentExit with the exit code and a sentence for a person
 */
export const runAgent = async (
  { config, version, clock, createLog, uid, timing = agentTiming }: AgentDeps,
  signal: AbortSignal,
): Promise<void> => {
  prepareStateDir(config.stateDir)
  const cleanUps: Array<() => void> = [acquireLock(config.stateDir)]
  try {
    const log = createLog(config.stateDir)
    log.info('agent_starting', { version, stateDir: config.stateDir, sysfsRoot: config.sysfsRoot })
    const state = createState(config.stateDir)
    let localAddress = (): string => ''
    const facts = createFactsCollector({
      sysfsRoot: config.sysfsRoot,
      etcRoot: config.etcRoot,
      agentVersion: version,
      localAddress: () => localAddress(),
      uid,
    })
    const enrolment = createEnrolment({ config, state, facts, clock, log, backoff: timing.loop.backoff })
    const { identity, key, transport } = await enrolment(signal)
    cleanUps.push(transport.close)
    localAddress = transport.localAddress

    const kick = createKick()
    const reports = createReports({ clock, log })
    let loop: Loop | undefined
    const spool = createSpool({
      stateDir: config.stateDir,
      onWriteError: (message) => reports.add('spool_write_failed', message),
      onOverflow: (dropped) => {
        reports.add('spool_overflow', `${dropped} changes were dropped; the full inventory is sent instead.`)
        loop?.needInventory()
      },
    })
    cleanUps.push(spool.close)
    const watcher = createWatcher({
      sysfs: createSysfsCollector({ sysfsRoot: config.sysfsRoot }),
      monitorCommand: config.once ? undefined : config.monitorCommand,
      clock,
      log,
      reports,
      onChanges: (changes) => {
        spool.add(changes)
        log.info('devices_changed', { changes: changes.length })
        kick.kick()
      },
      timing: timing.watcher,
    })
    cleanUps.push(watcher.stop)
    const commands = createCommands({
      agentId: identity.agentId,
      commandKey: identity.commandKey,
      clock,
      log,
      reports,
      memory: state.commands(),
      saveMemory: state.saveCommands,
    })
    const wake = createWake({ transport, log, onWake: kick.kick, backoff: timing.loop.backoff })
    cleanUps.push(wake.stop)
    loop = createLoop({
      identity,
      protocol: createProtocol({ transport, key, clock }),
      checkIns: createCheckIns({
        clock,
        devices: watcher.devices,
        facts: facts.collect,
        spool,
        commands,
        reports,
        factsEveryMs: timing.factsEveryMs,
      }),
      spool,
      commands,
      reports,
      state,
      kick,
      onSession: (token) => {
        if (!config.once) wake.useToken(token)
      },
      deviceCount: () => watcher.devices().length,
      once: config.once,
      clock,
      log,
      timing: timing.loop,
    })
    watcher.start()
    log.info('watching', { devices: watcher.devices().length, monitor: config.monitorCommand?.join(' ') ?? 'poll' })
    await loop.run(signal)
    log.info('agent_stopped')
  } finally {
    for (const cleanUp of cleanUps.reverse()) cleanUp()
  }
}
