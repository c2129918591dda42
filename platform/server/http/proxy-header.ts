import { isIP, SocketAddress } from 'node:net'

/** The address of a client, as the header of its connection states it. */
export interface Client {
  address: string
  port: number
}

/**
 * Start of a connection: `size` is the number of bytes of the header, `client` is null if the balancer speaks for
 * itself (a health check). `incomplete`: more bytes are needed. `invalid`: no PROXY header.
 */
export type ProxyHeader = { size: number; client: Client | null } | 'incomplete' | 'invalid'

const signature = Buffer.from('\r\n\r\n\0\r\nQUIT\n', 'latin1')
/** Bytes before the addresses of version 2. */
const fixed = 16
/** Maximum size of a header. The addresses take 52 bytes; the rest are extensions, which the server does not read. */
const most = 4_096
/** Maximum length of a line of version 1, with its end. */
const mostOfLine = 107

const canonical = (address: string): string =>
  isIP(address) === 6 ? new SocketAddress({ address, family: 'ipv6' }).address : address

const readLine = (start: Buffer): ProxyHeader => {
  const end = start.subarray(0, mostOfLine).indexOf('\r\n')
  if (end < 0) return start.length < mostOfLine ? 'incomplete' : 'invalid'
  const words = start.toString('latin1', 0, end).split(' ')
  const size = end + 2
  if (words[1] === 'UNKNOWN') return { size, client: null }
  const [, protocol, address = '', target = '', port = '', targetPort = ''] = words
  const family = protocol === 'TCP4' ? 4 : protocol === 'TCP6' ? 6 : 0
  const arePorts = [port, targetPort].every((text) => /^(?:0|[1-9]\d{0,4})$/.test(text) && Number(text) <= 65_535)
  if (family === 0 || words.length !== 6 || !arePorts) return 'invalid'
  if (isIP(address) !== family || isIP(target) !== family || address.includes('%')) return 'invalid'
  return { size, client: { address: canonical(address), port: Number(port) } }
}

const readBinary = (start: Buffer): ProxyHeader => {
  if (start.length < fixed) return 'incomplete'
  const [command, family] = [start.readUInt8(12), start.readUInt8(13)]
  const size = fixed + start.readUInt16BE(14)
  if ((command !== 0x20 && command !== 0x21) || size > most) return 'invalid'
  if (start.length < size) return 'incomplete'
  // LOCAL, or a protocol that is not TCP.
  if (command === 0x20 || (family !== 0x11 && family !== 0x21)) return { size, client: null }
  const bytes = family === 0x11 ? 4 : 16
  if (size < fixed + 2 * bytes + 4) return 'invalid'
  const from = start.subarray(fixed, fixed + bytes)
  const address =
    bytes === 4
      ? [...from].join('.')
      : canonical(Array.from({ length: 8 }, (_, at) => from.readUInt16BE(2 * at).toString(16)).join(':'))
  return { size, client: { address, port: start.readUInt16BE(fixed + 2 * bytes) } }
}

/**
 * Reads the header of the PROXY protocol, versions 1 and 2, at the start of a connection.
 * @see https://www.haproxy.org/download/3.0/doc/proxy-protocol.txt
 */
export const readProxyHeader = (start: Buffer): ProxyHeader => {
  const seen = Math.min(start.length, signature.length)
  if (start.subarray(0, seen).equals(signature.subarray(0, seen)))
    return seen < signature.length ? 'incomplete' : readBinary(start)
  const word = 'PROXY '.slice(0, start.length)
  return start.toString('latin1', 0, word.length) === word ? readLine(start) : 'invalid'
}
