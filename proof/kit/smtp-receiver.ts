/** A mail server that accepts every mail and keeps it unchanged. */
import { createServer } from 'node:net'

export const startSmtpReceiver = async () => {
  const mails: string[] = []
  const server = createServer((socket) => {
    let pending = ''
    let isData = false
    const say = (line: string): void => void socket.write(`${line}\r\n`)
    socket.on('error', () => {})
    say('220 gate')
    socket.on('data', (chunk: Buffer) => {
      pending += chunk.toString('utf8')
      for (;;) {
        const end = isData ? pending.indexOf('\r\n.\r\n') : pending.indexOf('\r\n')
        if (end < 0) return
        const text = pending.slice(0, end)
        pending = pending.slice(end + (isData ? 5 : 2))
        if (isData) {
          mails.push(text.replaceAll('\r\n..', '\r\n.'))
          isData = false
          say('250 kept')
        } else if (/^data$/i.test(text)) {
          isData = true
          say('354 go on')
        } else if (/^quit$/i.test(text)) {
          say('221 bye')
          socket.end()
        } else say('250 ok')
      }
    })
  })
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve))
  const address = server.address()
  return {
    port: typeof address === 'object' && address !== null ? address.port : 0,
    /** Raw mails: headers, then parts. */
    mails,
    close: (): void => void server.close(),
    [Symbol.dispose]: (): void => void server.close(),
  }
}

/** Returns the header and the decoded parts of a mail. */
export const partsOf = (mail: string): { header: string; parts: { type: string; text: string }[] } => {
  const at = mail.indexOf('\r\n\r\n')
  const header = mail.slice(0, at)
  const read = (text: string): { type: string; text: string }[] => {
    const split = text.indexOf('\r\n\r\n')
    const head = text.slice(0, split)
    const body = text.slice(split + 4)
    const type = /^content-type:\s*([^;\s]+)/im.exec(head)?.[1]?.toLowerCase() ?? 'text/plain'
    const boundary = /boundary="?([^"\s;]+)/i.exec(head)?.[1]
    if (type.startsWith('multipart/') && boundary !== undefined)
      return body
        .split(`--${boundary}`)
        .slice(1, -1)
        .flatMap((part) => read(part.replace(/^\r\n/, '')))
    const encoding = /^content-transfer-encoding:\s*(\S+)/im.exec(head)?.[1]?.toLowerCase()
    const plain =
      encoding === 'base64'
        ? Buffer.from(body, 'base64').toString('utf8')
        : encoding === 'quoted-printable'
          ? Buffer.from(
              body
                .replaceAll('=\r\n', '')
                .replace(/=([0-9A-F]{2})/gi, (_, hex: string) => String.fromCharCode(Number.parseInt(hex, 16))),
              'latin1',
            ).toString('utf8')
          : body
    return [{ type, text: plain }]
  }
  return { header, parts: read(mail) }
}
