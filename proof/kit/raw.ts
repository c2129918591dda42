/** Sends raw bytes to a server and reads the response, for requests that no HTTP client would send. */
import { connect, type Socket } from 'node:net'
import { connect as connectTls } from 'node:tls'
import type { HttpResponse } from './wire.ts'

/** Parses the head and the body of a response. */
const readAnswer = (text: string): HttpResponse => {
  const end = text.indexOf('\r\n\r\n')
  const [first = '', ...lines] = text.slice(0, end < 0 ? text.length : end).split('\r\n')
  const headers: Record<string, string> = {}
  for (const line of lines)
    headers[line.slice(0, line.indexOf(':')).toLowerCase()] = line.slice(line.indexOf(':') + 1).trim()
  return {
    status: Number(/^HTTP\/1\.1 (\d{3})/.exec(first)?.[1] ?? 0),
    headers,
    text: end < 0 ? '' : text.slice(end + 4),
  }
}

/** Sends bytes and returns the first response. Status 0 means no response within two seconds or a closed connection. */
export const sendRaw = (url: string, bytes: string | Buffer, ca?: string): Promise<HttpResponse> =>
  new Promise((resolve) => {
    const { hostname: host, port, protocol } = new URL(url)
    const socket: Socket =
      protocol === 'https:'
        ? connectTls({ host, port: Number(port), ...(ca === undefined ? {} : { ca }) })
        : connect(Number(port), host)
    let text = ''
    const done = (): void => {
      socket.destroy()
      resolve(readAnswer(text))
    }
    const timer = setTimeout(done, 2_000)
    socket.on('data', (chunk: Buffer) => {
      text += chunk.toString('latin1')
      const { headers, text: body } = readAnswer(text)
      const length = headers['content-length']
      if (text.includes('\r\n\r\n') && (length === undefined || body.length >= Number(length))) socket.end()
    })
    socket.on('close', () => {
      clearTimeout(timer)
      done()
    })
    socket.on('error', () => {})
    socket.write(bytes)
  })
