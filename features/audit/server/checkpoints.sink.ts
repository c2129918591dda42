import type { KeyObject } from 'node:crypto'
import { mkdir, open, readdir, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { type AuditCheckpoint, checkpointKeyId, maxCheckpointLine } from '@portcullis/domain'

/** Names of the monthly checkpoint files. At one checkpoint a minute, a month has about 18 MB. */
const monthFile = /^\d{4}-\d{2}\.jsonl$/

/** Returns the checkpoint files of a directory, oldest first. */
export const checkpointFiles = async (dir: string): Promise<string[]> =>
  (await readdir(dir)).filter((name) => monthFile.test(name)).sort()

export interface SinkEnd {
  /** The last checkpoint. Null without one. */
  line: string | null
  /** Incomplete line of an interrupted write. */
  partial: string
}

const lineFeed = 10

/** Returns the size of the opened file. On NFS, opening asks the server, while a path may be answered from a cache. */
const sizeOf = async (file: string): Promise<number> => {
  const handle = await open(file, 'r')
  return handle
    .stat()
    .then(({ size }) => size)
    .finally(() => handle.close())
}

/** Returns the last complete line of a file, and the incomplete rest. */
const readEnd = async (file: string): Promise<SinkEnd> => {
  const handle = await open(file, 'r')
  try {
    const { size } = await handle.stat()
    const length = Math.min(size, 2 * maxCheckpointLine)
    const { buffer } = await handle.read(Buffer.alloc(length), 0, length, size - length)
    const end = buffer.lastIndexOf(lineFeed)
    const from = end < 1 ? -1 : buffer.lastIndexOf(lineFeed, end - 1)
    return {
      line: end < 0 ? null : buffer.toString('latin1', from + 1, end),
      partial: buffer.toString('latin1', end + 1),
    }
  } finally {
    await handle.close()
  }
}

/**
 * Stores checkpoints outside the database, in files that are only ever appended to. The directory can therefore be on
 * append-only media (`chattr +a`) or on another machine.
 * @param mayMake false: a person configured the directory, so a missing one is a missing mount
 */
export const createCheckpointSink = (dir: string, { mayMake }: { mayMake: boolean }) => {
  let seen: { name: string; size: number; end: SinkEnd } | null = null

  async function end(): Promise<SinkEnd> {
    if (mayMake) await mkdir(dir, { recursive: true, mode: 0o750 })
    const names = (await checkpointFiles(dir)).reverse()
    const [newest] = names
    if (newest === undefined) return { line: null, partial: '' }
    const size = await sizeOf(join(dir, newest))
    if (seen?.name === newest && seen.size === size) return seen.end
    const found: SinkEnd = { line: null, partial: '' }
    for (const name of names) {
      const { line, partial } = await readEnd(join(dir, name))
      if (name === newest) found.partial = partial
      found.line = line
      if (line !== null) break
    }
    seen = { name: newest, size, end: found }
    return found
  }

  return {
    end,

    /** Appends checkpoints and waits until they are on disk. */
    append: async (checkpoints: readonly { line: string; checkpoint: AuditCheckpoint }[]): Promise<void> => {
      let { partial } = await end()
      let newest = (await checkpointFiles(dir)).at(-1) ?? ''
      const texts = new Map<string, string>()
      for (const { line, checkpoint } of checkpoints) {
        const own = `${checkpoint.time.slice(0, 7)}.jsonl`
        // The file never goes back to an earlier month, even if the clock does. An incomplete line ends in its own
        // file.
        const name = partial !== '' || newest > own ? newest : own
        texts.set(name, `${texts.get(name) ?? ''}${line.slice(partial.length)}\n`)
        partial = ''
        newest = name
      }
      seen = null
      for (const [name, text] of texts) {
        const handle = await open(join(dir, name), 'a', 0o640)
        try {
          await handle.appendFile(text)
          await handle.sync()
        } finally {
          await handle.close()
        }
      }
      const folder = await open(dir, 'r')
      await folder.sync().finally(() => folder.close())
    },

    /** Stores the public key next to the checkpoints, for people. Verification never trusts it. */
    publish: async (own: KeyObject): Promise<void> => {
      const file = join(dir, `${checkpointKeyId(own)}.pem`)
      await writeFile(file, own.export({ type: 'spki', format: 'pem' }), { flag: 'wx' }).catch(
        (error: NodeJS.ErrnoException) => {
          if (error.code !== 'EEXIST') throw error
        },
      )
    },
  }
}
