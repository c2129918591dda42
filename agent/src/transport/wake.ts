import { createHash, randomBytes } from 'node:crypto'
import { type ClientRequest, request as httpRequest } from 'node:http'
import { request as httpsRequest } from 'node:https'
import type { Socket } from 'node:net'
import { agentPaths } from '@portcullis/contract/agent-protocol.ts'
import { createBackoff } from '../backoff.ts'
import { messageOf } from '../exit.ts'
import type { Log } from '../log.ts'
import { createFrameReader, encodeFrame, type Frame, opcodes } from './frames.ts'
import type { Transport } from './http.ts'

export interface WakeDeps {
  transport: Pick<Transport, 'ownConnection' | 'isTls'>
  log: Log
  /** Called when the server asks for a check-in. */
  onWake: () => void
  backoff?: { minMs: number; maxMs: number }
  /** Interval of pings. An interval without any data after a ping ends the connection. */
  pingMs?: number
}

/** Suffix of the key (RFC 6455, section 1.3). */
const ACCEPT_SUFFIX = '258EAFA5-E914-47DA-95CA-C5AB0DC85B11'
const CONNECT_TIMEOUT_MS = 30_000

/** Creates the wake socket, which only carries "check in now". The agent works without it and retries every failure. */
export const createWake = ({
  transport,
  log,
  onWake,
  backoff = { minMs: 1000, maxMs: 300_000 },
  pingMs = 60_000,
}: WakeDeps) => {
  const wait = createBackoff(backoff)
  let token: string | undefined
  let attempt: ClientRequest | undefined
  let socket: Socket | undefined
  let retry: NodeJS.Timeout | undefined
  let isStopped = false

  function retryLater(reason: string): void {
    if (isStopped || retry !== undefined) return
    const delay = wait.next()
    log.debug('wake_closed', { reason, retryInMs: Math.round(delay) })
    retry = setTimeout(() => {
      retry = undefined
      open()
    }, delay)
  }

  function attach(connection: Socket, head: Buffer): void {
    socket = connection
    const frames = createFrameReader()
    let isSilent = false
    const pinger = setInterval(() => {
      if (isSilent) return void connection.destroy(new Error('the server does not answer pings'))
      isSilent = true
      connection.write(encodeFrame(opcodes.ping))
    }, pingMs)
    function onFrame(frame: Frame): void {
      if (frame.opcode === opcodes.ping) connection.write(encodeFrame(opcodes.pong, frame.payload))
      else if (frame.opcode === opcodes.text && frame.payload.toString() === 'check-in') onWake()
      else if (frame.opcode === opcodes.close) connection.end(encodeFrame(opcodes.close, frame.payload.subarray(0, 2)))
    }
    function onData(chunk: Buffer): void {
      isSilent = false
      try {
        for (const frame of frames.push(chunk)) onFrame(frame)
      } catch (error) {
        connection.destroy(error instanceof Error ? error : undefined)
      }
    }
    let reason = 'closed'
    connection.on('error', (error) => {
      reason = messageOf(error)
    })
    connection.on('data', onData)
    connection.on('end', () => connection.end())
    connection.on('close', () => {
      clearInterval(pinger)
      if (socket === connection) socket = undefined
      retryLater(reason)
    })
    connection.setTimeout(0)
    connection.setNoDelay(true)
    wait.reset()
    log.debug('wake_open')
    if (head.length > 0) onData(head)
  }

  function open(): void {
    if (isStopped || token === undefined || socket !== undefined || attempt !== undefined) return
    const key = randomBytes(16).toString('base64')
    const expected = createHash('sha1')
      .update(key + ACCEPT_SUFFIX)
      .digest('base64')
    const request = (transport.isTls ? httpsRequest : httpRequest)({
      ...transport.ownConnection(agentPaths.wake),
      headers: {
        connection: 'Upgrade',
        upgrade: 'websocket',
        'sec-websocket-version': '13',
        'sec-websocket-key': key,
        authorization: `Bearer ${token}`,
      },
    })
    attempt = request
    let isDone = false
    function failed(reason: string): void {
      if (isDone) return
      isDone = true
      attempt = undefined
      retryLater(reason)
    }
    request.setTimeout(CONNECT_TIMEOUT_MS, () =>
      request.destroy(new Error(`the server did not answer within ${CONNECT_TIMEOUT_MS / 1000} s`)),
    )
    request.on('error', (error) => failed(messageOf(error)))
    request.on('response', (response) => {
      response.resume()
      failed(`status ${response.statusCode}`)
      request.destroy()
    })
    request.on('upgrade', (response, connection, head) => {
      if (isStopped || response.headers['sec-websocket-accept'] !== expected) {
        connection.destroy()
        return failed('the response to the upgrade request is not from a WebSocket server')
      }
      isDone = true
      attempt = undefined
      attach(connection as Socket, head)
    })
    request.end()
  }

  return {
    /** Sets the token of the session and connects if necessary. */
    useToken(next: string): void {
      token = next
      clearTimeout(retry)
      retry = undefined
      open()
    },
    stop(): void {
      isStopped = true
      clearTimeout(retry)
      attempt?.destroy()
      socket?.destroy()
    },
  }
}
