import { spawnSync } from 'node:child_process'
import { chmodSync, existsSync, mkdirSync, readdirSync, rmSync, statfsSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'

const GB = 1024 ** 3
/** What a run holds at once is below half of it. */
const needed = 6 * GB
/** Short: a socket's path has 107 bytes at most, and databases in folders of tests make some. */
const prefix = 'pt-'

const freeBytes = (memory: string): number => {
  const { bavail, bsize } = statfsSync(memory)
  return Math.min(bavail * bsize, process.availableMemory())
}

/** Whether programs start from there: a container may mount its memory without that. */
const startsPrograms = (dir: string): boolean => {
  const probe = join(dir, 'probe')
  writeFileSync(probe, '#!/bin/sh\n', { mode: 0o700 })
  return spawnSync(probe).status === 0
}

/** Removes what runs left that were killed. */
const sweep = (memory: string): void => {
  for (const name of readdirSync(memory))
    if (/^pt-\d+$/.test(name) && !existsSync(join('/proc', name.slice(prefix.length))))
      rmSync(join(memory, name), { recursive: true, force: true })
}

/**
 * Makes a folder in memory for the temporary files of this process and of those that it starts. A disk takes more time to
 * make and remove a thousand files of a database than its test does. Null where there is no such memory, or too little.
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
    // Not ours to write to: the disk does it, too.
  }
  rmSync(dir, { recursive: true, force: true })
  return null
}

/** Global setup, before those that make files. A TMPDIR that somebody set stays. */
export default function setup(): void {
  if (process.env.TMPDIR !== undefined) return
  const dir = makeMemoryDir()
  if (dir === null) return
  process.env.TMPDIR = dir
  process.once('exit', () => rmSync(dir, { recursive: true, force: true, maxRetries: 5 }))
}
