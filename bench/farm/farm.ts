/** A farm of SSH hosts in one process: each connection is let in by its key and answered with what a real host printed. */
import { generateKeyPairSync } from 'node:crypto'
import { readFileSync } from 'node:fs'
import ssh2 from 'ssh2'

const [answerFile = ''] = process.argv.slice(2)
const answer = readFileSync(answerFile)
const { privateKey } = generateKeyPairSync('ec', {
  namedCurve: 'prime256v1',
  privateKeyEncoding: { type: 'sec1', format: 'pem' },
  publicKeyEncoding: { type: 'spki', format: 'pem' },
})

const server = new ssh2.Server({ hostKeys: [privateKey] }, (client) => {
  client.on('error', () => {})
  client.on('authentication', (context) => context.accept())
  client.on('ready', () =>
    client.on('session', (accept) => {
      accept().on('exec', (take) => {
        const channel = take()
        channel.write(answer)
        channel.exit(0)
        channel.end()
      })
    }),
  )
})
server.listen(0, '127.0.0.1', () => {
  process.stdout.write(`${(server.address() as { port: number }).port}\n`)
})
process.on('disconnect', () => process.exit(0))
