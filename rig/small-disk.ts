/** A disk of a few megabytes under one folder of a database, to be filled. */
import { execFileSync } from 'node:child_process'
import {
  chmodSync,
  chownSync,
  closeSync,
  mkdirSync,
  openSync,
  rmSync,
  statfsSync,
  statSync,
  symlinkSync,
  writeSync,
} from 'node:fs'
import { join } from 'node:path'
import { undoAtBreak } from './leftovers.ts'

/** Why there can be no such disk here; undefined: there can. */
export const whyNoSmallDisk = (): string | undefined =>
  process.platform !== 'linux' || process.getuid?.() !== 0 ? 'mounting a disk takes root on Linux' : undefined

/** Mounts a disk in memory at `folder`. */
export const mountSmallDisk = (folder: string, megabytes: number) => {
  mkdirSync(folder, { recursive: true })
  execFileSync('mount', ['-t', 'tmpfs', '-o', `size=${megabytes}m,mode=0711`, 'portcullis-drill', folder])
  let isMounted = true
  const unmount = (): void => {
    if (isMounted) execFileSync('umount', ['-l', folder])
    isMounted = false
  }
  undoAtBreak(unmount)
  const ballast = join(folder, 'ballast')
  return {
    /** Moves a folder of a stopped database onto the disk. */
    take: (path: string, name: string): void => {
      const { uid, gid, mode } = statSync(path)
      const there = join(folder, name)
      // Not `cp`: owners are kept, and links stay links.
      execFileSync('cp', ['-a', path, there])
      chownSync(there, uid, gid)
      chmodSync(there, mode & 0o7777)
      rmSync(path, { recursive: true })
      symlinkSync(there, path)
    },
    /** Takes every byte that is free now, or all but so many. */
    fill: (keepBytes = 0): void => {
      const file = openSync(ballast, 'a')
      try {
        for (const size of [1_048_576, 4_096]) {
          const block = Buffer.alloc(size)
          for (;;) {
            const { bavail, bsize } = statfsSync(folder)
            if (bavail * bsize - keepBytes < size || writeSync(file, block) < size) break
          }
        }
      } catch (error) {
        if ((error as NodeJS.ErrnoException).code !== 'ENOSPC') throw error
      } finally {
        closeSync(file)
      }
    },
    freeBytes: (): number => {
      const { bavail, bsize } = statfsSync(folder)
      return bavail * bsize
    },
    /** Gives back what `fill` took. */
    free: (): void => rmSync(ballast, { force: true }),
    unmount,
  }
}
