import type { AgentCommandBodies } from '@portcullis/contract/agent-protocol'
import type { Clock } from '../clock.ts'
import { messageOf } from '../exit.ts'
import { removeIfThere } from '../files.ts'
import type { Log } from '../log.ts'
import type { Reports } from '../reports.ts'
import type { ServerCalls } from '../server-calls.ts'
import type { Transport } from '../transport/http.ts'
import { checkBuild, ForeignBuild, fetchBuild } from './fetch-build.ts'
import { MAX_STARTS, previousOf, rollBack, swapIn, type UpdateRecordFile } from './record.ts'
import { type ReleaseKey, ReleaseKeyMissing } from './release-key.ts'

export interface UpdaterDeps {
  /** Path of the installed executable; undefined when the agent runs from a checkout. */
  executable: string | undefined
  version: string
  architecture: string
  record: UpdateRecordFile
  releaseKey: ReleaseKey
  calls: ServerCalls
  transport: Pick<Transport, 'download'>
  /** The outcome of an update command; undefined: it succeeded. */
  settle: (commandId: string, failure: string | undefined) => void
  /** Another executable is in place: this process has to make room for it. */
  onReplaced: () => void
  clock: Clock
  log: Log
  reports: Pick<Reports, 'add'>
}

/** A version that works has checked in long before, even behind a slow start of the network. */
const PROBATION_MS = 120_000

/** Replaces the executable by a newer one, and takes it back when that does not get through to the server. */
export const createUpdater = (deps: UpdaterDeps) => {
  const { executable, version, architecture, record, calls, transport, clock, log, reports } = deps
  let deadline = Number.POSITIVE_INFINITY

  function giveUp(failure: string): void {
    const current = record.load()
    if (current === undefined) return
    deadline = Number.POSITIVE_INFINITY
    try {
      rollBack(record, current, failure)
    } catch (error) {
      // Without the version before this one is all there is.
      reports.add('roll_back_failed', messageOf(error))
      deps.settle(current.commandId, `${failure} It could not be rolled back: ${messageOf(error)}.`)
      record.clear()
      return
    }
    log.error('update_rolled_back', { from: current.to, to: current.from, reason: failure })
    deps.onReplaced()
  }

  /** Follows the rotations of the command, then refuses a build that the key of this host did not sign. */
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
    /** Tells the fate of an update that an earlier start left open. Call before commands go on. */
    start(): void {
      const current = record.load()
      if (current === undefined) return
      if (current.state === 'rolled-back' || current.to !== version) {
        const failure = current.failure || `This host runs ${version} instead of ${current.to}.`
        deps.settle(current.commandId, failure)
        reports.add('update_failed', failure)
        record.clear()
        return
      }
      const starts = current.starts + 1
      record.save({ ...current, starts })
      deadline = clock.monotonic() + PROBATION_MS
      if (starts > MAX_STARTS) giveUp(`${current.to} was started ${MAX_STARTS} times and never reached the server.`)
    },

    isUnderWay: (commandId: string): boolean => record.load()?.commandId === commandId,

    /** The server acknowledged a check-in of this version. */
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
      if (clock.monotonic() >= deadline) giveUp(`${version} did not reach the server within ${PROBATION_MS / 1000} s.`)
    },

    /**
     * Fetches, verifies and puts a build in place. The command is answered by the next start.
     *
     * @throws with why not; the running version stays
     */
    async update(commandId: string, build: AgentCommandBodies['update'], signal: AbortSignal): Promise<void> {
      if (executable === undefined)
        throw new Error('This agent is not an installed executable (it runs from a checkout); update it there.')
      const under = record.load()
      if (under?.commandId === commandId) return
      if (under !== undefined) throw new Error(`The update to ${under.to} is not finished yet.`)
      check(build)
      const target = `${executable}.new`
      await calls.call(
        'the build',
        (token) => fetchBuild(transport, build, { target, like: executable }, token, signal),
        signal,
      )
      record.save({
        commandId,
        from: version,
        to: build.version,
        executable,
        state: 'swapped',
        starts: 0,
        ends: 0,
        failure: '',
      })
      try {
        swapIn(executable, target)
      } catch (error) {
        record.clear()
        removeIfThere(target)
        throw new Error(`The executable could not be replaced: ${messageOf(error)}.`)
      }
      log.info('update_swapped', { from: version, to: build.version })
      deps.onReplaced()
    },
  }
}
export type Updater = ReturnType<typeof createUpdater>
