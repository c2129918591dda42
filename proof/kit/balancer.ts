/**
 * Balances connections across replicas: polls each replica's readiness and routes new connections to the ready ones.
 */
import { get } from 'node:http'
import { connect, createServer, type Socket } from 'node:net'
import { freePort } from './free-port.ts'

export interface BalancerOptions {
  /** URLs of the replicas, such as `http://127.0.0.1:8080`. */
  replicas: readonly string[]
  /** Milliseconds between two readiness checks of a replica. */
  intervalMs?: number
  /** Number of failed checks in a row until a replica is left out. One successful check adds it again. */
  fall?: number
}

/**
 * Starts a balancer on a free port. It works on connections, not on requests, and never retries on a second replica. If
 * a replica stops without notice, its connections fail, as with any plain TCP balancer.
 */
export const startBalancer = async ({ replicas, intervalMs = 300, fall = 2 }: BalancerOptions) => {
  const backends = replicas.map((url) => ({ url: new URL(url), bad: fall, open: 0, led: 0 }))
  const sockets = new Set<Socket>()
  const readyOnes = () => backends.filter(({ bad }) => bad < fall)

  const ask = (backend: (typeof backends)[number]): Promise<void> =>
    new Promise((resolve) => {
      const judge = (isReady: boolean): void => {
        backend.bad = isReady ? 0 : backend.bad + 1
        resolve()
      }
      const question = get(new URL('/readyz', backend.url), { agent: false, timeout: 2_000 }, (answer) => {
        answer.resume()
        judge(answer.statusCode === 200)
      })
      question.on('timeout', () => question.destroy(new Error('no answer')))
      question.on('error', () => judge(false))
    })

  const server = createServer({ noDelay: true }, (client) => {
    // Choose the replica with the fewest connections, so that a replica that returned gets its share.
    const [backend] = readyOnes().sort((a, b) => a.open - b.open)
    if (backend === undefined) {
      client.destroy()
      return
    }
    backend.open += 1
    backend.led += 1
    const peer = connect({ host: backend.url.hostname, port: Number(backend.url.port), noDelay: true })
    for (const [from, to] of [
      [client, peer],
      [peer, client],
    ] as const) {
      sockets.add(from)
      from.pipe(to)
      from.on('error', () => to.destroy())
      from.on('close', () => {
        sockets.delete(from)
        to.destroy()
      })
    }
    peer.once('close', () => {
      backend.open -= 1
    })
  })
  const port = await freePort()
  await new Promise<void>((resolve) => server.listen(port, '127.0.0.1', resolve))
  await Promise.all(backends.map(ask))
  let asking = Promise.resolve<unknown>(undefined)
  const timer = setInterval(() => {
    asking = Promise.all(backends.map(ask))
  }, intervalMs)

  return {
    url: `http://127.0.0.1:${port}`,
    /** Returns the number of ready replicas. */
    ready: (): number => readyOnes().length,
    /** Returns the number of connections routed to each replica so far, in the given order. */
    led: (): number[] => backends.map(({ led }) => led),
    close: async (): Promise<void> => {
      clearInterval(timer)
      await asking
      for (const socket of sockets) socket.destroy()
      await new Promise((resolve) => server.close(resolve))
    },
  }
}
