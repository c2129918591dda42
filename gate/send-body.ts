/** Bodies that are too large, too odd or endless, sent as fast as they are taken. */
import { request } from 'node:http'

export interface Sending {
  path: string
  token: string | undefined
  type: string
  method?: string
  /** Sent before and behind what is repeated. */
  head?: Buffer
  piece: Buffer
  /** Bytes in all. */
  size: number
  tail?: Buffer
}

/** Sends a body in chunks, without saying how long it is, until it is refused; gives the status and what was taken. */
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

/** The frame of a file in a form. */
export const form = (fileName: string) => ({
  type: 'multipart/form-data; boundary=gate',
  head: Buffer.from(
    `--gate\r\nContent-Disposition: form-data; name="file"; filename="${fileName}"\r\nContent-Type: text/csv\r\n\r\n`,
    'latin1',
  ),
  tail: Buffer.from('\r\n--gate--\r\n'),
})
