/** A disk that loses power: what nobody had flushed to it by then is gone. */
import { execFileSync } from 'node:child_process'
import { chmodSync, existsSync, mkdirSync, renameSync, rmSync, truncateSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { undoAtBreak } from './leftovers.ts'

const makeFileSystem = ['/usr/sbin/mkfs.ext4', '/sbin/mkfs.ext4'].find((path) => existsSync(path))

/** Why there can be no such disk here; undefined: there can. */
export const whyNoLossyDisk = (): string | undefined => {
  if (process.platform !== 'linux' || process.getuid?.() !== 0) return 'mounting a disk takes root on Linux'
  if (!existsSync('/dev/loop-control')) return 'this machine has no loop devices'
  return makeFileSystem === undefined ? 'mkfs.ext4 is not installed' : undefined
}

/**
 * Mounts a file system in a file at `folder`/mount. The file receives what the kernel writes to the disk, and nothing
 * that it only remembers: a copy of the file is what a power loss leaves. The kernel remembers unflushed data for 30 s.
 */
export const mountLossyDisk = (folder: string, megabytes: number) => {
  const [image, left, mount] = ['disk', 'left', 'mount'].map((name) => join(folder, name)) as [string, string, string]
  mkdirSync(mount)
  writeFileSync(image, '')
  truncateSync(image, megabytes * 2 ** 20)
  execFileSync(String(makeFileSystem), ['-q', '-F', '-m', '0', '-E', 'lazy_itable_init=0,lazy_journal_init=0', image])
  const attach = (): void => {
    execFileSync('mount', ['-o', 'loop,commit=300', image, mount])
    chmodSync(mount, 0o711)
  }
  let isMounted = false
  const unmount = (): void => {
    if (isMounted) execFileSync('umount', ['-l', mount])
    isMounted = false
  }
  const isUndone = undoAtBreak(unmount)
  attach()
  isMounted = true
  return {
    /** Where it is mounted. */
    path: mount,
    /** Cuts the power and gives it back. Whoever wrote to the disk has to be dead by then. */
    cut: (): void => {
      execFileSync('cp', ['--sparse=always', image, left])
      execFileSync('umount', [mount])
      isMounted = false
      renameSync(left, image)
      attach()
      isMounted = true
    },
    unmount: (): void => {
      unmount()
      isUndone()
      rmSync(image, { force: true })
    },
  }
}
