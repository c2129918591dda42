/** A minimal SMTP server that receives mails. */
import { createServer, type Socket } from 'node:net'
import { createInterface } from 'node:readline'

export const startMailSink = async (port: number) => {
  const mails: string[] = []
  const server = createServer((socket: Socket) => {
    let body: string[] | null = null
    const say = (line: string): void => void socket.write(`${line}\r\n`)
    socket.on('error', () => {})
    say('220 sink')
    createInterface(socket).on('line', (line) => {
      if (body !== null) {
        if (line !== '.') body.push(line)
        else {
          mails.push(body.join('\n'))
          body = null
          say('250 taken')
        }
      } else if (/^data/i.test(line)) {
        body = []
        say('354 go on')
      } else if (/^quit/i.test(line)) {
        say('221 bye')
        socket.end()
      } else say('250 ok')
    })
  })
  await new Promise<void>((resolve) => server.listen(port, '127.0.0.1', resolve))
  return {
    mails,
    port,
    close: (): void => {
      server.close()
    },
  }
}
