import { readFile } from 'node:fs/promises'
import { isIP, type Socket } from 'node:net'
import { endianness } from 'node:os'

/** Ends of a connection; a socket forgets them when it closes. */
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

/** As `/proc/net/tcp` writes it: words of four bytes in the order of the machine, then the port. */
const written = (address: string, port: number): string => {
  const bytes = bytesOf(address)
  const words: number[][] = []
  for (let at = 0; at < bytes.length; at += 4) words.push(bytes.slice(at, at + 4))
  const ordered = words.flatMap((word) => (endianness() === 'LE' ? word.toReversed() : word))
  const hex = (value: number, digits: number): string => value.toString(16).toUpperCase().padStart(digits, '0')
  return `${ordered.map((byte) => hex(byte, 2)).join('')}:${hex(port, 4)}`
}

/** FIN_WAIT2 and TIME_WAIT: the other side acknowledged our end, and with it every byte before. */
const acknowledged = ['05', '06']

/** Milliseconds between two looks. */
const everyMs = 20

/**
 * Whether the other kernel acknowledged all of a connection that we ended and that the other side has ended. False when it
 * answered what was still under way by a reset: that comes after its end, where no socket shows it. Asks the kernel, on
 * Linux; true where it does not tell (`/proc/net/tcp` is not there, or lists no ended connections).
 */
export const isAcknowledged = async (ends: Ends, signal: AbortSignal): Promise<boolean> => {
  const table = isIP(ends.localAddress) === 4 ? '/proc/net/tcp' : '/proc/net/tcp6'
  const line = `${written(ends.localAddress, ends.localPort)} ${written(ends.remoteAddress, ends.remotePort)} `
  for (;;) {
    const text = await readFile(table).catch(() => null)
    if (text === null || signal.aborted) return text === null
    const at = text.indexOf(line)
    // Gone: reset, when this kernel lists connections after their end. ` 06 0` stands before the queues of such a one.
    if (at === -1) return !text.includes(' 06 0')
    if (acknowledged.includes(text.toString('latin1', at + line.length, at + line.length + 2))) return true
    await new Promise((next) => setTimeout(next, everyMs))
  }
}
