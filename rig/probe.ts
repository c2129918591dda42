/** A healthy client beside the trouble: asks at a fixed pace and keeps its times. */
import { Agent, request } from 'node:http'
import { createPercentiles } from '../cli/simulator/percentiles.ts'

export interface ProbeOptions {
  url: string
  path: string
  /** Headers of each request. */
  headers?: Readonly<Record<string, string>>
  perSecond: number
  timeoutMs?: number
  /** A connection for each request, as a visitor brings one. */
  isFresh?: boolean
}

/** Asks every 1/perSecond s whether or not the last answer came: a slow server is asked as often as a fast one. */
export const startProbe = ({
  url,
  path,
  headers = {},
  perSecond,
  timeoutMs = 10_000,
  isFresh = false,
}: ProbeOptions) => {
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
  const read = () => ({
    sent,
    failed,
    failures,
    p50: Math.round(times.at(0.5) * 10) / 10,
    p99: Math.round(times.at(0.99) * 10) / 10,
  })
  return {
    read,
    /** Times from here on are kept apart from those before. */
    restart: (): void => {
      times = createPercentiles()
    },
    /** Stops asking and waits for what is on its way. */
    stop: async () => {
      clearInterval(timer)
      await Promise.all(open)
      agent.destroy()
      return read()
    },
  }
}
