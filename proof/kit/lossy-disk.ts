/** Simulates a disk that loses power: unflushed data is lost. */
import { execFileSync } from 'node:child_process'
import { chmodSync, existsSync, mkdirSync, renameSync, rmSync, truncateSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { onInterrupt } from './interrupts.ts'

const makeFileSystem = ['/usr/sbin/mkfs.ext4', '/sbin/mkfs.ext4'].find((path) => existsSync(path))

/** Returns the reason why this machine cannot create such a disk; undefined if it can. */
export const whyNoLossyDisk = (): string | undefined => {
  if (process.platform !== 'linux' || process.getuid?.() !== 0) return 'mounting a disk needs root on Linux'
  if (!existsSync('/dev/loop-control')) return 'this machine has no loop devices'
  return makeFileSystem === undefined ? 'mkfs.ext4 is not installed' : undefined
}

/**
 * Mounts a file system from a file at `folder`/mount. The file receives only data that the kernel writes to the disk,
 * so a copy of the file is the state after a power loss. The kernel keeps unflushed data in memory for 30 s.
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
  const isUndone = onInterrupt(unmount)
  attach()
  isMounted = true
  return {
    /** Mount point. */
    path: mount,
    /** Cuts the power and restores it. All processes that wrote to the disk must have ended. */
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
