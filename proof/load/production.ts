/** Runs a server as a service does: with its own database and its own CA, and compiled code in its data directory. */
import { copyFileSync, readFileSync } from 'node:fs'
import { request } from 'node:https'
import { join } from 'node:path'
import { setTimeout } from 'node:timers/promises'
import { freePort } from '../../server/test/free-port.ts'
import { type ServerProcess, startServerProcess } from '../kit/server.ts'

const readyWithinMs = 180_000

const isReady = (port: number): Promise<boolean> =>
  new Promise((resolve) => {
    request({ port, path: '/readyz', rejectUnauthorized: false, agent: false }, (response) => {
      response.resume()
      resolve(response.statusCode === 200)
    })
      .on('error', () => resolve(false))
      .end()
  })

/** Copies a program, so that no other process of this machine shares its pages. A shared page counts only in part. */
export const copyProgram = (program: string, folder: string, name: string): string => {
  const copy = join(folder, name)
  copyFileSync(program, copy)
  return copy
}

export interface Started {
  server: ServerProcess
  /** Milliseconds until `/readyz` returned 200. */
  readyMs: number
}

/** Prepares a server on an empty data directory in `folder`. */
export const createProduction = async (folder: string) => {
  const dataDir = join(folder, 'data')
  const port = await freePort()
  const node = copyProgram(process.execPath, folder, 'node')
  return {
    /** Connection to the server's database. */
    connection: { host: join(dataDir, 'run'), port: 5432, user: 'portcullis', database: 'portcullis' },
    start: async (): Promise<Started> => {
      const startedAt = performance.now()
      let end = startedAt + readyWithinMs
      const readyMs = (async () => {
        while (!(await isReady(port))) {
          if (performance.now() > end) throw new Error('The server was not ready in time.')
          await setTimeout(10)
        }
        return performance.now() - startedAt
      })()
      const starting = startServerProcess({
        dataDir,
        port,
        node,
        hasOwnCode: true,
        env: { PORTCULLIS_HOST: '0.0.0.0' },
        ca: () => readFileSync(join(dataDir, 'tls', 'ca.crt'), 'utf8'),
      })
      starting.catch(() => {
        end = 0
      })
      const [server, ms] = await Promise.all([starting, readyMs])
      return { server, readyMs: ms }
    },
  }
}
