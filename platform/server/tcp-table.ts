import { readFile } from 'node:fs/promises'
import { isIP, Socket } from 'node:net'
import { endianness } from 'node:os'

/** Both ends of a connection. A socket forgets them when it closes. */
export interface Ends {
  localAddress: string
  localPort: number
  remoteAddress: string
  remotePort: number
}

/** Returns the ends that the kernel knows. After a PROXY header, the socket itself names the client instead. */
export const endsOf = (socket: Socket): Ends | null => {
  const own = <T>(name: keyof Ends): T => Reflect.get(Socket.prototype, name, socket) as T
  const [localAddress, remoteAddress] = [
    own<string | undefined>('localAddress'),
    own<string | undefined>('remoteAddress'),
  ]
  const [localPort, remotePort] = [own<number | undefined>('localPort'), own<number | undefined>('remotePort')]
  return localAddress === undefined ||
    localPort === undefined ||
    remoteAddress === undefined ||
    remotePort === undefined
    ? null
    : { localAddress, localPort, remoteAddress, remotePort }
}

const bytesOf = (address: string): number[] => {
  if (isIP(address) === 4) return address.split('.').map(Number)
  const [left = '', right] = new URL(`http://[${address.split('%')[0]}]`).hostname.slice(1, -1).split('::')
  const groups = (text: string | undefined) => (text === undefined || text === '' ? [] : text.split(':'))
  const [head, tail] = [groups(left), groups(right)]
  const all = [...head, ...Array<string>(8 - head.length - tail.length).fill('0'), ...tail]
  return all.flatMap((group) => {
    const value = Number.parseInt(group, 16)
    return [value >> 8, value & 255]
  })
}

/**
 * Formats an address and port as in `/proc/net/tcp`: words of four bytes in the machine's byte order, then the port.
 */
const written = (address: string, port: number): string => {
  const bytes = bytesOf(address)
  const words: number[][] = []
  for (let at = 0; at < bytes.length; at += 4) words.push(bytes.slice(at, at + 4))
  const ordered = words.flatMap((word) => (endianness() === 'LE' ? word.toReversed() : word))
  const hex = (value: number, digits: number): string => value.toString(16).toUpperCase().padStart(digits, '0')
  return `${ordered.map((byte) => hex(byte, 2)).join('')}:${hex(port, 4)}`
}

/** Returns the name of a connection in the table of the kernel. */
export const nameOf = ({ localAddress, localPort, remoteAddress, remotePort }: Ends): string =>
  `${written(localAddress, localPort)} ${written(remoteAddress, remotePort)}`

/** The tables of the kernel, with the length of a connection's name in each. */
const tables = [
  { file: '/proc/self/net/tcp', length: 27 },
  { file: '/proc/self/net/tcp6', length: 75 },
] as const

const read = (file: string): Promise<Buffer> => readFile(file).catch(() => Buffer.alloc(0))

/** What follows the name in a row: the state, and a tx_queue that is not empty. */
const waiting = / [\dA-F]{2} (?!0{8})([\dA-F]{8}):/g

/**
 * Returns the connections with bytes that their peer has not acknowledged, and the number of these bytes. Linux only:
 * elsewhere there are none.
 */
export const unacknowledged = async (): Promise<ReadonlyMap<string, number>> => {
  const found = await Promise.all(
    tables.map(async ({ file, length }) => {
      // Few rows match, so only their names are cut out: a flood leaves 131,072 closed connections in the table.
      const text = (await read(file)).toString('latin1')
      return Array.from(
        text.matchAll(waiting),
        ({ index, 1: bytes = '' }) => [text.slice(index - length, index), Number.parseInt(bytes, 16)] as const,
      )
    }),
  )
  return new Map(found.flat())
}

/** Returns whether a connection has bytes that its peer has not acknowledged. Searches its row in the undecoded table. */
const hasUnacknowledged = async (ends: Ends): Promise<boolean> => {
  const name = nameOf(ends)
  const table = await read(tables.find(({ length }) => length === name.length)?.file ?? '')
  const at = table.indexOf(name)
  return at !== -1 && !/^ [\dA-F]{2} 0{8}:/.test(table.toString('latin1', at + name.length, at + name.length + 13))
}

/** Delays between checks in milliseconds: short at first, for receivers nearby. */
const looks = [1, 2, 5, 10, 20, 50]

/**
 * Waits until the receiver's kernel has acknowledged every byte, or the connection is gone, whose error the socket
 * reports. A receiver that closes with unread data resets the connection. A reset for data that is still in flight
 * arrives after its FIN, so no socket shows it.
 */
export const acknowledged = async (ends: Ends, signal: AbortSignal): Promise<void> => {
  for (let look = 0; !signal.aborted; look++) {
    if (!(await hasUnacknowledged(ends))) return
    await new Promise((next) => setTimeout(next, looks[Math.min(look, looks.length - 1)]))
  }
}
