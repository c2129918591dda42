import { readFile } from 'node:fs/promises'
import { isIP, type Socket } from 'node:net'
import { endianness } from 'node:os'

/** Both ends of a connection. A socket forgets them when it closes. */
export interface Ends {
  localAddress: string
  localPort: number
  remoteAddress: string
  remotePort: number
}

export const endsOf = ({ localAddress, localPort, remoteAddress, remotePort }: Socket): Ends | null =>
  localAddress === undefined || localPort === undefined || remoteAddress === undefined || remotePort === undefined
    ? null
    : { localAddress, localPort, remoteAddress, remotePort }

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

/** Delays between checks in milliseconds: short at first, for receivers nearby. */
const looks = [1, 2, 5, 10, 20, 50]

/**
 * Waits until the receiver's kernel has acknowledged every byte. A receiver that closes with unread data resets the
 * connection. A reset for data that is still in flight arrives after its FIN, so no socket shows it. Reads tx_queue in
 * `/proc/net/tcp` on Linux; elsewhere it returns at once.
 */
export const acknowledged = async (ends: Ends, signal: AbortSignal): Promise<void> => {
  const table = isIP(ends.localAddress) === 4 ? '/proc/net/tcp' : '/proc/net/tcp6'
  const line = `${written(ends.localAddress, ends.localPort)} ${written(ends.remoteAddress, ends.remotePort)} `
  for (let look = 0; !signal.aborted; look++) {
    const text = await readFile(table).catch(() => null)
    const at = text?.indexOf(line) ?? -1
    // The connection is gone; the socket reports the error.
    if (text === null || at === -1) return
    // After both ends: state, then tx_queue:rx_queue.
    if (text.toString('latin1', at + line.length + 3, at + line.length + 11) === '00000000') return
    await new Promise((next) => setTimeout(next, looks[Math.min(look, looks.length - 1)]))
  }
}
