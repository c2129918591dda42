import {
  type HealthStatus,
  type Subsystem,
  type SubsystemName,
  subsystemGuide,
  subsystemNames,
} from '@portcullis/contract'
import type { Clock } from '#platform/clock.ts'
import { isUnavailable } from '#platform/db/db.ts'
import type { Probe, ProbeResult } from './health.probes.ts'

/** A result is good for this long; with the probes' own limit it is never over 30 s old when it is read. */
const freshMs = 20_000
const probeLimitMs = 5_000

/** A look at one part. */
export interface Looked {
  item: Omit<Subsystem, 'since'>
  /** The probe failed, rather than saw something. */
  threw: boolean
  /** Milliseconds since 1970. */
  at: number
}

/** Waits for something so long at most. */
export const within = async <T>(ms: number, work: Promise<T>): Promise<T> => {
  let timer: NodeJS.Timeout | undefined
  const limit = new Promise<never>((_, reject) => {
    timer = setTimeout(() => reject(new Error(`No answer within ${ms / 1000} s.`)), ms)
  })
  try {
    return await Promise.race([work, limit])
  } finally {
    clearTimeout(timer)
  }
}

export const round = (value: number): number => Math.round(value * 10) / 10

const whatToDo = (name: SubsystemName, status: HealthStatus): string => {
  const { cure, setUp } = subsystemGuide[name]
  return status === 'OK' ? '' : status === 'Unknown' ? (setUp ?? '') : cure
}

const failed = (error: unknown): ProbeResult => ({
  status: 'Error',
  description: isUnavailable(error)
    ? 'The database does not answer.'
    : error instanceof Error
      ? error.message
      : 'The probe failed.',
})

/** Runs probes: each at most every few seconds, once for all who ask meanwhile. */
export const createLooks = (clock: Clock, probes: Readonly<Partial<Record<SubsystemName, Probe>>>) => {
  const results = new Map<SubsystemName, { looked: Looked; at: number }>()
  const running = new Map<SubsystemName, Promise<Looked>>()

  async function run(name: SubsystemName, probe: Probe): Promise<Looked> {
    const startedAt = performance.now()
    let threw = false
    // A probe that throws before its first await is as failed as any.
    const { status, description } = await within(probeLimitMs, Promise.resolve().then(probe)).catch(
      (error: unknown) => {
        threw = true
        return failed(error)
      },
    )
    const at = clock.now()
    const looked: Looked = {
      item: {
        name,
        status,
        description,
        lastUpdated: new Date(at).toISOString(),
        latencyMs: round(performance.now() - startedAt),
        whatToDo: whatToDo(name, status),
      },
      threw,
      at,
    }
    results.set(name, { looked, at: performance.now() })
    return looked
  }

  function now(name: SubsystemName): Promise<Looked> {
    const probe = probes[name]
    if (probe === undefined) {
      const at = clock.now()
      const item = {
        name,
        status: 'Unknown' as const,
        description: 'Not configured',
        lastUpdated: new Date(at).toISOString(),
        latencyMs: null,
        whatToDo: whatToDo(name, 'Unknown'),
      }
      return Promise.resolve({ item, threw: false, at })
    }
    let pending = running.get(name)
    if (pending === undefined) {
      pending = run(name, probe).finally(() => running.delete(name))
      running.set(name, pending)
    }
    return pending
  }

  return {
    /** A result of at most 20 s. */
    recent: (): Promise<Looked[]> =>
      Promise.all(
        subsystemNames.map((name) => {
          const known = results.get(name)
          return known !== undefined && performance.now() - known.at < freshMs ? known.looked : now(name)
        }),
      ),
    /** Looks at all of them anew. */
    now: (): Promise<Looked[]> => Promise.all(subsystemNames.map(now)),
  }
}
