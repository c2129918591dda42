/** Measures a server's memory and the latency of other requests during some work. */

import { setTimeout as pause } from 'node:timers/promises'
import type { Environment } from '../kit/environment.ts'
import { residentBytes } from '../kit/proc.ts'

const mebibyte = 1024 * 1024

/** Runs `work`, and returns the memory growth of the server and the latency of small requests in the meantime. */
export const watched = async <T>({ server, wire }: Pick<Environment, 'server' | 'wire'>, work: () => Promise<T>) => {
  const before = residentBytes(server.pid)
  let most = before
  const waits: number[] = []
  let isOver = false
  const probe = async (): Promise<void> => {
    while (!isOver) {
      const startedAt = performance.now()
      const { status } = await wire.send({ method: 'GET', path: '/healthz' })
      waits.push(status === 200 ? performance.now() - startedAt : Number.POSITIVE_INFINITY)
      most = Math.max(most, residentBytes(server.pid))
      await pause(20)
    }
  }
  // When the server ends, its /proc entry disappears. Report infinite latency and let the work finish.
  const probing = probe().catch(() => {
    waits.length = 0
  })
  const startedAt = performance.now()
  let result: T
  try {
    result = await work()
  } finally {
    isOver = true
    await probing
  }
  waits.sort((a, b) => a - b)
  return {
    result,
    seconds: (performance.now() - startedAt) / 1000,
    grown: Math.round((most - before) / mebibyte),
    p99: Math.round(waits[Math.floor(waits.length * 0.99)] ?? Number.POSITIVE_INFINITY),
    longest: Math.round(waits.at(-1) ?? Number.POSITIVE_INFINITY),
  }
}
