/** Parts of the platform that Linux and macOS share. */
import { chmodSync, existsSync, fstatSync, mkdirSync, statSync } from 'node:fs'
import { dirname } from 'node:path'
import { errnoOf } from '../exit.ts'
import type { System } from './platform.ts'

/** Permission bits of the group and of other users. */
const OTHERS = 0o077

/**
 * Does not use `recursive: true`, because Node's recursion never returns under /proc, where mkdir always fails with
 * ENOENT.
 */
const makeDir = (dir: string): void => {
  try {
    mkdirSync(dir, { mode: 0o700 })
  } catch (error) {
    if (errnoOf(error) === 'EEXIST') return
    if (errnoOf(error) !== 'ENOENT' || existsSync(dirname(dir))) throw error
    makeDir(dirname(dir))
    mkdirSync(dir, { mode: 0o700 })
  }
}

/**
 * Creates a directory if necessary and makes it private.
 *
 * @throws an error with the reason
 */
export const preparePrivateDir = (dir: string): void => {
  makeDir(dir)
  const stat = statSync(dir)
  if (!stat.isDirectory()) throw new Error('it is not a directory')
  if ((stat.mode & OTHERS) !== 0) chmodSync(dir, 0o700)
}

/** Returns whether only root and the owner, which is root or this user, can read an open file. */
const isPrivate = (fd: number): boolean => {
  const { uid, mode } = fstatSync(fd)
  return (uid === 0 || uid === process.getuid?.()) && (mode & OTHERS) === 0
}

/** Signal that asks a running agent to read its state directory. */
const REQUEST = 'SIGUSR2'

export const posixSystem: Pick<System, 'isPrivate' | 'onRequest' | 'request'> = {
  isPrivate,
  onRequest(handler) {
    process.on(REQUEST, handler)
    return () => process.off(REQUEST, handler)
  },
  request: (pid) => {
    process.kill(pid, REQUEST)
  },
}
