/** Database and server on a throw-away folder, measured from outside. */
import { rmSync } from 'node:fs'
import { join } from 'node:path'
import type pg from 'pg'
import { makeCertificate } from './certificate.ts'
import { startDatabase, temporaryFolder } from './database.ts'
import { freePort } from './free-port.ts'
import { cpuSecondsOf, cpuSecondsOfFamily } from './proc.ts'
import { startServerProcess } from './server.ts'

export type BenchServer = Awaited<ReturnType<typeof startServer>>

export interface ServerOptions {
  databaseUrl: string | undefined
  /** Serves HTTPS on loopback, by a certificate made for the run. */
  isTls?: boolean
  /** Further variables of its environment. */
  env?: Readonly<Record<string, string>>
  /** Checkout to run; absent: this one. */
  root?: string
}

/** Starts database and server on a throw-away data directory; a database named by `databaseUrl` is used as it is. */
export const startServer = async ({ databaseUrl, isTls = false, env = {}, root }: ServerOptions) => {
  const dataDir = temporaryFolder('rig')
  const database = databaseUrl === undefined ? await startDatabase({ dataDir }) : null
  const connection: pg.ClientConfig = database?.connection ?? { connectionString: databaseUrl as string }
  const tls = isTls ? await makeCertificate(dataDir) : null
  let server: Awaited<ReturnType<typeof startServerProcess>> | undefined
  const stopOnce = async (): Promise<void> => {
    await server?.end()
    await database?.stop()
    rmSync(dataDir, { recursive: true, force: true })
  }
  let stopping: Promise<void> | undefined
  const stop = (): Promise<void> => {
    stopping ??= stopOnce()
    return stopping
  }
  try {
    const started = await startServerProcess({
      databaseUrl: databaseUrl ?? (database?.url as string),
      dataDir: join(dataDir, 'server'),
      port: await freePort(),
      env: { ...env, ...tls?.env },
      ...(tls === null ? {} : { ca: tls.ca }),
      ...(root === undefined ? {} : { root }),
    })
    server = started
    return {
      url: started.url,
      /** PEM of the CA to trust, over TLS. */
      ca: started.ca,
      pid: started.pid,
      connection,
      /** As `DATABASE_URL` names its database. */
      databaseUrl: databaseUrl ?? (database?.url as string),
      /** Its data directory, with the key file. */
      dataDir: started.dataDir,
      call: started.call,
      isRunning: started.isRunning,
      /** An access token of the administrator; they live for minutes only. */
      signIn: started.signIn,
      /** CPU seconds so far of the server and, when it is ours, its database. */
      cpu: () => ({
        server: cpuSecondsOf(started.pid),
        database: database === null ? Number.NaN : cpuSecondsOfFamily(database.pid()),
      }),
      stop,
    }
  } catch (error) {
    await stop()
    throw error
  }
}
