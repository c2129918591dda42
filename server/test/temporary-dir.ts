import { spawnSync } from 'node:child_process'
import { chmodSync, existsSync, mkdirSync, readdirSync, rmSync, statfsSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'

const GB = 1024 ** 3
/** Twice the memory that a run uses at most. */
const needed = 6 * GB
/** Short, because the path of a socket has at most 107 bytes, and tests create sockets deep inside. */
const prefix = 'pt-'

const freeBytes = (memory: string): number => {
  const { bavail, bsize } = statfsSync(memory)
  return Math.min(bavail * bsize, process.availableMemory())
}

/** Returns whether programs can run from there. Containers may mount memory without that right. */
const startsPrograms = (dir: string): boolean => {
  const probe = join(dir, 'probe')
  writeFileSync(probe, '#!/bin/sh\n', { mode: 0o700 })
  return spawnSync(probe).status === 0
}

/** Removes the directories of killed runs, except what cannot be removed, such as a mount in one. */
const sweep = (memory: string): void => {
  for (const name of readdirSync(memory))
    if (/^pt-\d+$/.test(name) && !existsSync(join('/proc', name.slice(prefix.length))))
      try {
        rmSync(join(memory, name), { recursive: true, force: true })
      } catch {
        // This run needs only its own directory.
      }
}

/**
 * Creates a directory in memory for the temporary files of this process and its children. On disk, creating and
 * deleting the thousand files of a database takes longer than its test. Returns null without enough memory.
 */
export const makeMemoryDir = (memory = '/dev/shm', freeIn = freeBytes): string | null => {
  if (process.platform !== 'linux' || !existsSync(memory) || freeIn(memory) < needed) return null
  sweep(memory)
  const dir = join(memory, `${prefix}${process.pid}`)
  try {
    mkdirSync(dir, { recursive: true })
    // The database of a run by root belongs to another user.
    chmodSync(dir, 0o755)
    if (startsPrograms(dir)) return dir
  } catch {
    // Not writable: use the disk instead.
  }
  rmSync(dir, { recursive: true, force: true })
  return null
}

/** Global setup, which runs before setups that create files. An existing TMPDIR stays. */
export default function setup(): void {
  if (process.env.TMPDIR !== undefined) return
  const dir = makeMemoryDir()
  if (dir === null) return
  process.env.TMPDIR = dir
  process.once('exit', () => rmSync(dir, { recursive: true, force: true, maxRetries: 5 }))
}
