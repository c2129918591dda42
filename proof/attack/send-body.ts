/** Sends oversized, malformed or endless bodies as fast as the server reads them. */
import { request } from 'node:http'

export interface Sending {
  path: string
  token: string | undefined
  type: string
  method?: string
  /** HttpRequest before the repeated `piece`. `tail` follows it. */
  head?: Buffer
  piece: Buffer
  /** Total number of bytes. */
  size: number
  tail?: Buffer
}

/** Sends a chunked body without Content-Length until it is refused. Returns the status and the bytes sent. */
export const sendBody = (url: string, { path, token, type, method = 'POST', head, piece, size, tail }: Sending) =>
  new Promise<{ status: number; sent: number; text: string }>((resolve) => {
    let sent = 0
    let status = 0
    let text = ''
    const to = request(new URL(path, url), {
      method,
      agent: false,
      timeout: 60_000,
      headers: { 'content-type': type, ...(token === undefined ? {} : { authorization: `Bearer ${token}` }) },
    })
    const done = (): void => {
      to.destroy()
      resolve({ status, sent, text })
    }
    to.on('response', (response) => {
      status = response.statusCode ?? 0
      response.on('data', (chunk: Buffer) => {
        text += chunk.toString()
      })
      response.on('end', done)
      response.on('error', done)
    })
    to.on('error', done)
    to.on('timeout', done)
    const more = (): void => {
      for (;;) {
        if (status !== 0 || to.destroyed) return
        if (sent >= size) {
          to.end(tail)
          return
        }
        sent += piece.length
        if (!to.write(piece)) {
          to.once('drain', more)
          return
        }
      }
    }
    if (head !== undefined) to.write(head)
    more()
  })

/** Returns the multipart header and footer around a file. */
export const form = (fileName: string) => ({
  type: 'multipart/form-data; boundary=gate',
  head: Buffer.from(
    `--gate\r\nContent-Disposition: form-data; name="file"; filename="${fileName}"\r\nContent-Type: text/csv\r\n\r\n`,
    'latin1',
  ),
  tail: Buffer.from('\r\n--gate--\r\n'),
})
