/** A process that holds many connections: `node holders.ts <JSON>`. Reports once a second what it holds. */
import { connect } from 'node:net'

/** What a process holds. */
export interface Held {
  opened: number
  held: number
  answered: number
}

interface Order {
  url: string
  count: number
  addresses: number
  /** Number of the first client, which determines its address. */
  first: number
  /** What the clients send, in turn. */
  heads: string[]
  /** Connections opened per second. */
  perSecond: number
  /** Reads a byte every ten seconds; otherwise all of the response, and then nothing. */
  isReader: boolean
}

const againMs = 60_000
const readMs = 10_000

const { url, count, addresses, first, heads, perSecond, isReader } = JSON.parse(process.argv[2] ?? '{}') as Order
const { hostname, port } = new URL(url)
const held: Held = { opened: 0, held: 0, answered: 0 }

const addressOf = (index: number): string => {
  const n = index % addresses
  return `127.1.${Math.floor(n / 200)}.${1 + (n % 200)}`
}

const open = (index: number): void => {
  const socket = connect({ host: hostname, port: Number(port), localAddress: addressOf(index) })
  let timer: NodeJS.Timeout | undefined
  socket.on('error', () => {})
  socket.once('connect', () => {
    held.opened += 1
    held.held += 1
    socket.write(heads[index % heads.length] as string)
    if (isReader) {
      socket.pause()
      timer = setInterval(() => socket.read(1), readMs)
    } else {
      socket.resume()
      socket.once('data', (data) => {
        if (String(data).startsWith('HTTP/1.1 200')) held.answered += 1
      })
    }
    socket.once('close', () => {
      held.held -= 1
    })
  })
  socket.once('close', () => {
    clearInterval(timer)
    setTimeout(open, againMs, index)
  })
}

for (let index = 0; index < count; index++) setTimeout(open, (index * 1_000) / perSecond, first + index)
setInterval(() => process.send?.(held), 1_000)
