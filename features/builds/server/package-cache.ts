import { createHash } from 'node:crypto'
import { createReadStream, createWriteStream } from 'node:fs'
import { mkdir, open, readdir, rename, rm, stat } from 'node:fs/promises'
import { join } from 'node:path'
import { Readable } from 'node:stream'
import { pipeline } from 'node:stream/promises'
import { guarded } from '@portcullis/platform/server/body.ts'
import type { Db } from '@portcullis/platform/server/db/db.ts'
import { createTurns } from '@portcullis/platform/server/limiters/turns.ts'
import { decompressor } from './package-file.ts'
import { createPackagesStore } from './packages.store.ts'

/**
 * Limits of concurrent downloads from one replica: at 1 Gbit/s they share 2 MB/s each, so one takes under a minute. The
 * others wait for less than 30 s, the timeout of an agent.
 */
const downloads = { atOnce: 64, waiting: 2_000, waitMs: 25_000, retryAfter: 20, spread: 20 }

export interface CachedBuild {
  packageId: string
  /** Hex. */
  sha256: string
  size: number
}

const digestOf = async (path: string): Promise<string> => {
  const hash = createHash('sha256')
  await pipeline(createReadStream(path), hash)
  return hash.digest('hex')
}

/**
 * Caches executables as files, read from the database on the first download. Hundreds of agents cost the database one
 * read of 34 MB per replica; the rest are file downloads.
 */
export const createPackageCache = (db: Db, folder: string) => {
  const { chunk } = createPackagesStore(db)
  /** Verified files of this process, and those being written. */
  const files = new Map<string, Promise<string>>()
  const turns = createTurns(downloads)
  let drafts = 0

  async function* compressed(packageId: string): AsyncGenerator<Buffer> {
    for (let n = 0; ; n++) {
      const bytes = await chunk(packageId, n)
      if (bytes === undefined) return
      yield bytes
    }
  }

  async function make({ packageId, sha256, size }: CachedBuild): Promise<string> {
    const path = join(folder, sha256)
    const known = await stat(path).catch(() => null)
    // An earlier start wrote this file, and a disk failure may have damaged it.
    if (known?.size === size && (await digestOf(path)) === sha256) return path
    await mkdir(folder, { recursive: true, mode: 0o700 })
    const draft = `${path}.${process.pid}-${++drafts}`
    try {
      await pipeline(Readable.from(compressed(packageId)), decompressor(), createWriteStream(draft, { mode: 0o600 }))
      if ((await digestOf(draft)) !== sha256) throw new Error(`package ${packageId} in the database is damaged`)
      await rename(draft, path)
    } finally {
      await rm(draft, { force: true })
    }
    return path
  }

  function fileOf(build: CachedBuild): Promise<string> {
    const known = files.get(build.sha256)
    if (known !== undefined) return known
    const made = make(build)
    files.set(build.sha256, made)
    made.catch(() => files.delete(build.sha256))
    return made
  }

  async function openFile(build: CachedBuild) {
    try {
      return await open(await fileOf(build))
    } catch (error) {
      if ((error as NodeJS.ErrnoException).code !== 'ENOENT') throw error
      // Another process deleted the file.
      files.delete(build.sha256)
      return open(await fileOf(build))
    }
  }

  return {
    /** Returns the bytes of an executable. Ends if its reader stalls; refused while too many downloads are running. */
    download: async (build: CachedBuild): Promise<Readable> => {
      const leave = await turns.enter()
      try {
        const file = (await openFile(build)).createReadStream()
        const body = guarded()
        body.once('close', () => {
          leave()
          file.destroy()
        })
        file.once('error', (error) => body.destroy(error))
        return file.pipe(body)
      } catch (error) {
        leave()
        throw error
      }
    },

    /** Deletes files of builds that are no longer served. */
    keepOnly: async (digests: readonly string[]): Promise<void> => {
      const kept = new Set(digests)
      const names = await readdir(folder).catch(() => [])
      for (const name of names) if (!kept.has(name.slice(0, 64))) await rm(join(folder, name), { force: true })
      for (const digest of files.keys()) if (!kept.has(digest)) files.delete(digest)
    },
  }
}
