/** Runs database and server in a temporary directory, and measures them from outside. */
import { rmSync } from 'node:fs'
import { join } from 'node:path'
import type pg from 'pg'
import { freePort } from '../../server/test/free-port.ts'
import { makeCertificate } from './certificate.ts'
import { startDatabase, temporaryFolder } from './database.ts'
import { cpuSecondsOf, cpuSecondsOfTree } from './proc.ts'
import { startServerProcess } from './server.ts'

export type Installation = Awaited<ReturnType<typeof startServer>>

export interface ServerOptions {
  databaseUrl: string | undefined
  /** Serves HTTPS on loopback with a certificate created for the run. */
  isTls?: boolean
  /** Additional environment variables. */
  env?: Readonly<Record<string, string>>
  /** Checkout to run. Default: this one. */
  root?: string
}

/**
 * Starts database and server with a temporary data directory. If `databaseUrl` is given, uses that database unchanged.
 */
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
      // A database of somebody else may have been used with another key file.
      env: { ...(databaseUrl === undefined ? {} : { PORTCULLIS_ALLOW_NEW_KEY: '1' }), ...env, ...tls?.env },
      ...(tls === null ? {} : { ca: tls.ca }),
      ...(root === undefined ? {} : { root }),
    })
    server = started
    return {
      ...started,
      connection,
      /** The value for `DATABASE_URL`. */
      databaseUrl: databaseUrl ?? (database?.url as string),
      /** Returns the CPU seconds so far of the server and, if it is ours, its database. */
      cpu: () => ({
        server: cpuSecondsOf(started.pid),
        database: database === null ? Number.NaN : cpuSecondsOfTree(database.pid()),
      }),
      stop,
      [Symbol.asyncDispose]: stop,
    }
  } catch (error) {
    await stop()
    throw error
  }
}
