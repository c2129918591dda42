// Invariant: /readyz answers 200 only after the first start has committed.

import { chmodSync } from 'node:fs'
import { join } from 'node:path'
import { expect, it } from 'vitest'
import { startEmbeddedPostgres } from '../platform/server/postgres/index.ts'
import { createClient } from '../proof/kit/client.ts'
import { adminPassword, remove, type Started, spawnServer, temporaryDir, until } from '../proof/kit/harness.ts'
import { freePort } from '../server/test/free-port.ts'

const quiet = { info: () => {}, warn: () => {}, error: () => {}, debug: () => {} }

/** Polls /readyz every few milliseconds, signs in after the first 200, and returns the status of the sign-in. */
const firstSignIn = async (port: number, server: Started): Promise<number> => {
  const url = `http://127.0.0.1:${port}`
  await until(
    'the server is ready',
    () => {
      if (server.child.exitCode !== null) throw new Error(`the server ended:\n${server.output()}`)
      return fetch(`${url}/readyz`).then(
        ({ status }) => status === 200,
        () => false,
      )
    },
    120_000,
  )
  const answer = await fetch(`${url}/prime/webui/Auth/LocalLogin`, {
    method: 'POST',
    headers: { 'content-type': 'application/json' },
    body: JSON.stringify({ userName: 'admin', password: adminPassword }),
  })
  await answer.text()
  return answer.status
}

it('the first sign-in after the first 200 of /readyz succeeds, on one server and on two that start at once', async () => {
  const folder = temporaryDir()
  chmodSync(folder, 0o711)
  const postgres = await startEmbeddedPostgres({
    dataDir: join(folder, 'data'),
    log: quiet as never,
    onCrash: () => {},
  })
  const { host, port: databasePort, user, database } = postgres.connection
  const client = createClient({ ...postgres.connection })
  await client.connect()
  const servers: Started[] = []
  try {
    for (let round = 0; round < 6; round++) {
      await client.query('drop schema public cascade')
      await client.query('create schema public')
      const replicas = round % 2 === 0 ? 1 : 2
      const ports = await Promise.all(Array.from({ length: replicas }, freePort))
      const started = ports.map((port, i) =>
        spawnServer(join(folder, `server-${round}-${i}`), {
          DATABASE_URL: `postgresql://${user}@/${database}?host=${host}&port=${databasePort}`,
          PORTCULLIS_PORT: String(port),
          PORTCULLIS_KEY_FILE: join(folder, `key-${round}`),
          PORTCULLIS_ADMIN_PASSWORD: adminPassword,
        }),
      )
      servers.push(...started)
      expect([round, ...(await Promise.all(ports.map((port, i) => firstSignIn(port, started[i] as Started))))]).toEqual(
        [round, ...ports.map(() => 200)],
      )
      for (const { child, ended } of started) {
        child.kill('SIGTERM')
        await ended
      }
    }
  } finally {
    for (const { child } of servers) child.kill('SIGKILL')
    await client.end()
    await postgres.stop()
    remove(folder)
  }
}, 600_000)
