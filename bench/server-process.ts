/** A server of its own for each benchmark, measured from outside. */
import { type ChildProcess, spawn } from 'node:child_process'
import { chmodSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { createServer } from 'node:net'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { createInterface } from 'node:readline'
import { fileURLToPath } from 'node:url'
import type pg from 'pg'
import { startEmbeddedPostgres } from '../server/src/platform/postgres/index.ts'
import { ensureOwnCertificate } from '../server/src/platform/tls/index.ts'
import { createCaller } from './caller.ts'
import { cpuSecondsOf, cpuSecondsOfFamily } from './proc.ts'

export const fromRoot = (path: string): string => fileURLToPath(new URL(`../${path}`, import.meta.url))

const password = 'a password for benchmarks only'
const quiet = { info: () => {}, warn: () => {}, error: (...args: unknown[]) => console.error(...args), debug: () => {} }

const freePort = (): Promise<number> =>
  new Promise((resolve, reject) => {
    const probe = createServer()
    probe.once('error', reject)
    probe.listen(0, '127.0.0.1', () => {
      const address = probe.address()
      probe.close(() => resolve(typeof address === 'object' && address !== null ? address.port : 0))
    })
  })

const waitForAddress = (child: ChildProcess): Promise<string> =>
  new Promise((resolve, reject) => {
    const lines: string[] = []
    const hear = (line: string): void => {
      lines.push(line)
      const at = /^Portcullis is at (\S+)$/.exec(line)
      if (at !== null) resolve(at[1] as string)
    }
    for (const stream of [child.stdout, child.stderr]) if (stream) createInterface(stream).on('line', hear)
    child.once('exit', (code) => reject(new Error(`The server ended with code ${code}: ${lines.slice(-5).join(' ')}`)))
  })

export type BenchServer = Awaited<ReturnType<typeof startServer>>

export interface ServerOptions {
  databaseUrl: string | undefined
  /** Serves HTTPS on loopback, by a certificate made for the run. */
  isTls?: boolean
  /** Further variables of its environment. */
  env?: Readonly<Record<string, string>>
}

/** Starts database and server on a throw-away data directory; a database named by `databaseUrl` is used as it is. */
export const startServer = async ({ databaseUrl, isTls = false, env = {} }: ServerOptions) => {
  const dataDir = mkdtempSync(join(tmpdir(), 'portcullis-bench-'))
  // The database runs as another user, who has to pass through; what lies inside has modes of its own.
  chmodSync(dataDir, 0o711)
  const database =
    databaseUrl === undefined
      ? await startEmbeddedPostgres({ dataDir: join(dataDir, 'data'), log: quiet as never })
      : null
  const c = database?.connection
  const connectionString = databaseUrl ?? `postgresql://${c?.user}@/${c?.database}?host=${c?.host}&port=${c?.port}`
  const connection: pg.ClientConfig = c === undefined ? { connectionString } : { ...c }
  const certificate = isTls
    ? ensureOwnCertificate({
        dir: join(dataDir, 'tls'),
        names: ['localhost'],
        addresses: ['127.0.0.1'],
        now: Date.now(),
      })
    : null
  if (certificate !== null) {
    writeFileSync(join(dataDir, 'served.crt'), certificate.cert)
    writeFileSync(join(dataDir, 'served.key'), certificate.key, { mode: 0o600 })
  }
  const child = spawn(process.execPath, [fromRoot('server/src/entry/start.ts')], {
    stdio: ['ignore', 'pipe', 'pipe'],
    env: {
      PATH: process.env.PATH ?? '',
      HOME: process.env.HOME ?? dataDir,
      DATABASE_URL: connectionString,
      PORTCULLIS_DATA_DIR: join(dataDir, 'server'),
      PORTCULLIS_PORT: String(await freePort()),
      PORTCULLIS_ADMIN_PASSWORD: password,
      PORTCULLIS_LOG_LEVEL: 'warn',
      ...env,
      ...(certificate === null
        ? {}
        : { PORTCULLIS_TLS_CERT: join(dataDir, 'served.crt'), PORTCULLIS_TLS_KEY: join(dataDir, 'served.key') }),
    },
  })
  const stopOnce = async (): Promise<void> => {
    if (child.exitCode === null) {
      const ended = new Promise((resolve) => child.once('exit', resolve))
      child.kill('SIGTERM')
      await ended
    }
    for (const signal of signals) process.removeListener(signal, interrupted)
    await database?.stop()
    rmSync(dataDir, { recursive: true, force: true })
  }
  let stopping: Promise<void> | undefined
  const stop = (): Promise<void> => {
    stopping ??= stopOnce()
    return stopping
  }
  // A benchmark that is broken off leaves neither a server nor a database behind.
  const signals = ['SIGINT', 'SIGTERM'] as const
  const interrupted = (): void => {
    stop().finally(() => process.exit(130))
  }
  for (const signal of signals) process.once(signal, interrupted)
  try {
    const url = await waitForAddress(child)
    const ca = certificate === null ? undefined : readFileSync(join(dataDir, 'tls', 'ca.crt'), 'utf8')
    const call = createCaller(url, ca)
    return {
      url,
      /** PEM of the CA to trust, over TLS. */
      ca,
      pid: child.pid as number,
      connection,
      call,
      /** An access token of the administrator; they live for minutes only. */
      signIn: async (): Promise<string> =>
        String((await call('/prime/webui/Auth/LocalLogin', { userName: 'admin', password })).token),
      /** CPU seconds so far of the server and, when it is ours, its database. */
      cpu: () => ({
        server: cpuSecondsOf(child.pid as number),
        database: database === null ? Number.NaN : cpuSecondsOfFamily(database.pid()),
      }),
      stop,
    }
  } catch (error) {
    await stop()
    throw error
  }
}
