/** Requests that two HTTP parsers split differently. Each hides a second request. */
import { connect } from 'node:net'

/** A request that a proxy would treat as a body and a server as the next request. */
const hidden = 'GET /healthz HTTP/1.1\r\nhost: x\r\n\r\n'

const post = (lines: readonly string[], body: string, host = 'host: x\r\n'): string =>
  `POST /prime/webui/Auth/LocalLogin HTTP/1.1\r\n${host}content-type: application/json\r\n${lines.map((line) => `${line}\r\n`).join('')}\r\n${body}`

export const ambiguous: readonly { what: string; bytes: string }[] = [
  { what: 'length and chunks', bytes: post(['content-length: 4', 'transfer-encoding: chunked'], `0\r\n\r\n${hidden}`) },
  { what: 'chunks and length', bytes: post(['transfer-encoding: chunked', 'content-length: 4'], `0\r\n\r\n${hidden}`) },
  { what: 'two lengths', bytes: post(['content-length: 2', `content-length: ${hidden.length + 2}`], `{}${hidden}`) },
  { what: 'lengths in one line', bytes: post(['content-length: 2, 40'], `{}${hidden}`) },
  { what: 'negative length', bytes: post(['content-length: -1'], `{}${hidden}`) },
  { what: 'length with a sign', bytes: post(['content-length: +2'], `{}${hidden}`) },
  { what: 'length in hexadecimal', bytes: post(['content-length: 0x2'], `{}${hidden}`) },
  { what: 'length over all bounds', bytes: post(['content-length: 99999999999999999999'], `{}${hidden}`) },
  { what: 'a coding nobody knows', bytes: post(['transfer-encoding: xchunked'], `0\r\n\r\n${hidden}`) },
  { what: 'chunks that are not last', bytes: post(['transfer-encoding: chunked, identity'], `0\r\n\r\n${hidden}`) },
  {
    what: 'two codings',
    bytes: post(['transfer-encoding: chunked', 'transfer-encoding: identity'], `0\r\n\r\n${hidden}`),
  },
  { what: 'blank before the colon', bytes: post(['transfer-encoding : chunked'], `0\r\n\r\n${hidden}`) },
  { what: 'folded coding', bytes: post(['content-length: 5', 'transfer-encoding:\r\n chunked'], `0\r\n\r\n${hidden}`) },
  { what: 'folded header', bytes: post(['x-a: 1\r\n transfer-encoding: chunked', 'content-length: 2'], `{}${hidden}`) },
  { what: 'header that begins with a blank', bytes: post([' content-length: 2', 'x: 1'], `{}${hidden}`) },
  {
    what: 'lines that end in LF alone',
    bytes: post(['content-length: 2', 'x-a: 1\ntransfer-encoding: chunked'], `{}${hidden}`),
  },
  {
    what: 'CR inside a value',
    bytes: post(['content-length: 2', 'x-a: 1\rtransfer-encoding: chunked'], `{}${hidden}`),
  },
  { what: 'NUL inside a value', bytes: post(['content-length: 2', 'x-a: 1\u00002'], `{}${hidden}`) },
  { what: 'header without a name', bytes: post([': 1', 'content-length: 2'], `{}${hidden}`) },
  { what: 'header without a colon', bytes: post(['content-length 2'], `{}${hidden}`) },
  {
    what: 'size of a chunk over all bounds',
    bytes: post(['transfer-encoding: chunked'], `FFFFFFFFFFFFFFFFF\r\n{}\r\n0\r\n\r\n${hidden}`),
  },
  {
    what: 'size of a chunk with a prefix',
    bytes: post(['transfer-encoding: chunked'], `0x2\r\n{}\r\n0\r\n\r\n${hidden}`),
  },
  {
    what: 'chunk that is longer than its size',
    bytes: post(['transfer-encoding: chunked'], `1\r\n{}\r\n0\r\n\r\n${hidden}`),
  },
  { what: 'chunk line that ends in LF', bytes: post(['transfer-encoding: chunked'], `2;\n{}\r\n0\r\n\r\n${hidden}`) },
  { what: 'no host', bytes: post(['content-length: 2'], `{}${hidden}`, '') },
  { what: 'two hosts', bytes: post(['content-length: 2'], `{}${hidden}`, 'host: x\r\nhost: y\r\n') },
  { what: 'another protocol', bytes: `PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n${hidden}` },
  { what: 'no protocol', bytes: `GET /healthz\r\n\r\n${hidden}` },
]

export interface Heard {
  statuses: number[]
  isClosed: boolean
}

/** Sends bytes and reads until the server closes the connection, for three seconds at most. */
export const converse = (url: string, bytes: string): Promise<Heard> =>
  new Promise((resolve) => {
    const { hostname, port } = new URL(url)
    const socket = connect(Number(port), hostname)
    let text = ''
    const end = (isClosed: boolean): void => {
      clearTimeout(timer)
      socket.destroy()
      resolve({ statuses: [...text.matchAll(/HTTP\/1\.1 (\d{3})/g)].map(([, status]) => Number(status)), isClosed })
    }
    const timer = setTimeout(() => end(false), 3_000)
    socket.on('data', (chunk: Buffer) => {
      text += chunk.toString('latin1')
    })
    socket.on('close', () => end(true))
    socket.on('error', () => {})
    socket.write(Buffer.from(bytes, 'latin1'))
  })
