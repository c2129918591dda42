import { randomUUID } from 'node:crypto'
import { join } from 'node:path'
import type { Clock } from './clock.ts'
import { messageOf } from './exit.ts'
import { readJson, writeDurable } from './files.ts'
import type { Boot } from './platform/platform.ts'
import type { Reports } from './reports.ts'

/** A time, and when that was in a boot of the host. */
export interface Stamp {
  /** Milliseconds since 1970. */
  at: number
  boot: string
  /** Milliseconds since that boot. */
  elapsed: number
}

export interface HostTimeDeps {
  stateDir: string
  boot: Boot
  clock: Clock
  reports: Pick<Reports, 'add'>
}

/** Interval between two writes of the time. */
const SAVE_MS = 60_000

const isStamp = (value: unknown): value is Stamp => {
  const { at, boot, elapsed } = (value ?? {}) as Partial<Stamp>
  return Number.isFinite(at) && typeof boot === 'string' && Number.isFinite(elapsed)
}

/**
 * A clock that a forged host clock cannot hold back: its time is that of the host clock, but never before the last signed
 * time of the server plus the time that has passed since in this boot. Over a restart, it resumes at the stored time.
 */
export const createHostTime = ({ stateDir, boot, clock, reports }: HostTimeDeps) => {
  const path = join(stateDir, 'time.json')
  // An unknown boot differs from every other boot.
  const bootId = boot.id === '' ? randomUUID() : boot.id
  const stored = readJson(path)
  let known = isStamp(stored) ? stored : undefined
  let savedAt = Number.NEGATIVE_INFINITY
  let hasWriteProblem = false

  /** A container that restarts has a new uptime in the same boot. */
  const isThisBoot = (stamp: Stamp): boolean => stamp.boot === bootId && boot.elapsed() >= stamp.elapsed

  /** Returns the earliest time that it can be now. */
  function after(stamp: Stamp): number {
    if (isThisBoot(stamp)) return stamp.at + boot.elapsed() - stamp.elapsed
    // The uptime of an unknown boot may have begun before the stamp.
    return boot.id === '' ? stamp.at : stamp.at + boot.elapsed()
  }
  const stampOf = (at: number, elapsed = boot.elapsed()): Stamp => ({ at, boot: bootId, elapsed })

  function save(stamp: Stamp): void {
    known = stamp
    savedAt = boot.elapsed()
    try {
      writeDurable(path, JSON.stringify(stamp))
      hasWriteProblem = false
    } catch (error) {
      if (!hasWriteProblem) reports.add('time_not_stored', messageOf(error))
      hasWriteProblem = true
    }
  }

  // The time since the last write is lost, so that much is added. Otherwise, frequent restarts would stop the time.
  if (known !== undefined && !isThisBoot(known)) save(stampOf(after(known) + (boot.id === '' ? 0 : SAVE_MS)))
  /** Returns the time according to the server. */
  const confirmed = (): number => (known === undefined ? Number.NEGATIVE_INFINITY : after(known))

  return {
    now: (): number => Math.max(clock.now(), confirmed()),
    monotonic: clock.monotonic,
    after,
    /** Returns the stamp of a time; `elapsed` is when that was in this boot. */
    stampOf,
    /** Milliseconds since the boot. */
    elapsed: (): number => boot.elapsed(),
    /** Sets the time to one that the server signed in response to a request at `elapsed`. It can also be an earlier one. */
    confirm(at: number, elapsed: number): void {
      save(stampOf(at, elapsed))
    },
    /** Raises the time to one that the server signed earlier. */
    atLeast(at: number): void {
      known = stampOf(Math.max(at, confirmed()))
    },
    /** Stores the time if the last write is a minute old. Call it while an end depends on it. */
    keep(): void {
      if (known !== undefined && boot.elapsed() - savedAt >= SAVE_MS) save(stampOf(after(known)))
    },
  }
}
export type HostTime = ReturnType<typeof createHostTime>
