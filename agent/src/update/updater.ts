import { mkdirSync } from 'node:fs'
import { dirname } from 'node:path'
import type { AgentCommandBodies } from '@portcullis/contract/agent-protocol.ts'
import type { Clock } from '../clock.ts'
import { messageOf } from '../exit.ts'
import { removeIfThere } from '../files.ts'
import type { Log } from '../log.ts'
import type { Reports } from '../reports.ts'
import type { ServerCalls } from '../server-calls.ts'
import type { Transport } from '../transport/http.ts'
import { checkBuild, ForeignBuild, fetchBuild } from './fetch-build.ts'
import { keepSigned, removeInstalled, shieldScripts } from './installed.ts'
import { MAX_STARTS, previousOf, rollBack, swapIn, type UpdateRecordFile } from './record.ts'
import { type ReleaseKey, ReleaseKeyMissing } from './release-key.ts'

export interface UpdaterDeps {
  /** Path of the installed executable; undefined if the agent runs from a checkout. */
  executable: string | undefined
  /**
   * Path of the running executable, if a package starts the newest version: the package's own, or `executable`.
   * Undefined if updates replace the running executable.
   */
  running: string | undefined
  /** Program that runs builds, if they are scripts. */
  interpreter?: string | undefined
  version: string
  architecture: string
  record: UpdateRecordFile
  releaseKey: ReleaseKey
  calls: ServerCalls
  transport: Pick<Transport, 'download'>
  /** Called with the outcome of an update command. Without a failure, it succeeded. */
  settle: (commandId: string, failure: string | undefined) => void
  /** Called when the executable was replaced, so that this process ends. */
  onReplaced: () => void
  clock: Clock
  log: Log
  reports: Pick<Reports, 'add'>
}

/** Time limit for the first check-in of a new version, including a slow start of the network. */
const PROBATION_MS = 120_000

/** Replaces the executable with a newer one and rolls it back if the new version does not reach the server. */
export const createUpdater = (deps: UpdaterDeps) => {
  const { executable, running, interpreter, version, architecture, record, calls, transport, clock, log, reports } =
    deps
  let deadline = Number.POSITIVE_INFINITY
  const isPackaged = running !== undefined
  /** Whether the package's own version runs, because `executable` is missing, older or not verified. */
  const ownRuns = isPackaged && running !== executable

  /** Forgets an update that ended. */
  function close(): void {
    record.clear()
    if (ownRuns && executable !== undefined) removeInstalled(executable)
  }

  function giveUp(failure: string): void {
    const current = record.load()
    if (current === undefined) return
    deadline = Number.POSITIVE_INFINITY
    try {
      rollBack(record, current, failure)
    } catch (error) {
      // Without the previous version, the new one stays.
      reports.add('roll_back_failed', messageOf(error))
      deps.settle(current.commandId, `${failure} The agent could not roll it back: ${messageOf(error)}.`)
      record.clear()
      return
    }
    log.error('update_rolled_back', { from: current.to, to: current.from, reason: failure })
    deps.onReplaced()
  }

  /** Applies the rotations of the command, then refuses a build that the key of this host did not sign. */
  function check(build: AgentCommandBodies['update']): void {
    try {
      const { releaseKey, sequence, isNew } = deps.releaseKey.follow(build.rotations ?? [])
      if (isNew) log.info('release_key_rotated', { sequence })
      checkBuild(build, { version, architecture, releaseKey })
    } catch (error) {
      if (error instanceof ForeignBuild) reports.add('update_refused', messageOf(error))
      else if (error instanceof ReleaseKeyMissing) reports.add('update_without_key', messageOf(error))
      throw error
    }
  }

  return {
    /** Reports the result of an update that an earlier start left open. Call it before commands are resumed. */
    start(): void {
      const current = record.load()
      if (current === undefined) {
        close()
        return
      }
      if (current.state === 'rolled-back' || current.to !== version) {
        const failure = current.failure || `This host runs ${version} instead of ${current.to}.`
        deps.settle(current.commandId, failure)
        reports.add('update_failed', failure)
        close()
        return
      }
      const starts = current.starts + 1
      record.save({ ...current, starts })
      deadline = clock.monotonic() + PROBATION_MS
      if (starts > MAX_STARTS) giveUp(`Version ${current.to} started ${MAX_STARTS} times and never reached the server.`)
    },

    isUnderWay: (commandId: string): boolean => record.load()?.commandId === commandId,

    /** Call when the server acknowledged a check-in of this version. */
    healthy(): void {
      if (deadline === Number.POSITIVE_INFINITY) return
      deadline = Number.POSITIVE_INFINITY
      const current = record.load()
      if (current === undefined) return
      deps.settle(current.commandId, undefined)
      record.clear()
      removeIfThere(previousOf(current.executable))
      log.info('update_confirmed', { from: current.from, to: current.to })
    },

    tick(): void {
      if (clock.monotonic() >= deadline)
        giveUp(`Version ${version} did not reach the server within ${PROBATION_MS / 1000} s.`)
    },

    /**
     * Downloads, verifies and installs a build. The next start reports the outcome of the command.
     *
     * @throws with the reason if it fails; the running version then stays
     */
    async update(commandId: string, build: AgentCommandBodies['update'], signal: AbortSignal): Promise<void> {
      if (executable === undefined)
        throw new Error(
          'This agent is not an installed executable and cannot update itself. Install the new version on the host.',
        )
      const current = record.load()
      if (current?.commandId === commandId) return
      if (current !== undefined) throw new Error(`The update to version ${current.to} is still in progress.`)
      check(build)
      const target = `${executable}.new`
      if (isPackaged) mkdirSync(dirname(executable), { recursive: true, mode: 0o700 })
      if (interpreter !== undefined) shieldScripts(dirname(executable))
      await calls.call(
        'the build',
        (token) => fetchBuild(transport, build, { target, like: running ?? executable, interpreter }, token, signal),
        signal,
      )
      if (isPackaged) keepSigned(executable, build)
      record.save({
        commandId,
        from: version,
        to: build.version,
        executable,
        state: 'swapped',
        starts: 0,
        ends: 0,
        failure: '',
        ...(ownRuns ? { hasPrevious: false } : {}),
      })
      try {
        swapIn(executable, target, !ownRuns)
      } catch (error) {
        record.clear()
        removeIfThere(target)
        throw new Error(`The agent could not replace its executable: ${messageOf(error)}.`)
      }
      log.info('update_swapped', { from: version, to: build.version })
      deps.onReplaced()
    },
  }
}
export type Updater = ReturnType<typeof createUpdater>
