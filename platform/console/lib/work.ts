import type { Clock } from './clock.ts'

/** A file that this tab is fetching, as the job tray shows it. */
export interface Transfer {
  id: number
  /** Name of the file: a guess until the server has sent it. */
  name: string
  state: 'running' | 'completed' | 'failed' | 'cancelled'
  /** Bytes received. */
  bytes: number
  /** Progress from 0 to 1; null if unknown. */
  share: number | null
  failure: unknown
  /** Time of its end, ms since 1970. */
  endedAt: number | null
}

/** A response that is read in chunks. */
export interface OpenFile {
  body: ReadableStream<Uint8Array<ArrayBuffer>>
  type: string
  /** The name the server chose. */
  name: string
  /** Expected number of bytes, or null. */
  size: number | null
}

export interface TransferInput {
  /** Name until the server sends one. */
  name: string
  open: (signal: AbortSignal) => Promise<OpenFile>
  /**
   * Expected lines of text: a file that is generated while it is sent has no length, but its number of rows is known.
   */
  lines?: number
}

export interface WorkDeps {
  clock: Clock
  /** Saves the finished file. */
  save: (file: { blob: Blob; name: string }) => void
}

const lineFeed = 10

const linesIn = (piece: Uint8Array): number => {
  let lines = 0
  for (let at = piece.indexOf(lineFeed); at !== -1; at = piece.indexOf(lineFeed, at + 1)) lines++
  return lines
}

// Rendering for every chunk of 64 KiB would cost more than the transfer.
const reportEvery = 100

/**
 * The unfinished work of this tab: files being fetched, and server jobs that the person follows. It outlives every
 * screen.
 */
export const createWork = ({ clock, save }: WorkDeps) => {
  let transfers: readonly Transfer[] = []
  let followed: readonly string[] = []
  const aborts = new Map<number, AbortController>()
  const watchers = new Set<() => void>()
  let nextId = 1
  const tell = () => {
    for (const watcher of watchers) watcher()
  }
  const set = (id: number, change: Partial<Transfer>) => {
    transfers = transfers.map((one) => (one.id === id ? { ...one, ...change } : one))
    tell()
  }

  const read = async (id: number, { open, lines }: TransferInput, signal: AbortSignal) => {
    const file = await open(signal)
    set(id, { name: file.name })
    const pieces: Uint8Array<ArrayBuffer>[] = []
    let bytes = 0
    let read = 0
    let reportedAt = clock.now()
    for (const reader = file.body.getReader(); ; ) {
      const { done, value } = await reader.read()
      if (done) break
      pieces.push(value)
      bytes += value.length
      if (lines !== undefined) read += linesIn(value)
      if (clock.now() - reportedAt < reportEvery) continue
      reportedAt = clock.now()
      // Rows that changed since the list was counted must not show as 101 %.
      const share = file.size === null ? (lines === undefined ? null : read / lines) : bytes / file.size
      set(id, { bytes, share: share === null ? null : Math.min(0.99, share) })
    }
    // A response that ended while the person cancelled it is not saved.
    signal.throwIfAborted()
    save({ blob: new Blob(pieces, { type: file.type }), name: file.name })
    set(id, { state: 'completed', bytes, share: 1, endedAt: clock.now() })
  }

  return {
    transfers: () => transfers,
    followed: () => followed,
    watch: (watcher: () => void): (() => void) => {
      watchers.add(watcher)
      return () => watchers.delete(watcher)
    },
    /** Fetches a file in the background. */
    fetchFile: (input: TransferInput): void => {
      const id = nextId++
      const abort = new AbortController()
      aborts.set(id, abort)
      transfers = [
        ...transfers,
        { id, name: input.name, state: 'running', bytes: 0, share: null, failure: null, endedAt: null },
      ]
      tell()
      read(id, input, abort.signal)
        .catch((failure: unknown) =>
          set(id, {
            ...(abort.signal.aborted ? { state: 'cancelled' as const } : { state: 'failed' as const, failure }),
            endedAt: clock.now(),
          }),
        )
        .finally(() => aborts.delete(id))
    },
    cancel: (id: number): void => aborts.get(id)?.abort(),
    /** Hides an ended transfer. */
    forget: (id: number): void => {
      transfers = transfers.filter((one) => one.id !== id || one.state === 'running')
      tell()
    },
    /** Follows a job that this tab has started until its end. */
    follow: (jobId: string): void => {
      followed = [...followed.filter((id) => id !== jobId), jobId].slice(-50)
      tell()
    },
    /** Work of one person is not shown to the next. */
    clear: (): void => {
      for (const abort of aborts.values()) abort.abort()
      transfers = []
      followed = []
      tell()
    },
  }
}

export type Work = ReturnType<typeof createWork>
