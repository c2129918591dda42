/** Measures a server's memory and the latency of other requests during some work. */

import { setTimeout as pause } from 'node:timers/promises'
import type { Environment } from '../kit/environment.ts'
import { withMemoryGrowth } from '../kit/proc.ts'

/** Runs `work`, and returns the memory growth of the server and the latency of small requests in the meantime. */
export const watched = async ({ server, wire }: Pick<Environment, 'server' | 'wire'>, work: () => Promise<void>) => {
  const waits: number[] = []
  let isOver = false
  const probe = async (): Promise<void> => {
    while (!isOver) {
      const startedAt = performance.now()
      const { status } = await wire.send({ method: 'GET', path: '/healthz' })
      waits.push(status === 200 ? performance.now() - startedAt : Number.POSITIVE_INFINITY)
      await pause(20)
    }
  }
  const probing = probe()
  const startedAt = performance.now()
  const { grown } = await withMemoryGrowth(server.pid, work).finally(() => {
    isOver = true
    return probing
  })
  waits.sort((a, b) => a - b)
  return {
    seconds: (performance.now() - startedAt) / 1000,
    grown: Math.round(grown / 2 ** 20),
    p99: Math.round(waits[Math.floor(waits.length * 0.99)] ?? Number.POSITIVE_INFINITY),
    longest: Math.round(waits.at(-1) ?? Number.POSITIVE_INFINITY),
  }
}
