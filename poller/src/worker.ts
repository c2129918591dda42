import {
  type Poll,
  type PollFailure,
  type PollResult,
  type PollStep,
  type PollStepResult,
  workerLimits,
} from '@portcullis/contract'
import { Refused, type WorkerClient } from './client.ts'

export interface WorkerOptions {
  client: WorkerClient
  token: string
  name: string
  version: string
  /** Polls at a time. */
  capacity: number
  /** Polls one host, and never throws. */
  poll(
    poll: Poll,
    onStep: (step: PollStep, done: readonly PollStepResult[]) => void,
    stop: AbortSignal,
  ): Promise<PollResult>
  say(line: string): void
  /** True for the process that the server itself starts: its token serves again after the worker was deleted. */
  isOwn: boolean
  /** Where its key is kept over a restart, since a token serves once; absent: nowhere. */
  kept?: { read(): string | null; write(key: string): void }
}

interface Running {
  poll: Poll
  step: PollStep
  done: readonly PollStepResult[]
  control: AbortController
}

/** Characters of one call: JSON of ASCII but for names, far below what the server takes. */
const resultBytes = workerLimits.bodyBytes / 2
/** Results are sent when so many are there, or after so long. */
const flushMs = 200
const leaseMs = 1_000
const maxBackOffMs = 30_000
/** The own process of the server comes back this long after its key was revoked. */
const comeBackMs = 10_000

/** What the server refuses once it refuses again. */
const isRefusal = (error: unknown): error is Refused =>
  error instanceof Refused && error.status >= 400 && error.status < 500 && error.status !== 401 && error.status !== 429

/** A result that says why it brings nothing. */
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

/** As many results as one call takes. */
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

/** The process: takes polls, runs them side by side, brings results; until it is stopped or its key is revoked for good. */
export const createWorkerProcess = ({
  client,
  token,
  name,
  version,
  capacity,
  poll,
  say,
  isOwn,
  kept,
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
      // Ended because nobody wants it any more: there is nothing to tell.
      if (!control.signal.aborted)
        results.push(sizeOf(result) > resultBytes ? withoutContent(result, 'output-too-large') : result)
      // Room for the next one, or enough to send.
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
      say(`the server refused a result: ${error.message}`)
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
        // One of them is not as the server takes it; the others must not be lost with it.
        for (const result of some) await sendAlone(key, result)
      }
      results.splice(0, some.length)
    }
  }

  async function round(key: string): Promise<number> {
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
    say(`registered as ${pollerId}`)
    kept?.write(key)
    return key
  }

  return {
    /** Runs until it is stopped; rejects when the server does not want it any more. */
    run: async (): Promise<void> => {
      let key = kept?.read() ?? null
      let isKept = key !== null
      let backOff = 500
      while (!isStopping || results.length > 0) {
        let wait = leaseMs
        try {
          key ??= await register()
          wait = Math.min(await round(key), running.size > 0 ? flushMs : leaseMs)
          backOff = 500
        } catch (error) {
          if (error instanceof Refused && error.status === 401) {
            endAll()
            key = null
            // What was kept is not known any more; a token that was given since may be.
            const wasKept = isKept
            isKept = false
            if (wasKept) continue
            if (!isOwn) throw new Error('The server revoked the key of this worker. Register it with a new token.')
            say('the worker was deleted; coming back as a new one')
            wait = comeBackMs
          } else if (isRefusal(error)) {
            if (key === null) throw error
            // What it refuses once it refuses again.
            say(`the server refused a call: ${error.message}`)
          } else {
            say(`the server cannot be reached: ${(error as Error).message}`)
            wait = backOff * (0.75 + Math.random() / 2)
            backOff = Math.min(backOff * 2, maxBackOffMs)
          }
        }
        if (isStopping && results.length === 0) break
        await sleep(wait)
      }
      endAll()
    },

    /** Takes nothing new; what runs is ended, and somebody else gets it when its lease is over. */
    stop: (): void => {
      isStopping = true
      endAll()
      wakeUp()
    },
  }
}
