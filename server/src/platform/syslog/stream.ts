import { connect, isIP, type Socket } from 'node:net'
import { connect as connectTls } from 'node:tls'
import type { Destination } from '#platform/destinations.ts'
import { SyslogError } from './syslog-error.ts'
import type { SendOptions } from './udp.ts'

/** Bytes put together for one write: small messages one by one cost a system call each. */
const chunkBytes = 64 * 1024

/** Octet counting (RFC 6587, 3.4.1; RFC 5425, 4.3), some messages at a time. */
function* framed(messages: readonly Buffer[]): Generator<Buffer> {
  let parts: Buffer[] = []
  let size = 0
  for (const message of messages) {
    const length = Buffer.from(`${message.length} `)
    parts.push(length, message)
    size += length.length + message.length
    if (size < chunkBytes) continue
    yield Buffer.concat(parts, size)
    parts = []
    size = 0
  }
  if (size > 0) yield Buffer.concat(parts, size)
}

const open = ({ address, ca }: SendOptions, { host, lookup }: Destination): Socket => {
  const where = { host, port: address.port, lookup, allowHalfOpen: true }
  if (address.protocol === 'tcp') return connect(where)
  return connectTls({
    ...where,
    // As a name to ask for, an address is not allowed (RFC 6066); the certificate is checked against it all the same.
    ...(isIP(host) === 0 ? { servername: host } : {}),
    ...(ca.length === 0 ? {} : { ca: [...ca] }),
    minVersion: 'TLSv1.2',
    rejectUnauthorized: true,
  })
}

/**
 * One connection for a batch. Syslog knows no answer, so the end of the connection is one: everything is written, our half
 * is closed, and the receiver closes its own after it read to that end. One that goes away with something unread resets.
 */
export const createStreamSend =
  (options: SendOptions) =>
  async (messages: readonly Buffer[]): Promise<void> => {
    const { address, timeouts, ending, resolve } = options
    const destination = await resolve(address.host)
    ending.throwIfAborted()
    const socket = open(options, destination)
    await new Promise<void>((done, failed) => {
      const ends: (() => void)[] = []
      const finish = (work: () => void): void => {
        for (const end of ends.splice(0)) end()
        socket.destroy()
        work()
      }
      const fail = (error: unknown): void => finish(() => failed(error as Error))
      const abort = (): void => fail(new SyslogError('reset', address))
      ending.addEventListener('abort', abort, { once: true })
      ends.push(() => ending.removeEventListener('abort', abort))
      const whole = setTimeout(() => fail(new SyslogError('timeout', address)), timeouts.wholeMs)
      ends.push(() => clearTimeout(whole))
      const connecting = setTimeout(() => fail(new SyslogError('unreachable', address)), timeouts.connectMs)
      ends.push(() => clearTimeout(connecting))

      let isEnded = false
      const chunks = framed(messages)
      const write = (): void => {
        for (;;) {
          const { value, done: isLast } = chunks.next()
          if (isLast === true) break
          if (!socket.write(value)) {
            socket.once('drain', write)
            return
          }
        }
        isEnded = true
        socket.end()
      }
      socket.on('error', fail)
      // What a receiver says is read away: unread, it would make our own end a reset.
      socket.resume()
      socket.on('end', () => {
        if (isEnded) finish(done)
        else fail(new SyslogError('reset', address))
      })
      socket.on('close', () => fail(new SyslogError('reset', address)))
      socket.once(address.protocol === 'tcp' ? 'connect' : 'secureConnect', () => {
        clearTimeout(connecting)
        write()
      })
    })
  }
