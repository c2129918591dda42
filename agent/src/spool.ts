import { closeSync, constants, fsyncSync, ftruncateSync, openSync, readFileSync, renameSync, rmSync } from 'node:fs'
import { dirname, join } from 'node:path'
import { agentLimits, type DeviceChange } from '@portcullis/contract/agent-protocol.ts'
import { messageOf } from './exit.ts'
import { syncDirectory, writeAll } from './files.ts'
import type { Boot } from './platform/platform.ts'
import { createSpoolChanges, type Entry, type Line, type SpoolTime } from './spool-changes.ts'

/** A check-in with changes that was sent but not yet acknowledged. */
export interface Flight {
  bootId: string
  seq: number
  /** Number of its last change. */
  upTo: number
}

export interface SpoolDeps {
  stateDir: string
  boot: Boot
  /** Called when a write failed. The changes stay in memory and are sent. */
  onWriteError: (message: string) => void
  /** Called when changes of a port filled the spool and some were dropped. The server gets their number in order. */
  onDropped: (count: number) => void
  maxChanges?: number
  maxBytes?: number
}

/** Together with an inventory (2 MiB at most) and facts, a body stays under its limit of 4 MiB. */
const MAX_BYTES = 1_500_000
/** A check-in also has a change for each root port that lost some. */
const MAX_CHANGES = agentLimits.changes - 128
/** Size at which the file is rewritten without its acknowledged lines. */
const REWRITE_BYTES = 4_000_000

/**
 * Stores changes durably and in order until the server acknowledges them.
 *
 * The file has one JSON object per line. The next start cuts off a last line without a line end, which a kill can leave.
 * The spool empties the file when all its lines are acknowledged.
 */
export const createSpool = ({
  stateDir,
  boot,
  onWriteError,
  onDropped,
  maxChanges = MAX_CHANGES,
  maxBytes = MAX_BYTES,
}: SpoolDeps) => {
  const path = join(stateDir, 'spool.jsonl')
  const changes = createSpoolChanges({ maxChanges, maxBytes })
  let flight: Flight | undefined
  let fileBytes = 0
  let fd = openSync(path, constants.O_RDWR | constants.O_CREAT | constants.O_APPEND, 0o600)

  function load(): void {
    syncDirectory(dirname(path))
    const content = readFileSync(path)
    let end = 0
    // Stryker disable next-line ConditionalExpression,UnaryOperator: The text after the last line end is not JSON.
    for (let newline = content.indexOf(10); newline !== -1; newline = content.indexOf(10, end)) {
      let line: Line
      try {
        line = JSON.parse(content.toString('utf8', end, newline)) as Line
      } catch {
        break
      }
      apply(line, newline - end)
      end = newline + 1
    }
    // If a power loss restores a torn line, the next start cuts it off again.
    ftruncateSync(fd, end)
    fileBytes = end
  }

  function apply(line: Line, length: number): void {
    changes.apply(line, length)
    if (line.kind === 'flight') flight = { bootId: line.bootId, seq: line.seq, upTo: line.upTo }
    else if (line.kind === 'ack' || line.kind === 'overflow') flight = undefined
  }

  /** Runs a write and returns whether it succeeded. */
  function guarded(write: () => void): boolean {
    try {
      write()
      return true
    } catch (error) {
      onWriteError(messageOf(error))
      return false
    }
  }

  const append = (lines: Line[]): boolean =>
    guarded(() => {
      const data = Buffer.from(lines.map((line) => `${JSON.stringify(line)}\n`).join(''))
      try {
        writeAll(fd, data)
        fsyncSync(fd)
        fileBytes += data.length
      } catch (error) {
        // A partial line would corrupt the next one, so cut it off.
        ftruncateSync(fd, fileBytes)
        throw error
      }
    })

  /** Replaces the content of the file with `lines`, atomically. */
  const rewrite = (lines: Line[]): boolean =>
    guarded(() => {
      if (lines.length === 0) {
        ftruncateSync(fd, 0)
        fsyncSync(fd)
        fileBytes = 0
        return
      }
      const data = Buffer.from(lines.map((line) => `${JSON.stringify(line)}\n`).join(''))
      const next = openSync(
        `${path}.new`,
        constants.O_RDWR | constants.O_CREAT | constants.O_TRUNC | constants.O_APPEND,
        0o600,
      )
      try {
        writeAll(next, data)
        fsyncSync(next)
        renameSync(`${path}.new`, path)
      } catch (error) {
        closeSync(next)
        rmSync(`${path}.new`)
        throw error
      }
      closeSync(fd)
      fd = next
      fileBytes = data.length
      syncDirectory(dirname(path))
    })

  /** Returns the lines of a new file. */
  const currentLines = (): Line[] => [
    ...changes.all().map(({ n, change, added, repeated }): Line => ({ kind: 'change', n, change, added, repeated })),
    ...(flight === undefined ? [] : [{ kind: 'flight' as const, ...flight }]),
  ]

  /** Returns a time on the scale of the host clock at `now`, because the clock may have been set since. */
  const onClock = ({ at, added }: SpoolTime, now: number) =>
    added?.boot === boot.id
      ? { at: Math.max(0, now - (boot.elapsed() - added.elapsed)) }
      : { at, beforeRestart: true as const }

  const onWire = ({ change, added, repeated }: Entry, now: number): DeviceChange => ({
    ...change,
    ...onClock({ at: change.at, added }, now),
    ...(repeated === undefined ? {} : { repeated: { count: repeated.count, ...onClock(repeated, now) } }),
  })

  load()

  return {
    /** Adds changes. They are on disk when this returns, unless `onWriteError` was called. */
    add(more: readonly DeviceChange[]): void {
      const added = boot.id === '' ? undefined : { boot: boot.id, elapsed: boot.elapsed() }
      const { lines, dropped } = changes.add(more, added, flight?.upTo ?? 0)
      const isRewrite = fileBytes > REWRITE_BYTES && lines.length > more.length
      if (!isRewrite || !rewrite(currentLines())) append(lines)
      if (dropped > 0) onDropped(dropped)
    },
    /**
     * Returns the unacknowledged changes, oldest first, and the number of the last one. Their times are on the scale of
     * the host clock at `now`.
     */
    pending: (now: number): { changes: DeviceChange[]; upTo: number } => {
      const entries = changes.all()
      return { changes: entries.map((entry) => onWire(entry, now)), upTo: entries.at(-1)?.n ?? 0 }
    },
    get size(): number {
      return changes.size
    },
    /** Records durably that the changes up to `upTo` are about to be sent. */
    markFlight(mark: Flight): void {
      flight = mark
      append([{ kind: 'flight', ...mark }])
    },
    /** Returns the check-in of an earlier start whose result is unknown. */
    openFlight: (): Flight | undefined => flight,
    /** Drops the changes up to `upTo`, because the server has them or refused them. */
    acknowledge(upTo: number): void {
      changes.forgetUpTo(upTo)
      flight = undefined
      if (changes.size === 0) rewrite([])
      // Stryker disable next-line EqualityOperator: At exactly the limit, both are correct.
      else if (fileBytes <= REWRITE_BYTES || !rewrite(currentLines())) append([{ kind: 'ack', upTo }])
    },
    /** Forgets a check-in that did not arrive. The next check-in sends its changes. */
    forgetFlight(): void {
      // Stryker disable next-line ConditionalExpression: Without changes, the file has nothing that a start needs.
      if (flight === undefined) return
      flight = undefined
      if (changes.size === 0) rewrite([])
    },
    close(): void {
      closeSync(fd)
    },
  }
}
export type Spool = ReturnType<typeof createSpool>
