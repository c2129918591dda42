/** `npm run worker -- --server URL --token T` runs an agentless worker, which polls hosts over SSH for a server. */
import { existsSync, readFileSync, renameSync, writeFileSync } from 'node:fs'
import { hostname } from 'node:os'
import { parseArgs } from 'node:util'
import packageFile from '../../package.json' with { type: 'json' }
import { createClient } from './client.ts'
import { pollHost } from './poll.ts'
import { createWorkerProcess } from './worker.ts'

const usage = `Usage: npm run worker -- --server URL --token TOKEN|--token-file FILE [--name NAME] [--concurrency N] [--ca FILE]

  --server       address of the Portcullis server
  --token        worker token from the console (Agentless hosts, Add worker); "-" reads it from standard input
                 (default: PORTCULLIS_WORKER_TOKEN)
  --token-file   file that contains the worker token
  --name         display name of the worker (default: the name of this machine)
  --concurrency  number of hosts to poll at a time, 1 to 1000 (default: 64)
  --key-file     file in which the worker stores its key (mode 0600). A token is valid once; with this file, the worker
                 can restart without another token
  --ca           file with the certificate of the server's certificate authority`

const fail = (line: string): never => {
  process.stderr.write(`${line}\n`)
  process.exit(2)
}

const readToken = async (given: string | undefined, file: string | undefined): Promise<string> => {
  if (file !== undefined) return readFileSync(file, 'utf8').trim()
  if (given !== '-') return given ?? process.env.PORTCULLIS_WORKER_TOKEN ?? ''
  let text = ''
  for await (const part of process.stdin) {
    text += String(part)
    if (text.includes('\n')) break
  }
  return text.split('\n')[0]?.trim() ?? ''
}

const createKeyFile = (file: string) => ({
  read: (): string | null => (existsSync(file) ? readFileSync(file, 'utf8').trim() : null),
  write: (key: string): void => {
    // Atomic, because a partly written key would require another token.
    writeFileSync(`${file}.new`, `${key}\n`, { mode: 0o600, flush: true })
    renameSync(`${file}.new`, file)
  },
})

const main = async (): Promise<void> => {
  const { values } = parseArgs({
    options: {
      server: { type: 'string' },
      token: { type: 'string' },
      'token-file': { type: 'string' },
      'key-file': { type: 'string' },
      name: { type: 'string' },
      concurrency: { type: 'string' },
      ca: { type: 'string' },
      own: { type: 'boolean' },
      help: { type: 'boolean' },
    },
  })
  if (values.help === true) {
    process.stdout.write(`${usage}\n`)
    return
  }
  if (values.server === undefined || !URL.canParse(values.server)) return fail(usage)
  const server = new URL(values.server)
  const isLocal = /^(localhost|127\.|\[::1\])/.test(server.hostname)
  // The server sends secrets of hosts over this connection.
  if (server.protocol !== 'https:' && !(server.protocol === 'http:' && isLocal))
    return fail('The server address must use https, or http on this machine.')
  const capacity = Number(values.concurrency ?? '64')
  if (!Number.isInteger(capacity) || capacity < 1 || capacity > 1_000)
    return fail('--concurrency must be a number from 1 to 1000.')
  const token = await readToken(values.token, values['token-file'])
  const keyFile = values['key-file']
  if (token === '' && (keyFile === undefined || !existsSync(keyFile))) return fail(usage)
  const worker = createWorkerProcess({
    client: createClient({ server, ...(values.ca === undefined ? {} : { ca: readFileSync(values.ca, 'utf8') }) }),
    token,
    name: values.name ?? hostname(),
    version: packageFile.version,
    capacity,
    poll: pollHost,
    log: (line) => process.stdout.write(`worker: ${line}\n`),
    isOwn: values.own === true,
    ...(keyFile === undefined ? {} : { keyFile: createKeyFile(keyFile) }),
  })
  for (const signal of ['SIGINT', 'SIGTERM'] as const) process.on(signal, worker.stop)
  // Stop when the server that started this process ends.
  if (values.own === true) {
    process.on('disconnect', worker.stop)
    // The server may have ended before the listener was added.
    if (process.connected === false) worker.stop()
  }
  await worker.run()
  process.exit(0)
}

main().catch((error: unknown) => {
  process.stderr.write(`worker: ${(error as Error).message}\n`)
  process.exit(3)
})
