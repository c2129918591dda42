import type { ReleaseKeyFile } from '@portcullis/contract/agent-protocol.ts'
import { releaseKeyFingerprint } from '@portcullis/domain'
import { createCheckIns } from './check-in.ts'
import type { Clock } from './clock.ts'
import { createWatcher, type Watcher, watcherTiming } from './collectors/watcher.ts'
import { createCommandKeys } from './command-keys.ts'
import { createCommands } from './commands.ts'
import type { AgentConfig } from './config.ts'
import { collectDebugLogs } from './debug-logs.ts'
import type { Enforcer } from './enforcement/enforcer.ts'
import { RELEASED } from './enforcement/memory.ts'
import { releaseRequest } from './enforcement/offline.ts'
import { createPolicyFetch } from './enforcement/policy-fetch.ts'
import { setUpEnforcement } from './enforcement/set-up.ts'
import { createEnrolment } from './enrol.ts'
import { createExecute } from './execute.ts'
import { messageOf } from './exit.ts'
import { createHostTime } from './host-time.ts'
import { acquireLock } from './lock.ts'
import type { Log } from './log.ts'
import { createLoop, type Loop, type LoopTiming, loopTiming } from './loop.ts'
import type { Platform, System, WatcherTiming } from './platform/platform.ts'
import { createProtocol } from './protocol.ts'
import { createReports, type Reports } from './reports.ts'
import { createServerCalls } from './server-calls.ts'
import { createSpool } from './spool.ts'
import { createState, prepareStateDir } from './state.ts'
import { createWake } from './transport/wake.ts'
import { createUpdateRecord } from './update/record.ts'
import { createReleaseKey, type ReleaseKey } from './update/release-key.ts'
import { createUpdater, type Updater } from './update/updater.ts'
import { createWakeSignal } from './wake-signal.ts'

export interface AgentTiming {
  loop: LoopTiming
  watcher: WatcherTiming
  factsEveryMs: number
  enforcement: {
    /** Interval at which an armed host looks for new devices while device events are unreliable. */
    fastPollMs: number
    /** Interval at which the agent checks deadlines and the defaults of the system. */
    tickMs: number
    /** Time within which an armed host fetches its policy again after a start. */
    refreshMs: number
  }
}

export const agentTiming: AgentTiming = {
  loop: loopTiming,
  watcher: watcherTiming,
  factsEveryMs: 30_000,
  enforcement: { fastPollMs: 100, tickMs: 1000, refreshMs: 30_000 },
}

export interface AgentDeps {
  config: AgentConfig
  version: string
  clock: Clock
  /** Called after the state directory is ready, because the log writes to it. */
  createLog: (dir: string) => Log
  /** Program and arguments that run this agent. If undefined, the agent starts no watchdog. */
  self?: readonly string[]
  /** Path of the installed executable of this agent. */
  executable?: string | undefined
  /** Path of the running executable, if a package starts the newest version. */
  running?: string | undefined
  /** The built-in release key. Without one, the agent installs no updates. */
  builtInKey?: ReleaseKeyFile | undefined
  system: Pick<System, 'processes' | 'onRequest'>
  platform: Platform
  timing?: AgentTiming
}

/**
 * Runs the agent until the signal is aborted, or with `once` until one check-in is complete.
 *
 * @throws AgentExit with the exit code and a message for the operator
 */
export const runAgent = async (
  {
    config,
    version,
    clock,
    createLog,
    self,
    executable = config.executable,
    running = config.launcher === undefined ? undefined : process.execPath,
    builtInKey,
    system,
    platform,
    timing = agentTiming,
  }: AgentDeps,
  signal: AbortSignal,
): Promise<'stopped' | 'replaced'> => {
  prepareStateDir(config.stateDir, platform)
  const cleanUps: Array<() => void> = [acquireLock(config.stateDir, system.processes)]
  try {
    const log = createLog(config.stateDir)
    log.info('agent_starting', { version, stateDir: config.stateDir })
    const state = createState(config.stateDir)
    let localAddress = (): string => ''
    const releaseKey = createReleaseKey({ builtIn: builtInKey, stateDir: config.stateDir })
    const facts = platform.facts({
      agentVersion: version,
      localAddress: () => localAddress(),
      enforcement: platform.gate.grade,
      releaseKey: () => {
        const known = releaseKey.known()
        return known === undefined ? '' : releaseKeyFingerprint(known)
      },
    })
    // Installed early: without a handler, a release request during the start would end the process.
    let onRelease = (): void => undefined
    cleanUps.push(system.onRequest(() => onRelease()))
    const enrolment = createEnrolment({
      ...{ config, state, facts, clock, log },
      secrets: platform.secrets,
      backoff: timing.loop.backoff,
    })
    const { identity, key, transport } = await enrolment(signal)
    cleanUps.push(transport.close)
    localAddress = transport.localAddress

    const wakeSignal = createWakeSignal()
    const reports = createReports({ clock, log })
    const protocol = createProtocol({ transport, key, clock })
    const keys = createCommandKeys({ identity, publicKey: key.publicKey, state, log, reports })
    const calls = createServerCalls({ renewSession: () => loop?.renewSession() })
    let loop: Loop | undefined
    const { boot, inventory } = platform
    const time = createHostTime({ stateDir: config.stateDir, boot, clock, reports })
    const spool = createSpool({
      stateDir: config.stateDir,
      boot,
      onWriteError: (message) => reports.add('spool_write_failed', message),
      onDropped: (count) => log.warn('changes_dropped', { count }),
    })
    cleanUps.push(spool.close)
    const { enforcer, policyFile, notify } = setUpEnforcement({
      stateDir: config.stateDir,
      identity,
      keys,
      platform,
      self,
      time,
      log,
      reports,
      rescan: () => watcher.rescan(),
      onState: wakeSignal.send,
    })
    const watcher = createWatcher({
      inventory,
      createMonitor: config.once ? undefined : platform.monitor,
      clock,
      log,
      reports,
      onChanges: (changes) => {
        spool.add(changes)
        log.info('devices_changed', { changes: changes.length })
        wakeSignal.send()
      },
      enforcement: enforcer,
      timing: platform.timing ?? timing.watcher,
    })
    const policy = createPolicyFetch({
      ...{ calls, protocol, policyFile, enforcer, reports, clock, time, log },
      backoff: timing.loop.backoff,
    })
    cleanUps.push(policy.stop)
    const commands = createCommands({
      agentId: identity.agentId,
      keys,
      time,
      log,
      reports,
      memory: state.commands(),
      saveMemory: state.saveCommands,
      execute: createExecute({
        enforcer,
        fetchPolicy: policy.fetch,
        scanned: watcher.scanned,
        sendLogs: async (id, stopped) => {
          const gzip = await collectDebugLogs(config.stateDir)
          await calls.call('the logs', (token) => protocol.debugLogs(id, gzip, token, stopped), stopped)
        },
        update: (id, build, stopped) => updater.update(id, build, stopped),
      }),
      isUnderWay: (id) => updater.isUnderWay(id),
      onDue: wakeSignal.send,
    })
    cleanUps.push(commands.stop)
    const replaced = new AbortController()
    const updater = createUpdater({
      executable,
      running,
      version,
      architecture: platform.architecture,
      ...platform.installation?.(config.stateDir),
      record: createUpdateRecord(config.stateDir),
      releaseKey,
      calls,
      transport,
      settle: commands.settle,
      onReplaced: () => replaced.abort(),
      clock,
      log,
      reports,
    })
    // An earlier run may have ended before it fetched a new policy, and the server announces a policy only once.
    let isStale = false
    const wake = createWake({ transport, log, onWake: wakeSignal.send, backoff: timing.loop.backoff })
    cleanUps.push(wake.stop)
    loop = createLoop({
      identity,
      protocol,
      checkIns: createCheckIns({
        clock,
        boot,
        devices: watcher.devices,
        facts: facts.collect,
        enforcement: enforcer.state,
        spool,
        commands,
        reports,
        factsEveryMs: timing.factsEveryMs,
      }),
      spool,
      commands,
      keys,
      reports,
      state,
      wakeSignal,
      onSession: (token) => {
        calls.useToken(token)
        if (!config.once) wake.useToken(token)
      },
      onAcknowledged: (reported, needPolicy) => {
        updater.healthy()
        if (reported?.mode === 'Armed') enforcer.contacted()
        if (needPolicy) policy.need()
        // An armed host without a policy fetches it at once, because it blocks all new devices until then.
        else if (isStale && enforcer.isArmed())
          policy.needWithin(enforcer.hasPolicy() ? timing.enforcement.refreshMs : 0)
        isStale = false
      },
      onNewKey: () => {
        // The previous key signed the policy on disk. It stays valid until the agent fetches a new one.
        if (enforcer.isArmed()) policy.needWithin(timing.enforcement.refreshMs)
      },
      onRevoked: () => {
        if (enforcer.isArmed()) enforcer.free('The server removed this host.')
      },
      deviceCount: () => watcher.devices().length,
      once: config.once,
      clock,
      log,
      timing: timing.loop,
    })
    // Last in, first out: the watcher stops before the defaults are restored, so that it does not close them again.
    cleanUps.push(enforcer.stop, notify.stop, watcher.stop)
    const release = releaseRequest(config.stateDir)
    const signer = { agentId: identity.agentId, sign: key.sign }
    onRelease = () => {
      platform.answerRequest?.({ stateDir: config.stateDir, version, signer })
      if (!release.exists()) return
      if (enforcer.isArmed()) enforcer.free(RELEASED)
      release.done()
    }
    enforcer.start()
    isStale = enforcer.isArmed()
    onRelease()
    watcher.start()
    cleanUps.push(startTimers(enforcer, watcher, updater, timing.enforcement))
    log.info('watching', { devices: watcher.devices().length, hasEvents: platform.monitor !== undefined })
    keepBuiltInKey(releaseKey, reports)
    updater.start()
    commands.resume()
    await loop.run(AbortSignal.any([signal, replaced.signal]))
    log.info('agent_stopped')
    return replaced.signal.aborted && !signal.aborted ? 'replaced' : 'stopped'
  } finally {
    for (const cleanUp of cleanUps.reverse()) cleanUp()
  }
}

/** Stores the built-in release key. Reports a failure instead of throwing: a full disk must not stop the agent. */
const keepBuiltInKey = (releaseKey: ReleaseKey, reports: Reports): void => {
  try {
    releaseKey.keepBuiltIn()
  } catch (error) {
    reports.add('release_key_not_kept', messageOf(error))
  }
}

/** Starts the periodic checks of enforcement and updates. Returns a function that stops them. */
const startTimers = (
  enforcer: Enforcer,
  watcher: Watcher,
  updater: Updater,
  timing: AgentTiming['enforcement'],
): (() => void) => {
  let timer: NodeJS.Timeout | undefined
  let elapsed = 0
  function next(): void {
    const isFast = enforcer.isArmed() && !watcher.isMonitorReliable()
    const ms = isFast ? Math.min(timing.fastPollMs, timing.tickMs) : timing.tickMs
    timer = setTimeout(() => {
      elapsed += ms
      if (elapsed >= timing.tickMs) {
        elapsed = 0
        enforcer.tick()
        updater.tick()
      }
      if (!watcher.isMonitorReliable()) watcher.checkNew()
      next()
    }, ms)
  }
  next()
  return () => clearTimeout(timer)
}
