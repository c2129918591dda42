import { createSocket, type Socket } from 'node:dgram'
import type { SendOptions } from './syslog-options.ts'

/** Milliseconds after the last datagram in which a router or host may report that nobody receives them. */
const icmpMs = 50
/** Datagrams between two pauses of a millisecond: a receiver's socket buffers about 200 KB. */
const burst = 32

const connected = (socket: Socket, port: number, address: string): Promise<void> =>
  new Promise((resolve, reject) => {
    socket.once('error', reject)
    socket.connect(port, address, () => {
      socket.off('error', reject)
      resolve()
    })
  })

/** Sends one datagram per message (RFC 5426) from a connected socket, which reports ICMP errors. */
export const createDatagramSend =
  ({ address, resolve, ending }: SendOptions) =>
  async (messages: readonly Buffer[]): Promise<void> => {
    const destination = await resolve(address.host)
    const socket = createSocket(destination.family === 6 ? 'udp6' : 'udp4')
    try {
      await connected(socket, address.port, destination.address)
      let fault: Error | null = null
      socket.on('error', (error) => {
        fault = error
      })
      for (const [index, message] of messages.entries()) {
        ending.throwIfAborted()
        await new Promise<void>((done, failed) =>
          socket.send(message, (error) => (error === null || error === undefined ? done() : failed(error))),
        )
        if (index % burst === burst - 1) await new Promise((next) => setTimeout(next, 1))
        if (fault !== null) throw fault
      }
      await new Promise((next) => setTimeout(next, icmpMs))
      if (fault !== null) throw fault
    } finally {
      socket.close()
    }
  }
