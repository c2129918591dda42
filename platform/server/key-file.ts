import {
  closeSync,
  fchownSync,
  fsyncSync,
  linkSync,
  openSync,
  readFileSync,
  renameSync,
  rmSync,
  statSync,
  writeFileSync,
} from 'node:fs'
import { dirname } from 'node:path'
import { systemClock } from './clock.ts'
import { StartError } from './start-error.ts'

/** A command key in the key file. The first has no signature; a retired one has no private half. */
export interface StoredCommandKey {
  number: number
  /** Base64 SPKI DER. */
  publicKey: string
  createdAt: string
  /** Signature by the previous key. */
  signature: string | null
  /** Base64 PKCS #8 DER. */
  privateKey: string | null
  /** When it stops signing; null for the newest key and for retired keys. */
  retiresAt: string | null
}

/** `due`: the first sealing follows a running upgrade. `done`: the set of rules was sealed. */
export type RuleSeal = 'due' | 'done'

/** The key file of an installation, stored outside its database. */
export interface KeyFile {
  version: 1
  root: string
  /** The current command key; Base64 PKCS #8 DER. */
  commandPrivateKey: string
  /** All command keys, newest last; absent without a rotation. */
  commandKeys?: readonly StoredCommandKey[]
  /** Newest last; absent: derived from the root. */
  sealing?: { id: number; key: string }[]
  /** Absent: nothing is known. */
  ruleSeal?: RuleSeal
}

export interface KeyFileAccess {
  read(): KeyFile
  /** Replaces the content. Concurrent processes wait for each other. */
  change(next: (content: KeyFile) => KeyFile): void
  /** Returns a text that changes when the file does. */
  state(): string
}

/** Makes a link or rename in the file's folder survive a power loss. */
const flushFolderOf = (file: string): void => {
  const fd = openSync(dirname(file), 'r')
  try {
    fsyncSync(fd)
  } finally {
    closeSync(fd)
  }
}

/** Writes the file atomically and keeps its owner: a command run as root must not take the file from its server. */
const writeKeyFile = (file: string, content: KeyFile): void => {
  const before = statSync(file, { throwIfNoEntry: false })
  rmSync(`${file}.new`, { force: true })
  // A new file: if a link took its place, root would write to its target and give that to another user.
  const fd = openSync(`${file}.new`, 'wx', 0o600)
  try {
    writeFileSync(fd, `${JSON.stringify(content)}\n`, { flush: true })
    if (before !== undefined && process.getuid?.() === 0) fchownSync(fd, before.uid, before.gid)
  } finally {
    closeSync(fd)
  }
  renameSync(`${file}.new`, file)
  flushFolderOf(file)
}

/**
 * Creates the file unless it exists, and returns its content. A link, unlike a rename, never replaces a file, so two
 * servers that start at once get the same keys.
 */
export const createKeyFile = (file: string, content: KeyFile): KeyFile => {
  const own = `${file}.${process.pid}`
  try {
    writeFileSync(own, `${JSON.stringify(content)}\n`, { mode: 0o600, flush: true })
    linkSync(own, file)
    flushFolderOf(file)
    return content
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code !== 'EEXIST') throw error
    // Its writer may not have flushed the folder yet.
    flushFolderOf(file)
    return JSON.parse(readFileSync(file, 'utf8')) as KeyFile
  } finally {
    rmSync(own, { force: true })
  }
}

const lockTries = 200
const lockTryMs = 25
/** A change takes milliseconds, so a process that held the lock this long was killed. */
const staleLockMs = 10_000

const pause = (ms: number): void => void Atomics.wait(new Int32Array(new SharedArrayBuffer(4)), 0, 0, ms)

const withLock = (file: string, work: () => void): void => {
  const lock = `${file}.lock`
  for (let i = 0; ; i++) {
    try {
      closeSync(openSync(lock, 'wx', 0o600))
      break
    } catch (error) {
      if ((error as NodeJS.ErrnoException).code !== 'EEXIST') throw error
      const since = statSync(lock, { throwIfNoEntry: false })?.mtimeMs
      if (since !== undefined && Math.abs(systemClock.now() - since) > staleLockMs) rmSync(lock, { force: true })
      else if (i >= lockTries) throw new StartError(`The key file ${file} is locked by another process. Try again.`)
      else pause(lockTryMs)
    }
  }
  try {
    work()
  } finally {
    rmSync(lock, { force: true })
  }
}

export const openKeyFile = (file: string): KeyFileAccess => {
  const read = (): KeyFile => JSON.parse(readFileSync(file, 'utf8')) as KeyFile
  return {
    read,
    change: (next) => withLock(file, () => writeKeyFile(file, next(read()))),
    // Two writes within one tick of the kernel's clock (4 ms) have the same time, so file number and length count too.
    state: () => {
      const { ino, size, mtimeMs } = statSync(file)
      return `${ino} ${size} ${mtimeMs}`
    },
  }
}
