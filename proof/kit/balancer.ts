/** Balances connections across replicas: polls the readiness of each and routes new connections to the ready ones. */
import { setTimeout as pause } from 'node:timers/promises'
import { startRelay } from './relay.ts'
import { createWire } from './wire.ts'

const intervalMs = 300
/** Failed checks in a row until a replica is left out. One successful check adds it again. */
const fall = 2

/**
 * Starts a balancer before replicas, such as `http://127.0.0.1:8080`. It works on connections, not on requests, and never
 * retries on a second replica. If a replica stops without notice, its connections fail, as with any plain TCP balancer.
 */
export const startBalancer = async (replicas: readonly string[]) => {
  const backends = replicas.map((url) => ({
    port: Number(new URL(url).port),
    wire: createWire(url, { keepAlive: false, timeoutMs: 2_000 }),
    ...{ bad: fall, open: 0, led: 0 },
  }))
  const readyOnes = () => backends.filter(({ bad }) => bad < fall)
  const ask = () =>
    Promise.all(
      backends.map(async (backend) => {
        const { status } = await backend.wire.once({ method: 'GET', path: '/readyz' })
        backend.bad = status === 200 ? 0 : backend.bad + 1
      }),
    )
  const relay = await startRelay(() => {
    // Choose the replica with the fewest connections, so that a replica that returned gets its share.
    const [backend] = readyOnes().sort((a, b) => a.open - b.open)
    if (backend === undefined) return undefined
    backend.open += 1
    backend.led += 1
    const closed = (): void => {
      backend.open -= 1
    }
    return { port: backend.port, closed }
  })
  let isOver = false
  await ask()
  const asking = (async () => {
    while (!isOver) {
      await pause(intervalMs)
      await ask()
    }
  })()
  return {
    url: `http://127.0.0.1:${relay.port}`,
    /** Returns the number of ready replicas. */
    ready: (): number => readyOnes().length,
    /** Returns the number of connections routed to each replica so far, in the given order. */
    led: (): number[] => backends.map(({ led }) => led),
    close: async (): Promise<void> => {
      isOver = true
      await asking
      await relay.close()
    },
  }
}
