/** Mounts a disk of a few megabytes for one directory of a database, so that tests can fill it. */
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
import { onInterrupt } from './interrupts.ts'

/** Returns the reason why this machine cannot create such a disk; undefined if it can. */
export const whyNoSmallDisk = (): string | undefined =>
  process.platform !== 'linux' || process.getuid?.() !== 0 ? 'mounting a disk needs root on Linux' : undefined

/** Mounts a memory disk at `folder`. */
export const mountSmallDisk = (folder: string, megabytes: number) => {
  mkdirSync(folder, { recursive: true })
  execFileSync('mount', ['-t', 'tmpfs', '-o', `size=${megabytes}m,mode=0711`, 'portcullis-drill', folder])
  let isMounted = true
  const unmount = (): void => {
    if (isMounted) execFileSync('umount', ['-l', folder])
    isMounted = false
  }
  onInterrupt(unmount)
  const ballast = join(folder, 'ballast')
  return {
    /** Moves a directory of a stopped database onto the disk. */
    take: (path: string, name: string): void => {
      const { uid, gid, mode } = statSync(path)
      const there = join(folder, name)
      // `cp -a` keeps owners and links.
      execFileSync('cp', ['-a', path, there])
      chownSync(there, uid, gid)
      chmodSync(there, mode & 0o7777)
      rmSync(path, { recursive: true })
      symlinkSync(there, path)
    },
    fill: (): void => {
      const file = openSync(ballast, 'a')
      try {
        for (const size of [1_048_576, 4_096]) {
          const block = Buffer.alloc(size)
          for (;;) {
            const { bavail, bsize } = statfsSync(folder)
            if (bavail * bsize < size || writeSync(file, block) < size) break
          }
        }
      } catch (error) {
        if ((error as NodeJS.ErrnoException).code !== 'ENOSPC') throw error
      } finally {
        closeSync(file)
      }
    },
    /** Frees the space that `fill` used. */
    free: (): void => rmSync(ballast, { force: true }),
    unmount,
  }
}
