/** Runs a PostgreSQL cluster of a primary and streaming standbys, for tests and drills. */
import { spawn, spawnSync } from 'node:child_process'
import {
  appendFileSync,
  chmodSync,
  chownSync,
  cpSync,
  mkdirSync,
  mkdtempSync,
  openSync,
  rmSync,
  writeFileSync,
} from 'node:fs'
import { createServer } from 'node:net'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { setTimeout as sleep } from 'node:timers/promises'
import pg from 'pg'
import { installBinaries } from './binaries.ts'
import { CHILD_ENV, ensureCluster, SUPERUSER } from './cluster.ts'
import { letThrough } from './let-through.ts'
import { asOwner, chooseOwner } from './owner.ts'
import { postgresOn, startTimeOf } from './processes.ts'

const host = '127.0.0.1'
const product = 'portcullis'
const withinMs = 30_000

export interface TestNode {
  name: string
  port: number
  clusterDir: string
  start(): Promise<void>
  /** Kills every process of the server with SIGKILL, like a power failure of its machine. */
  kill(): Promise<void>
  /** Signals every process of the server. */
  signal(signal: NodeJS.Signals): void
  /** Runs statements as the superuser in the product's database, each on its own. Returns the rows of the last one. */
  admin(...statements: string[]): Promise<Record<string, unknown>[]>
}

export interface TestNodes {
  nodes: readonly [TestNode, TestNode, TestNode]
  /** The address of all nodes, for a role. */
  url(user?: string): string
  /** Waits until both standbys stream from the primary, the first node. */
  streaming(): Promise<void>
  stop(): Promise<void>
}

const freePort = async (): Promise<number> => {
  const server = createServer()
  await new Promise<void>((resolve) => server.listen(0, host, resolve))
  const { port } = server.address() as { port: number }
  await new Promise((resolve) => server.close(resolve))
  return port
}

const until = async (what: string, isDone: () => Promise<boolean>): Promise<void> => {
  const end = performance.now() + withinMs
  while (!(await isDone().catch(() => false))) {
    if (performance.now() > end) throw new Error(`Waited too long for ${what}.`)
    await sleep(25)
  }
}

export interface TestNodesOptions {
  /** Value of synchronous_standby_names on every node. */
  synchronous?: string
  /** Returns the port at which a standby reaches the port of the first node. */
  link?(port: number): Promise<number>
}

/** Starts a primary, node a, and two standbys, b and c. */
export const startTestNodes = async ({
  synchronous = 'ANY 1 (a, b, c)',
  link = async (port) => port,
}: TestNodesOptions = {}): Promise<TestNodes> => {
  const dir = mkdtempSync(join(tmpdir(), 'portcullis-nodes-'))
  chmodSync(dir, 0o711)
  const owner = chooseOwner(join(dir, 'a'))
  if (owner.drop) letThrough(dir, owner)
  const binaries = installBinaries(dir)

  const createNode = async (name: string): Promise<TestNode> => {
    const [clusterDir, port, sockets] = [join(dir, name), await freePort(), join(dir, `${name}.run`)]
    mkdirSync(sockets, { mode: 0o700 })
    if (owner.drop) chownSync(sockets, owner.uid, owner.gid)
    async function admin(...statements: string[]): Promise<Record<string, unknown>[]> {
      const client = new pg.Client({ host, port, user: SUPERUSER, database: product, connectionTimeoutMillis: 5_000 })
      client.on('error', () => {})
      await client.connect()
      try {
        let rows: Record<string, unknown>[] = []
        for (const statement of statements) rows = (await client.query(statement)).rows
        return rows
      } finally {
        await client.end()
      }
    }
    const signal = (signal: NodeJS.Signals): void => {
      for (const pid of postgresOn(clusterDir))
        try {
          process.kill(pid, signal)
        } catch {
          // It ended in the meantime.
        }
    }
    return {
      name,
      port,
      clusterDir,
      admin,
      signal,
      start: async () => {
        const out = openSync(join(dir, `${name}.log`), 'a')
        const settings = { port, cluster_name: name, unix_socket_directories: sockets, listen_addresses: host }
        const args = Object.entries(settings).flatMap(([key, value]) => ['-c', `${key}=${value}`])
        function launch() {
          const child = spawn(binaries.postgres, ['-D', clusterDir, ...args], {
            ...asOwner(owner),
            cwd: '/',
            env: CHILD_ENV,
            stdio: ['ignore', out, out],
          })
          child.unref()
          return child
        }
        let child = launch()
        await until(`node ${name}, see ${dir}/${name}.log`, async () => {
          // It ends at once while a connection of another test uses its port.
          if (child.exitCode !== null) child = launch()
          const client = new pg.Client({ host, port, user: SUPERUSER, database: 'postgres' })
          client.on('error', () => {})
          await client.connect()
          await client.end()
          return true
        })
      },
      kill: async () => {
        const pids = postgresOn(clusterDir)
        signal('SIGKILL')
        await until(`the end of node ${name}`, async () => pids.every((pid) => startTimeOf(pid) === ''))
        rmSync(join(clusterDir, 'postmaster.pid'), { force: true })
      },
    }
  }

  const nodes = [await createNode('a'), await createNode('b'), await createNode('c')] as const
  const [first, ...others] = nodes
  const settings = `
wal_level = replica
max_wal_senders = 10
max_connections = 100
wal_keep_size = 256MB
wal_retrieve_retry_interval = 500ms
shared_buffers = 128MB
`
  const hba = join(dir, 'pg_hba.conf')
  writeFileSync(hba, `host all,replication all ${host}/32 trust\n`)
  await ensureCluster(first.clusterDir, binaries, owner, { hba, ident: '/dev/null' })
  appendFileSync(join(first.clusterDir, 'postgresql.conf'), settings)
  // PostgreSQL creates the roles while no standby exists, so it must not wait for one.
  await first.start().catch(async (error: unknown) => {
    await first.kill()
    throw error
  })
  const client = new pg.Client({ host, port: first.port, user: SUPERUSER, database: 'postgres' })
  await client.connect()
  for (const statement of [
    `CREATE ROLE ${product} LOGIN`,
    'CREATE ROLE replicator LOGIN REPLICATION',
    `CREATE DATABASE ${product} OWNER ${product}`,
    `ALTER SYSTEM SET synchronous_standby_names = '${synchronous}'`,
    'CHECKPOINT',
  ])
    await client.query(statement)
  await client.end()
  await first.kill()
  for (const { name, clusterDir } of others) {
    cpSync(first.clusterDir, clusterDir, { recursive: true, preserveTimestamps: true })
    const conninfo = `primary_conninfo = 'host=${host} port=${await link(first.port)} user=replicator application_name=${name}'\n`
    appendFileSync(join(clusterDir, 'postgresql.auto.conf'), conninfo)
    writeFileSync(join(clusterDir, 'standby.signal'), '')
    if (owner.drop) spawnSync('chown', ['-R', `${owner.uid}:${owner.gid}`, clusterDir])
    chmodSync(clusterDir, 0o700)
  }
  await Promise.all(nodes.map((node) => node.start()))

  return {
    nodes,
    url: (user = product) =>
      `postgres://${user}@${nodes.map(({ port }) => `${host}:${port}`).join(',')}/${product}?target_session_attrs=read-write`,
    streaming: () =>
      until('two streaming standbys', async () => {
        const [row] = await first.admin("select count(*)::int as n from pg_stat_replication where state = 'streaming'")
        return row?.n === 2
      }),
    stop: async () => {
      await Promise.all(nodes.map((node) => node.kill()))
      rmSync(dir, { recursive: true, force: true })
    },
  }
}
