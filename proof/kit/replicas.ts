/** Runs two servers on one database with one key file. */
import { join } from 'node:path'
import { freePort } from '../../server/test/free-port.ts'
import { type ServerProcess, startServerProcess } from './server.ts'

/** HAProxy probes every 0.3 s and drops a replica after two failed probes. Two seconds are three times as long. */
export const drainSeconds = 2

export const startReplicas = async (folder: string, databaseUrl: string, root: string) => {
  const ports = [await freePort(), await freePort()] as const
  const start = (at: 0 | 1): Promise<ServerProcess> =>
    startServerProcess({
      ...{ databaseUrl, dataDir: join(folder, `replica-${at}`), port: ports[at], root },
      env: {
        PORTCULLIS_KEY_FILE: join(folder, 'portcullis.key'),
        PORTCULLIS_DRAIN_SECONDS: String(drainSeconds),
      },
    })
  // The first replica creates the key file and the first account; the second one finds both.
  const replicas: [ServerProcess, ServerProcess] = [await start(0), await start(1)]
  return {
    first: replicas[0],
    urls: replicas.map(({ url }) => url),
    /** Ends a replica and starts it again at its address. */
    restart: async (at: 0 | 1, signal: 'SIGTERM' | 'SIGKILL' = 'SIGTERM'): Promise<void> => {
      await replicas[at].end(signal)
      replicas[at] = await start(at)
    },
    [Symbol.asyncDispose]: async (): Promise<void> => void (await Promise.all(replicas.map((one) => one.end()))),
  }
}
