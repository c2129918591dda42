import { once } from 'node:events'
import type { FastifyInstance } from 'fastify'
import type { Log } from '../log.ts'
import { every } from '../timers.ts'
import { type Acceptors, assertFree, canShare, openAcceptors } from './acceptors.ts'
import type { Connections } from './connections.ts'

/** Time for open requests when the server stops; none takes longer (compose.ts). */
const closingMs = 5_000

const slowReadersMs = 2_000

/** Whether the server is stopping. */
export interface DrainState {
  isDraining: boolean
}

/** Listens, drains and closes. */
export const createLifecycle = (
  fastify: FastifyInstance,
  { log, connections, state, isTls }: { log: Log; connections: Connections; state: DrainState; isTls: boolean },
) => {
  let acceptors: Acceptors | undefined
  let closed: Promise<unknown> = Promise.resolve()
  async function listen(host: string, port: number): Promise<number> {
    const isShared = canShare(host)
    if (isShared && port !== 0) await assertFree(host, port)
    const place = { host, port, listenTextResolver: () => `listening on port ${port}` }
    const url = await fastify.listen(isShared ? ({ ...place, reusePort: true } as typeof place) : place)
    const given = Number(new URL(url).port) || port
    // Without a handler, the error of one failed accept would end the process.
    const failed = (error: Error): void => log.warn({ err: error }, 'cannot accept a connection')
    fastify.server.on('error', failed)
    if (isShared)
      acceptors = await openAcceptors(
        { host, port: given, allowHalfOpen: !isTls },
        (socket) => fastify.server.emit('connection', socket),
        failed,
      )
    return given
  }

  connections.watch(fastify.server)
  const endReaders = async (): Promise<void> => {
    connections.endSlowReaders()
    await connections.endUnread()
  }
  const stopLooking = every(slowReadersMs, 'check for slow readers', endReaders, log)
  fastify.addHook('preClose', async () => {
    // Browsers open connections in advance. Node counts one without a request as busy and would wait for it.
    connections.endUnused()
    // Hosts that report constantly keep their connections busy: a last response ends them cleanly.
    state.isDraining = true
    // A server that never listened emits no close event, and its timers would keep the process alive.
    if (!fastify.server.listening) return
    const idle = setInterval(() => fastify.server.closeIdleConnections(), 50)
    const all = setTimeout(() => fastify.server.closeAllConnections(), closingMs)
    closed = Promise.all([once(fastify.server, 'close'), acceptors?.close()]).finally(() => {
      clearInterval(idle)
      clearTimeout(all)
    })
  })
  fastify.addHook('onClose', async () => {
    stopLooking()
    await closed
  })

  return { listen }
}
