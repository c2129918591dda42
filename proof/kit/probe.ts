/**
 * Simulates a healthy client during a disturbance: sends requests at a fixed rate and records the times. It is a
 * separate thread, because the main thread is busy and its delays must not count.
 */
import { once } from 'node:events'
import { Agent, request } from 'node:http'
import { parentPort, Worker, workerData } from 'node:worker_threads'
import { createPercentiles } from '../../cli/simulator/percentiles.ts'

export interface ProbeOptions {
  url: string
  path: string
  /** Headers of each request. */
  headers?: Readonly<Record<string, string>>
  perSecond: number
  timeoutMs?: number
  /** Opens a connection for each request, as a new visitor does. */
  isFresh?: boolean
}

/** Measurements of the healthy client so far. Times are in milliseconds. */
interface Met {
  sent: number
  failed: number
  /** The first five. */
  failures: string[]
  p50: number
  p99: number
}

/** Sends a request every 1/perSecond s without waiting for responses, so that slow servers get the same rate. */
const probe = ({ url, path, headers = {}, perSecond, timeoutMs = 10_000, isFresh = false }: ProbeOptions) => {
  let times = createPercentiles()
  let sent = 0
  let failed = 0
  const failures: string[] = []
  const agent = new Agent({ keepAlive: !isFresh })
  const open = new Set<Promise<void>>()
  const fail = (why: string): void => {
    failed += 1
    if (failures.length < 5) failures.push(why)
  }
  const ask = (): Promise<void> =>
    new Promise((resolve) => {
      sent += 1
      const startedAt = performance.now()
      const asked = request(new URL(path, url), { agent, headers, timeout: timeoutMs }, (answer) => {
        answer.resume()
        answer.on('error', (error) => {
          fail(error.message)
          resolve()
        })
        answer.on('end', () => {
          times.add(performance.now() - startedAt)
          if (answer.statusCode !== 200) fail(`${answer.statusCode}`)
          resolve()
        })
      })
      asked.on('timeout', () => asked.destroy(new Error(`no answer within ${timeoutMs} ms`)))
      asked.on('error', (error) => {
        times.add(performance.now() - startedAt)
        fail(error.message)
        resolve()
      })
      asked.end()
    })
  const timer = setInterval(() => {
    const one = ask()
    open.add(one)
    void one.then(() => open.delete(one))
  }, 1_000 / perSecond)
  const read = (): Met => ({
    sent,
    failed,
    failures,
    p50: Math.round(times.at(0.5) * 10) / 10,
    p99: Math.round(times.at(0.99) * 10) / 10,
  })
  return {
    read,
    restart: (): void => {
      times = createPercentiles()
    },
    stop: async (): Promise<Met> => {
      clearInterval(timer)
      await Promise.all(open)
      agent.destroy()
      return read()
    },
  }
}

type Order = 'read' | 'restart' | 'stop'

/** Starts the client. */
export const startProbe = (options: ProbeOptions) => {
  const worker = new Worker(new URL(import.meta.url), { workerData: { probe: options } })
  // Commands are answered in order.
  let last: Promise<unknown> = Promise.resolve()
  const command = (order: Order): Promise<Met> => {
    const answer = last.then(async () => {
      const answered = once(worker, 'message')
      worker.postMessage(order)
      return (await answered)[0] as Met
    })
    last = answer.catch(() => {})
    return answer
  }
  return {
    read: (): Promise<Met> => command('read'),
    /** Returns the measurements so far. Later times are kept separately. */
    restart: (): Promise<Met> => command('restart'),
    /** Stops sending and waits for outstanding requests. */
    stop: async (): Promise<Met> => {
      const met = await command('stop')
      await worker.terminate()
      return met
    },
  }
}

const { probe: asked } = (workerData ?? {}) as { probe?: ProbeOptions }
if (asked !== undefined) {
  const client = probe(asked)
  parentPort?.on('message', async (order: Order) => {
    const met = order === 'stop' ? await client.stop() : client.read()
    if (order === 'restart') client.restart()
    parentPort?.postMessage(met)
  })
}
