import type { Clock } from '@portcullis/platform/server/clock.ts'
import { isUnavailable } from '@portcullis/platform/server/db/db.ts'
import {
  type HealthStatus,
  type Subsystem,
  type SubsystemName,
  subsystemNames,
  subsystemOf,
} from '#features/contract.ts'
import type { Probe, ProbeResult } from './probes.ts'

/** How long a result is reused. Together with the time limit of probes, a result is never over 30 s old. */
const freshMs = 20_000
const probeLimitMs = 5_000

/** Result of one probe, with its subsystem. */
export interface ProbedSubsystem {
  item: Omit<Subsystem, 'since'>
  /** Whether the probe threw an error instead of returning a status. */
  threw: boolean
  /** Milliseconds since 1970. */
  at: number
}

/** Waits for a promise, with a time limit. */
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
  const { cure, setUp } = subsystemOf(name)
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

export type ProbeRunner = ReturnType<typeof createProbeRunner>

/** Creates the runner of the probes. Each runs at most every few seconds; simultaneous callers share its result. */
export const createProbeRunner = (clock: Clock, probes: Readonly<Partial<Record<SubsystemName, Probe>>>) => {
  const results = new Map<SubsystemName, { probed: ProbedSubsystem; at: number }>()
  const running = new Map<SubsystemName, Promise<ProbedSubsystem>>()

  async function run(name: SubsystemName, probe: Probe): Promise<ProbedSubsystem> {
    const startedAt = performance.now()
    let threw = false
    // Also catches a probe that throws synchronously.
    const { status, description } = await within(probeLimitMs, Promise.resolve().then(probe)).catch(
      (error: unknown) => {
        threw = true
        return failed(error)
      },
    )
    const at = clock.now()
    const probed: ProbedSubsystem = {
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
    results.set(name, { probed, at: performance.now() })
    return probed
  }

  function now(name: SubsystemName): Promise<ProbedSubsystem> {
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
    /** Returns results that are at most 20 s old. */
    recent: (): Promise<ProbedSubsystem[]> =>
      Promise.all(
        subsystemNames.map((name) => {
          const known = results.get(name)
          return known !== undefined && performance.now() - known.at < freshMs ? known.probed : now(name)
        }),
      ),
    now: (): Promise<ProbedSubsystem[]> => Promise.all(subsystemNames.map(now)),
  }
}
