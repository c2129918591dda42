import {
  type Poll,
  type PollFailure,
  type PollResult,
  type PollStep,
  type PollStepResult,
  workerLimits,
} from '@portcullis/contract/worker-protocol.ts'
import { Refused, type WorkerClient } from './client.ts'

export interface WorkerOptions {
  client: WorkerClient
  token: string
  name: string
  version: string
  /** Maximum number of concurrent polls. */
  capacity: number
  /** Polls one host. Never throws. */
  poll(
    poll: Poll,
    onStep: (step: PollStep, done: readonly PollStepResult[]) => void,
    stop: AbortSignal,
  ): Promise<PollResult>
  log(line: string): void
  /** True for the worker that the server starts. Its token is valid again after the worker was deleted. */
  isOwn: boolean
  /** Storage of the key over restarts, because a token is valid once. If absent, the key is not stored. */
  keyFile?: { read(): string | null; write(key: string): void }
}

interface Running {
  poll: Poll
  step: PollStep
  done: readonly PollStepResult[]
  control: AbortController
}

/** Maximum number of characters in one call. Half of the server's limit leaves room for non-ASCII names. */
const resultBytes = workerLimits.bodyBytes / 2
const flushMs = 200
const leaseMs = 1_000
const maxBackOffMs = 30_000
/** Time after which the worker of the server registers again when its key was revoked. */
const registerAgainMs = 10_000

/** Returns whether the server would refuse a retry as well. */
const isRefusal = (error: unknown): error is Refused =>
  error instanceof Refused && error.status >= 400 && error.status < 500 && error.status !== 401 && error.status !== 429

/** Returns a result with a failure and without content. */
const withoutContent = (result: PollResult, failure: PollFailure): PollResult => ({
  ...result,
  failure: result.failure ?? failure,
  message: '',
  facts: null,
  devices: [],
  machineIdHash: null,
  steps: result.steps.slice(0, 16),
})

const sizeOf = (result: PollResult): number => JSON.stringify(result).length

/** Returns as many results as fit in one call. */
const batchOf = (results: readonly PollResult[]): PollResult[] => {
  const some: PollResult[] = []
  let size = 0
  for (const result of results.slice(0, workerLimits.results)) {
    size += sizeOf(result)
    if (some.length > 0 && size > resultBytes) break
    some.push(result)
  }
  return some
}

const cpuMeter = () => {
  let before = process.cpuUsage()
  let at = performance.now()
  return (): number => {
    const used = process.cpuUsage(before)
    const passed = performance.now() - at
    before = process.cpuUsage()
    at = performance.now()
    return passed <= 0 ? 0 : Math.round(((used.user + used.system) / 1_000 / passed) * 1_000) / 10
  }
}

/** Creates the worker, which leases polls, runs them concurrently and sends results. Ends on a stop or a revoked key. */
export const createWorkerProcess = ({
  client,
  token,
  name,
  version,
  capacity,
  poll,
  log,
  isOwn,
  keyFile,
}: WorkerOptions) => {
  const running = new Map<string, Running>()
  const results: PollResult[] = []
  const cpu = cpuMeter()
  let isStopping = false
  let wakeUp: () => void = () => {}

  const sleep = (ms: number): Promise<void> =>
    new Promise((resolve) => {
      const timer = setTimeout(resolve, ms)
      wakeUp = () => {
        clearTimeout(timer)
        resolve()
      }
    })

  function start(one: Poll): void {
    const control = new AbortController()
    const entry: Running = { poll: one, step: 'resolve', done: [], control }
    running.set(one.id, entry)
    void poll(
      one,
      (step, done) => {
        entry.step = step
        entry.done = done
      },
      control.signal,
    ).then((result) => {
      if (running.get(one.id) === entry) running.delete(one.id)
      // The server no longer wants the result of an aborted poll.
      if (!control.signal.aborted)
        results.push(sizeOf(result) > resultBytes ? withoutContent(result, 'output-too-large') : result)
      wakeUp()
    })
  }

  function endAll(): void {
    for (const { control } of running.values()) control.abort()
    running.clear()
    results.length = 0
  }

  async function sendAlone(key: string, result: PollResult): Promise<void> {
    try {
      await client.results(key, [result])
    } catch (error) {
      if (!isRefusal(error)) throw error
      log(`the server refused a result: ${error.message}`)
      await client.results(key, [withoutContent(result, 'not-understood')]).catch((again: unknown) => {
        if (!isRefusal(again)) throw again
      })
    }
  }

  async function sendResults(key: string): Promise<void> {
    while (results.length > 0) {
      const some = batchOf(results)
      try {
        await client.results(key, some)
      } catch (error) {
        if (!isRefusal(error)) throw error
        // Send them one by one, so that one invalid result does not lose the others.
        for (const result of some) await sendAlone(key, result)
      }
      results.splice(0, some.length)
    }
  }

  async function exchange(key: string): Promise<number> {
    await sendResults(key)
    const answer = await client.lease(key, {
      free: isStopping ? 0 : Math.max(0, capacity - running.size),
      capacity,
      running: [...running.values()].map(({ poll: { id, fence, isTest }, step, done }) => ({
        id,
        fence,
        step,
        ...(isTest ? { done: done.slice() } : {}),
      })),
      version,
      cpu: cpu(),
    })
    for (const { id, fence } of answer.stop) {
      const entry = running.get(id)
      if (entry?.poll.fence !== fence) continue
      entry.control.abort()
      running.delete(id)
    }
    for (const one of answer.polls) start(one)
    return answer.nextMs
  }

  async function register(): Promise<string> {
    const { key, pollerId } = await client.register({ token, name, version })
    log(`registered as ${pollerId}`)
    keyFile?.write(key)
    return key
  }

  return {
    /** Runs until it is stopped. Rejects if the server revoked the worker. */
    run: async (): Promise<void> => {
      let key = keyFile?.read() ?? null
      let isStored = key !== null
      let backOff = 500
      while (!isStopping || results.length > 0) {
        let wait = leaseMs
        try {
          key ??= await register()
          wait = Math.min(await exchange(key), running.size > 0 ? flushMs : leaseMs)
          backOff = 500
        } catch (error) {
          if (error instanceof Refused && error.status === 401) {
            endAll()
            key = null
            // The server does not know the stored key. Try the token, which may be newer.
            const wasStored = isStored
            isStored = false
            if (wasStored) continue
            if (!isOwn)
              throw new Error('The server revoked the key of this worker. Register the worker with a new token.')
            log('the worker was deleted; registering it again')
            wait = registerAgainMs
          } else if (isRefusal(error)) {
            if (key === null) throw error
            log(`the server refused a call: ${error.message}`)
          } else {
            log(`cannot reach the server: ${(error as Error).message}`)
            wait = backOff * (0.75 + Math.random() / 2)
            backOff = Math.min(backOff * 2, maxBackOffMs)
          }
        }
        if (isStopping && results.length === 0) break
        await sleep(wait)
      }
      endAll()
    },

    /** Ends all polls and takes no new ones. Another worker polls these hosts when their leases expire. */
    stop: (): void => {
      isStopping = true
      endAll()
      wakeUp()
    },
  }
}
