import fs from 'node:fs'
import { syncBuiltinESMExports } from 'node:module'
import { join } from 'node:path'

/**
 * Records what a power loss would leave in a directory: the bytes of each file at its last fsync, under the names at the
 * last fsync of the directory. `leftIn` writes that state to another directory. Call `stop` at the end.
 */
export const watchPowerLoss = (dir: string) => {
  const real = fs.fsyncSync
  /** Content at the last fsync, by inode. */
  const synced = new Map<number, Buffer>()
  let names = new Map<string, number>()

  const inodeOf = (path: string): number => fs.statSync(path).ino
  const watched = inodeOf(dir)

  fs.fsyncSync = (fd) => {
    real(fd)
    const { ino } = fs.fstatSync(fd)
    if (ino === watched) names = new Map(fs.readdirSync(dir).map((name) => [name, inodeOf(join(dir, name))]))
    // Open the file again, because the descriptor may be write-only.
    else if (fs.fstatSync(fd).isFile()) synced.set(ino, fs.readFileSync(`/proc/self/fd/${fd}`))
  }
  syncBuiltinESMExports()

  return {
    leftIn: (other: string): void => {
      for (const [name, inode] of names) fs.writeFileSync(join(other, name), synced.get(inode) ?? '')
    },
    stop: (): void => {
      fs.fsyncSync = real
      syncBuiltinESMExports()
    },
  }
}
