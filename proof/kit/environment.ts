/** The environment of all gates: database, server, a person of each profile with a token, hosts, worker. */
import { join } from 'node:path'
import type { UserProfile } from '@portcullis/features/contract.ts'
import type pg from 'pg'
import { freePort } from '../../server/test/free-port.ts'
import { startDatabase, temporaryFolder } from './database.ts'
import { enrolHost, type HostIdentity, registerWorker } from './host.ts'
import { adminPassword, startServerProcess } from './server.ts'
import { withClient } from './stored.ts'
import { createWire, jsonOf } from './wire.ts'

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
  /** Additional environment variables of the server. */
  env?: Readonly<Record<string, string>>
}

export type Environment = Awaited<ReturnType<typeof openEnvironment>>

const openEnvironment = async ({ root, env = {} }: EnvironmentOptions) => {
  const folder = temporaryFolder('gate')
  const database = await startDatabase()
  let close = async (): Promise<void> => {
    await database.stop()
  }
  try {
    const keyFile = join(folder, 'portcullis.key')
    const server = await startServerProcess({
      databaseUrl: database.url,
      dataDir: join(folder, 'server'),
      port: await freePort(),
      root,
      env: { PORTCULLIS_KEY_FILE: keyFile, ...env },
    })
    const wire = createWire(server.url)
    const closeDatabase = close
    close = async () => {
      wire.close()
      await server.end('SIGKILL')
      await closeDatabase()
    }
    const call = (method: string, path: string, body?: unknown, token?: string): Promise<Record<string, unknown>> =>
      server.call(path, body, token, method)

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
    const enrolmentToken = (): Promise<string> => server.enrolmentToken(1_000, admin.token)
    const workerToken = async (): Promise<string> =>
      String((await call('POST', `${api}/agents/agentless/workerpollerdetails/token`, undefined, admin.token)).token)

    return {
      server,
      database,
      wire,
      call,
      /** Runs a query directly on the server's tables. */
      rows: <Row extends pg.QueryResultRow>(text: string, values: unknown[] = []): Promise<Row[]> =>
        withClient(database.connection, async (client) => (await client.query<Row>(text, values)).rows),
      keyFile,
      admin,
      addPerson,
      signIn,
      renew,
      enrolmentToken,
      workerToken,
      addHost: async (name: string, identity: HostIdentity = {}) =>
        enrolHost(wire, await enrolmentToken(), name, identity),
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
