import { type FileHandle, open, stat } from 'node:fs/promises'
import { Readable } from 'node:stream'

const blockBytes = 64 * 1024
/** Blocks of all files that stay in memory for the next reader: 16 MiB. */
const keptBlocks = 256

/** Bytes that replace those of the file from this offset. */
export interface Patch {
  offset: number
  bytes: Buffer
}

/** An open file and its readers. */
interface SharedFile {
  /** Also distinguishes it from a file that replaced it. */
  id: string
  size: number
  handle: Promise<FileHandle>
  readers: number
}

/** A file for one reader. */
export interface FileBytes {
  stream: Readable
  size: number
  /** Returns the number of bytes that the reader has asked for. */
  asked(): number
}

/** Writes the part of a patch that is within the block. */
const patched = (block: Buffer, start: number, patches: readonly Patch[]): Buffer => {
  const within = patches.filter(({ offset, bytes }) => offset < start + block.length && offset + bytes.length > start)
  if (within.length === 0) return block
  const copy = Buffer.from(block)
  for (const { offset, bytes } of within) {
    const skipped = Math.max(0, start - offset)
    bytes.copy(copy, offset + skipped - start, skipped)
  }
  return copy
}

/**
 * Lets many readers read the same files: a file takes one descriptor, and a block of it is in memory once, however many
 * clients download it.
 */
export const createSharedFiles = () => {
  const files = new Map<string, SharedFile>()
  /** Least recently used first. */
  const blocks = new Map<string, Promise<Buffer>>()

  function enter(path: string, { ino, size, mtimeMs }: { ino: number; size: number; mtimeMs: number }): SharedFile {
    const id = `${path} ${ino} ${size} ${mtimeMs}`
    const file = files.get(id) ?? { id, size, handle: open(path), readers: 0 }
    files.set(id, file)
    file.readers += 1
    return file
  }

  async function leave(file: SharedFile): Promise<void> {
    file.readers -= 1
    if (file.readers > 0) return
    files.delete(file.id)
    await (await file.handle).close()
  }

  async function readBlock({ handle, size }: SharedFile, at: number): Promise<Buffer> {
    const block = Buffer.allocUnsafeSlow(Math.min(blockBytes, size - at))
    const { bytesRead } = await (await handle).read(block, 0, block.length, at)
    if (bytesRead < block.length) throw new Error('the file became shorter while it was read')
    return block
  }

  function blockOf(file: SharedFile, at: number): Promise<Buffer> {
    const key = `${file.id} ${at}`
    const known = blocks.get(key)
    const block = known ?? readBlock(file, at)
    if (known === undefined) block.catch(() => blocks.delete(key))
    blocks.delete(key)
    blocks.set(key, block)
    const [oldest] = blocks.keys()
    if (blocks.size > keptBlocks && oldest !== undefined) blocks.delete(oldest)
    return block
  }

  return {
    /** Returns the bytes of a file. Rejects if the file cannot be opened. */
    read: async (path: string, patches: readonly Patch[] = []): Promise<FileBytes> => {
      const file = enter(path, await stat(path))
      try {
        await file.handle
      } catch (error) {
        await leave(file).catch(() => {})
        throw error
      }
      let at = 0
      const stream = new Readable({
        highWaterMark: 1,
        read() {
          if (at >= file.size) {
            this.push(null)
            return
          }
          const start = at
          at += blockBytes
          blockOf(file, start).then(
            (block) => this.push(patched(block, start, patches)),
            (error: Error) => this.destroy(error),
          )
        },
        destroy(error, done) {
          leave(file).then(
            () => done(error),
            () => done(error),
          )
        },
      })
      return { stream, size: file.size, asked: () => at }
    },
  }
}

export type SharedFiles = ReturnType<typeof createSharedFiles>
