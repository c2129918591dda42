/**
 * Runs the agent as a Windows service: states, stop requests and the end of the process. Calls Windows through
 * `ServiceControl`.
 */
import { messageOf } from '../../exit.ts'

export const SERVICE_STATES = { stopped: 1, startPending: 2, stopPending: 3, running: 4 } as const
export type ServiceState = keyof typeof SERVICE_STATES

/** What the service reports to the service control manager. */
export interface ServiceStatus {
  state: ServiceState
  /** Controls that the service accepts (SERVICE_ACCEPT_*). */
  accepts: number
  /** 0, or ERROR_SERVICE_SPECIFIC_ERROR with the code of the agent in `specificCode`. */
  error: number
  specificCode: number
  /** Increases while a start or stop makes progress. */
  checkpoint: number
  /** Time in ms until the next report of a pending state. */
  waitHintMs: number
}

/** The calls of Windows that a service needs. */
export interface ServiceControl {
  /**
   * Connects to the service control manager, which calls `onStart` once and `onControl` with each control. Resolves
   * after the service reported `stopped`. Resolves with false if the service control manager did not start this
   * process.
   */
  dispatch(onStart: () => void, onControl: (control: number) => number): Promise<boolean>
  report(status: ServiceStatus): void
  /** Ends the process at once. `process.exit` waits for the thread of the manager, which ends only after the service. */
  terminate(code: number): void
}

/** Controls that stop the service: SERVICE_CONTROL_STOP, SHUTDOWN and PRESHUTDOWN. */
const STOP_CONTROLS: ReadonlySet<number> = new Set([1, 5, 15])
const INTERROGATE = 4
/** SERVICE_ACCEPT_STOP, SHUTDOWN and PRESHUTDOWN. */
const ACCEPTS = 1 | 4 | 0x100
const NO_ERROR = 0
const NOT_IMPLEMENTED = 120
const SERVICE_SPECIFIC_ERROR = 1066
const FAILED = 1

export interface ServiceTiming {
  /** Interval of the reports during a stop. */
  checkpointMs: number
  /** Time limit for a stop. Windows waits at least 20 s before it ends a service at shutdown. */
  stopLimitMs: number
  /**
   * Minimum run time, unless Windows stops the service. Windows Installer rolls back an installation if the service has
   * stopped before it checks, for example because the server refused the token at once.
   */
  shortestMs: number
}
const serviceTiming: ServiceTiming = { checkpointMs: 1000, stopLimitMs: 15_000, shortestMs: 10_000 }

export interface ServiceDeps {
  control: ServiceControl
  /** The work of the service. Its signal is aborted when the service must stop. Resolves with the exit code. */
  main: (signal: AbortSignal) => Promise<number>
  /** Exit codes after which a restart would not help, such as that of a revoked agent. They count as a clean stop. */
  finalCodes?: readonly number[]
  /** Called with the reason if the service fails. */
  onFailure: (message: string) => void
  timing?: ServiceTiming
  /** Receives uncaught errors. Without a handler, Node would wait for the thread of the manager forever. */
  errors?: Pick<NodeJS.Process, 'on' | 'off'>
}

/**
 * Runs the agent as a service until it stops, then ends the process. After a failure, the status contains the exit code, so
 * that the recovery actions restart the service. Returns false if the service control manager did not start this process.
 */
export const runService = async ({
  control,
  main,
  finalCodes = [],
  onFailure,
  timing = serviceTiming,
  errors = process,
}: ServiceDeps): Promise<boolean> => {
  const stop = new AbortController()
  let state: ServiceState = 'startPending'
  let checkpoint = 0
  let ticker: NodeJS.Timeout | undefined
  let limit: NodeJS.Timeout | undefined
  let exitCode = FAILED

  function report(next: ServiceState, specificCode = 0): void {
    const isPending = next === 'startPending' || next === 'stopPending'
    checkpoint = isPending ? (next === state ? checkpoint + 1 : 1) : 0
    state = next
    control.report({
      state,
      accepts: state === 'running' ? ACCEPTS : 0,
      error: specificCode === 0 ? NO_ERROR : SERVICE_SPECIFIC_ERROR,
      specificCode,
      checkpoint,
      waitHintMs: isPending ? 3 * timing.checkpointMs : 0,
    })
  }

  function end(code: number): void {
    if (state === 'stopped') return
    clearInterval(ticker)
    clearTimeout(limit)
    exitCode = code
    report('stopped', finalCodes.includes(code) ? 0 : code)
  }

  /**
   * Ends the process without reporting `stopped`, so that Windows runs the recovery actions regardless of their
   * settings.
   */
  function crash(error: unknown): void {
    onFailure(error instanceof Error ? (error.stack ?? error.message) : messageOf(error))
    control.terminate(FAILED)
  }

  /** Runs the agent, logs its failure, and returns its exit code. */
  async function run(): Promise<number> {
    try {
      return await main(stop.signal)
    } catch (error) {
      if (stop.signal.aborted) return NO_ERROR
      onFailure(messageOf(error))
      return FAILED
    }
  }

  /** Resolves after the shortest time, or when Windows stops the service. */
  const settle = (): Promise<void> =>
    new Promise((resolve) => {
      if (timing.shortestMs === 0) return resolve()
      const timer = setTimeout(resolve, timing.shortestMs)
      stop.signal.addEventListener('abort', () => {
        clearTimeout(timer)
        resolve()
      })
    })

  function onStart(): void {
    report('startPending')
    report('running')
    const settled = settle()
    void run().then((code) => settled.then(() => end(code)))
  }

  function onControl(code: number): number {
    if (code === INTERROGATE) return NO_ERROR
    if (!STOP_CONTROLS.has(code)) return NOT_IMPLEMENTED
    if (state !== 'running') return NO_ERROR
    report('stopPending')
    ticker = setInterval(() => report('stopPending'), timing.checkpointMs)
    limit = setTimeout(() => {
      onFailure(`The agent did not stop within ${timing.stopLimitMs / 1000} s.`)
      end(FAILED)
    }, timing.stopLimitMs)
    // Not in this call, because the manager waits until it returns.
    setImmediate(() => stop.abort())
    return NO_ERROR
  }

  errors.on('uncaughtException', crash)
  errors.on('unhandledRejection', crash)
  try {
    if (!(await control.dispatch(onStart, onControl))) return false
  } finally {
    errors.off('uncaughtException', crash)
    errors.off('unhandledRejection', crash)
  }
  control.terminate(exitCode)
  return true
}
