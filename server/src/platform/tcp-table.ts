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

/** Both ends, the state, and a tx_queue that is not empty. */
const waitingRow = /^ *\d+: ([\dA-F]+:[\dA-F]{4} [\dA-F]+:[\dA-F]{4}) [\dA-F]{2} (?!0{8})([\dA-F]{8}):/gm

/**
 * Returns the connections with bytes that their peer has not acknowledged, and the number of these bytes. Linux only:
 * elsewhere there are none.
 */
export const unacknowledged = async (): Promise<ReadonlyMap<string, number>> => {
  const tables = await Promise.all(
    ['tcp', 'tcp6'].map((name) => readFile(`/proc/self/net/${name}`, 'latin1').catch(() => '')),
  )
  return new Map(
    tables.flatMap((text) =>
      Array.from(text.matchAll(waitingRow), ([, name, bytes]) => [
        name as string,
        Number.parseInt(bytes as string, 16),
      ]),
    ),
  )
}

/** Delays between checks in milliseconds: short at first, for receivers nearby. */
const looks = [1, 2, 5, 10, 20, 50]

/**
 * Waits until the receiver's kernel has acknowledged every byte, or the connection is gone, whose error the socket
 * reports. A receiver that closes with unread data resets the connection. A reset for data that is still in flight
 * arrives after its FIN, so no socket shows it.
 */
export const acknowledged = async (ends: Ends, signal: AbortSignal): Promise<void> => {
  const name = nameOf(ends)
  for (let look = 0; !signal.aborted; look++) {
    if (!(await unacknowledged()).has(name)) return
    await new Promise((next) => setTimeout(next, looks[Math.min(look, looks.length - 1)]))
  }
}
