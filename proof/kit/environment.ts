/** The environment of all gates: database, one or two servers, a person of each profile with a token, hosts, worker. */
import { rmSync } from 'node:fs'
import { join } from 'node:path'
import type { UserProfile } from '@portcullis/contract'
import pg from 'pg'
import { startDatabase, temporaryFolder } from './database.ts'
import { freePort } from './free-port.ts'
import { enrolHost, registerWorker } from './host.ts'
import { adminPassword, startServerProcess } from './server.ts'
import { createWire, jsonOf, type Wire } from './wire.ts'

/** Path prefix of the product's API. */
export const api = '/prime/webui'

export interface Person {
  userName: string
  password: string
  profile: UserProfile
  /** Expires after 15 minutes. */
  token: string
  refreshToken: string
}

export interface EnvironmentOptions {
  /** Checkout to run. */
  root: string
  replicas?: 1 | 2
  /** Additional environment variables of the servers. */
  env?: Readonly<Record<string, string>>
}

export type Environment = Awaited<ReturnType<typeof openEnvironment>>

/** Creates functions for calls that must succeed, because they set up the targets of the gates. */
const callsOf =
  (wire: Wire) =>
  async (method: string, path: string, body?: unknown, token?: string): Promise<Record<string, unknown>> => {
    const got = await wire.send({ method, path, body, token })
    if (got.status !== 200) throw new Error(`${method} ${path}: ${got.status} ${got.text.slice(0, 500)}`)
    return jsonOf(got.text) as Record<string, unknown>
  }

export const openEnvironment = async ({ root, replicas = 1, env = {} }: EnvironmentOptions) => {
  const folder = temporaryFolder('gate')
  const database = await startDatabase()
  const servers: Awaited<ReturnType<typeof startServerProcess>>[] = []
  const wires: Wire[] = []
  const close = async (): Promise<void> => {
    for (const wire of wires) wire.close()
    for (const server of servers) await server.end('SIGKILL')
    await database.stop()
    rmSync(folder, { recursive: true, force: true })
  }
  try {
    const keyFile = join(folder, 'portcullis.key')
    for (let i = 0; i < replicas; i++) {
      const server = await startServerProcess({
        databaseUrl: database.url,
        dataDir: join(folder, `server-${i}`),
        port: await freePort(),
        root,
        env: { PORTCULLIS_KEY_FILE: keyFile, ...env },
      })
      servers.push(server)
      wires.push(createWire(server.url))
    }
    const [server] = servers as [(typeof servers)[number]]
    const [wire] = wires as [Wire]
    const call = callsOf(wire)

    const signIn = async (userName = 'admin', password = adminPassword) => {
      const answer = await call('POST', `${api}/Auth/LocalLogin`, { userName, password })
      return { token: String(answer.token), refreshToken: String(answer.refreshToken) }
    }
    const admin: Person = { userName: 'admin', password: adminPassword, profile: 10, ...(await signIn()) }
    const addPerson = async (
      userName: string,
      profile: UserProfile,
      more: Record<string, unknown> = {},
    ): Promise<Person> => {
      const password = `the password of ${userName}`
      await call('POST', `${api}/admin/adduser`, { userName, userProfile: profile, password, ...more }, admin.token)
      return { userName, password, profile, ...(await signIn(userName, password)) }
    }
    /**
     * Access tokens expire after 15 minutes, and authentication stays fresh for five. Uses the refresh token and the
     * password in place, because sign-ins are throttled after many failures.
     */
    const renew = async (person: Person): Promise<void> => {
      const { refreshToken } = person
      const got = await wire.send({ method: 'POST', path: `${api}/Auth/RefreshToken`, body: { refreshToken } })
      const answer = jsonOf(got.text) as { token: string; refreshToken: string }
      if (got.status === 200) {
        Object.assign(person, { token: answer.token, refreshToken: answer.refreshToken })
        const { password, token } = person
        await wire.send({ method: 'POST', path: `${api}/auth/reauthenticate`, body: { password }, token })
      } else Object.assign(person, await signIn(person.userName, person.password))
    }
    const enrolmentToken = async (): Promise<string> =>
      String(
        (await call('POST', `${api}/agents/enrollmenttokens`, { name: 'gate', maxUses: 1_000 }, admin.token)).token,
      )
    const workerToken = async (): Promise<string> =>
      String((await call('POST', `${api}/agents/agentless/workerpollerdetails/token`, undefined, admin.token)).token)

    return {
      server,
      servers,
      database,
      wire,
      wires,
      call,
      /** Runs a query directly on the server's tables. */
      rows: async <Row extends pg.QueryResultRow>(text: string, values: unknown[] = []): Promise<Row[]> => {
        const client = new pg.Client(database.connection)
        await client.connect()
        try {
          return (await client.query<Row>(text, values)).rows
        } finally {
          await client.end()
        }
      },
      keyFile,
      admin,
      addPerson,
      signIn,
      renew,
      enrolmentToken,
      workerToken,
      addHost: async (name: string) => enrolHost(wire, await enrolmentToken(), name),
      addWorker: async () => registerWorker(wire, await workerToken()),
      close,
    }
  } catch (error) {
    await close()
    throw error
  }
}

/** Opens an environment, calls `work`, and always closes the environment. */
export const withEnvironment = async <T>(
  options: EnvironmentOptions,
  work: (environment: Environment) => Promise<T>,
): Promise<T> => {
  const environment = await openEnvironment(options)
  try {
    return await work(environment)
  } finally {
    await environment.close()
  }
}
