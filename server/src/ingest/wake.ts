import type { IncomingMessage, Server } from 'node:http'
import type { Duplex } from 'node:stream'
import { agentPaths } from '@portcullis/contract'
import { type WebSocket, WebSocketServer } from 'ws'
import type { AgentSession } from '#features/agents/index.ts'
import type { Clock } from '#platform/clock.ts'
import { bareAnswer } from '#platform/http/safety-headers.ts'

/** What a peer has to read a refusal. */
const refusedMs = 2_000

/**
 * Wake sockets: one idle WebSocket per agent that carries nothing but "check in now". No compression and small buffers,
 * so that an idle agent costs some 10 kB. Nothing depends on them: a lost wake waits for the next check-in.
 */
export const createWake = ({
  clock,
  verifySession,
}: {
  clock: Clock
  verifySession(token: string, nowSeconds: number): AgentSession | null
}) => {
  const sockets = new Map<string, WebSocket>()
  const server = new WebSocketServer({
    noServer: true,
    perMessageDeflate: false,
    maxPayload: 1_024,
    clientTracking: false,
  })

  const refuse = (socket: Duplex, status: 401 | 403 | 404): void => {
    socket.end(bareAnswer(socket, status))
    // The rest is not read. No HTTP timeout covers a socket after its upgrade, so a peer that never closes its side would
    // keep it open forever.
    socket.pause()
    setTimeout(() => socket.destroy(), refusedMs).unref()
  }

  const upgrade = (request: IncomingMessage, socket: Duplex, head: Buffer): void => {
    socket.on('error', () => socket.destroy())
    if (request.url?.split('?')[0] !== agentPaths.wake) {
      refuse(socket, 404)
      return
    }
    // A browser always names its origin; an agent never does.
    if (request.headers.origin !== undefined) {
      refuse(socket, 403)
      return
    }
    const authorization = request.headers.authorization ?? ''
    const session = authorization.startsWith('Bearer ')
      ? verifySession(authorization.slice(7), clock.now() / 1000)
      : null
    if (session === null) {
      refuse(socket, 401)
      return
    }
    server.handleUpgrade(request, socket, head, (ws) => {
      sockets.get(session.agentId)?.close(1000)
      sockets.set(session.agentId, ws)
      ws.on('error', () => ws.terminate())
      ws.on('close', () => {
        if (sockets.get(session.agentId) === ws) sockets.delete(session.agentId)
      })
    })
  }

  return {
    attach: (http: Server): void => {
      http.on('upgrade', upgrade)
    },
    /** Asks an agent to check in now; false when it holds no socket here. */
    wake: (agentId: string): boolean => {
      const ws = sockets.get(agentId)
      ws?.send('check-in')
      return ws !== undefined
    },
    /** Closes the sockets of removed agents. */
    drop: (agentIds: readonly string[]): void => {
      for (const id of agentIds) sockets.get(id)?.close(4003, 'removed')
    },
    size: (): number => sockets.size,
    close: (): void => {
      for (const ws of sockets.values()) ws.terminate()
    },
  }
}
