import { closeSync, constants, fsyncSync, ftruncateSync, openSync, readFileSync, renameSync, rmSync } from 'node:fs'
import { dirname, join } from 'node:path'
import { agentLimits, type DeviceChange } from '@portcullis/contract/agent-protocol'
import { messageOf } from './exit.ts'
import { syncDirectory, writeAll } from './files.ts'
import type { Boot } from './platform/platform.ts'

/** A check-in with changes that was sent but not yet acknowledged. */
export interface Flight {
  bootId: string
  seq: number
  /** Number of its last change. */
  upTo: number
}

/** A time in a boot of the host. */
interface Moment {
  boot: string
  /** Milliseconds since that boot. */
  elapsed: number
}

interface Entry {
  n: number
  change: DeviceChange
  /** When the change was added. Undefined: by an older agent. */
  added: Moment | undefined
  bytes: number
}

export interface SpoolDeps {
  stateDir: string
  boot: Boot
  /** Called when a write failed. The changes stay in memory and are sent. */
  onWriteError: (message: string) => void
  /** Called when a full spool dropped changes. The agent must then send the full inventory. */
  onOverflow: (dropped: number) => void
  maxChanges?: number
  maxBytes?: number
}

/** Together with an inventory (2 MiB at most) and facts, a body stays under its limit of 4 MiB. */
const MAX_BYTES = 1_500_000
/** Size at which the file is rewritten without its acknowledged lines. */
const REWRITE_BYTES = 4_000_000

type Line =
  | { kind: 'change'; n: number; change: DeviceChange; added?: Moment | undefined }
  | ({ kind: 'flight' } & Flight)
  | { kind: 'ack'; upTo: number }
  | { kind: 'overflow'; dropped: number }

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
  onOverflow,
  maxChanges = agentLimits.changes,
  maxBytes = MAX_BYTES,
}: SpoolDeps) => {
  const path = join(stateDir, 'spool.jsonl')
  let entries: Entry[] = []
  let bytes = 0
  let nextNumber = 1
  let flight: Flight | undefined
  let fileBytes = 0
  let fd = -1

  function load(): void {
    fd = openSync(path, constants.O_RDWR | constants.O_CREAT | constants.O_APPEND, 0o600)
    syncDirectory(dirname(path))
    const content = readFileSync(path)
    let end = 0
    for (let start = 0; start < content.length; ) {
      const newline = content.indexOf(10, start)
      if (newline === -1) break
      let line: Line
      try {
        line = JSON.parse(content.toString('utf8', start, newline)) as Line
      } catch {
        break
      }
      apply(line, newline - start)
      start = newline + 1
      end = start
    }
    if (end < content.length) {
      ftruncateSync(fd, end)
      fsyncSync(fd)
    }
    fileBytes = end
  }

  function apply(line: Line, length: number): void {
    if (line.kind === 'change') {
      entries.push({ n: line.n, change: line.change, added: line.added, bytes: length })
      bytes += length
      nextNumber = Math.max(nextNumber, line.n + 1)
    } else if (line.kind === 'flight') {
      flight = { bootId: line.bootId, seq: line.seq, upTo: line.upTo }
    } else if (line.kind === 'ack') {
      dropUpTo(line.upTo)
    } else {
      entries = []
      bytes = 0
      flight = undefined
    }
  }

  function dropUpTo(upTo: number): void {
    while (entries[0] !== undefined && entries[0].n <= upTo) bytes -= entries.shift()?.bytes ?? 0
    flight = undefined
    nextNumber = Math.max(nextNumber, upTo + 1)
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
        rmSync(`${path}.new`, { force: true })
        throw error
      }
      closeSync(fd)
      fd = next
      fileBytes = data.length
      syncDirectory(dirname(path))
    })

  const changeLines = (): Line[] => entries.map(({ n, change, added }): Line => ({ kind: 'change', n, change, added }))

  load()

  return {
    /** Adds changes. They are on disk when this returns, unless `onWriteError` was called. */
    add(changes: readonly DeviceChange[]): void {
      const added = boot.id === '' ? undefined : { boot: boot.id, elapsed: boot.elapsed() }
      const lines = changes.map((change) => ({ kind: 'change' as const, n: nextNumber++, change, added }))
      for (const line of lines) {
        const length = Buffer.byteLength(JSON.stringify(line))
        entries.push({ n: line.n, change: line.change, added, bytes: length })
        bytes += length
      }
      if (entries.length > maxChanges || bytes > maxBytes) {
        const dropped = entries.length
        entries = []
        bytes = 0
        flight = undefined
        const line: Line = { kind: 'overflow', dropped }
        // A line at the end needs less space than a new file, and it voids the lines before it as well.
        if (!rewrite([line])) append([line])
        onOverflow(dropped)
      } else append(lines)
    },
    /**
     * Returns the unacknowledged changes, oldest first, and the number of the last one. Their times are on the scale of
     * the host clock at `now`, because it may have been set since they were added.
     */
    pending: (now: number): { changes: DeviceChange[]; upTo: number } => ({
      changes: entries.map(({ change, added }) =>
        added?.boot === boot.id
          ? { ...change, at: Math.max(0, now - (boot.elapsed() - added.elapsed)) }
          : { ...change, beforeRestart: true },
      ),
      upTo: entries.at(-1)?.n ?? 0,
    }),
    get size(): number {
      return entries.length
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
      dropUpTo(upTo)
      if (entries.length === 0) rewrite([])
      else if (fileBytes <= REWRITE_BYTES || !rewrite(changeLines())) append([{ kind: 'ack', upTo }])
    },
    /** Forgets a check-in that did not arrive. The next check-in sends its changes. */
    forgetFlight(): void {
      if (flight === undefined) return
      flight = undefined
      if (entries.length === 0) rewrite([])
    },
    close(): void {
      closeSync(fd)
    },
  }
}
export type Spool = ReturnType<typeof createSpool>
