import type { IncomingMessage, Server } from 'node:http'
import type { Duplex } from 'node:stream'
import type { Clock } from '@portcullis/platform/server/clock.ts'
import { connectionUpgraded, credentialSeen, machineOwner } from '@portcullis/platform/server/http/connections.ts'
import { hangUp } from '@portcullis/platform/server/http/cut.ts'
import { bareAnswer } from '@portcullis/platform/server/http/safety-headers.ts'
import { type WebSocket, WebSocketServer } from 'ws'
import type { AgentSession } from '#features/agents/server/index.ts'
import { agentPaths } from '#features/contract.ts'

/** Time for a peer to read a refusal. */
const refusedMs = 2_000
/**
 * Burst of sockets that one agent may open, and the interval for each further socket. A normal agent keeps one open.
 */
const openings = { most: 10, everyMs: 5_000 } as const

/**
 * Manages wake sockets: one idle WebSocket per agent that carries nothing but "check in now". They use no compression
 * and small buffers, so that an idle agent costs about 10 kB. Nothing depends on them: after a lost wake, the next
 * check-in follows anyway. An agent has at most one: a new socket closes the previous one immediately, even if its peer
 * does not respond.
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

  const openedBy = new Map<string, { level: number; at: number }>()
  let tidyAt = 10_000

  const levelOf = ({ level, at }: { level: number; at: number }, now: number): number =>
    Math.min(openings.most, level + (now - at) / openings.everyMs)

  /** Counts an opened socket. Returns false if the agent exceeds its quota. */
  function mayOpen(agentId: string): boolean {
    const now = clock.now()
    const known = openedBy.get(agentId)
    const level = known === undefined ? openings.most : levelOf(known, now)
    if (level < 1) return false
    openedBy.set(agentId, { level: level - 1, at: now })
    if (openedBy.size >= tidyAt) {
      for (const [id, one] of openedBy) if (levelOf(one, now) >= openings.most) openedBy.delete(id)
      tidyAt = Math.max(10_000, openedBy.size * 2)
    }
    return true
  }

  /** Sends the reason, then waits only briefly for a peer that does not close its side. */
  function end(ws: WebSocket, code: number, reason: string): void {
    ws.close(code, reason)
    setTimeout(() => ws.terminate(), refusedMs).unref()
  }

  const refuse = (socket: Duplex, status: 401 | 403 | 404 | 429): void => hangUp(socket, bareAnswer(socket, status))

  function upgrade(request: IncomingMessage, socket: Duplex, head: Buffer): void {
    socket.on('error', () => socket.destroy())
    if (request.url?.split('?')[0] !== agentPaths.wake) {
      refuse(socket, 404)
      return
    }
    // A browser always sends its origin; an agent never does.
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
    try {
      credentialSeen(socket, machineOwner(session.agentId))
    } catch {
      refuse(socket, 429)
      return
    }
    if (!mayOpen(session.agentId)) {
      refuse(socket, 429)
      return
    }
    connectionUpgraded(socket)
    server.handleUpgrade(request, socket, head, (ws) => {
      // A graceful close would wait for a peer that may never respond.
      sockets.get(session.agentId)?.terminate()
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
    /** Asks an agent to check in now; returns false if it holds no socket here. */
    wake: (agentId: string): boolean => {
      const ws = sockets.get(agentId)
      ws?.send('check-in')
      return ws !== undefined
    },
    drop: (agentIds: readonly string[]): void => {
      for (const id of agentIds) {
        const ws = sockets.get(id)
        if (ws !== undefined) end(ws, 4003, 'removed')
      }
    },
    size: (): number => sockets.size,
    close: (): void => {
      for (const ws of sockets.values()) ws.terminate()
    },
  }
}
