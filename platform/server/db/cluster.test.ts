import { afterAll, beforeAll, describe, expect, it, vi } from 'vitest'
import { createLog } from '../log.ts'
import { startTestNodes, type TestNodes } from '../postgres/test-nodes.ts'
import { createBus } from './bus.ts'
import { NotReplicatedError } from './commit.ts'
import { clusterOf } from './connection.ts'
import { createDb, type Db, isUnavailable } from './db.ts'
import type { DatabaseCluster } from './primary.ts'
import { sql } from './sql.ts'
import { NoStandbyError } from './standby-wait.ts'

const log = createLog('silent')
let cluster: TestNodes
let followed: DatabaseCluster
let db: Db
let watch: { stop(): void }

const open = (): Db =>
  createDb({ connection: followed.connection, max: 4, name: 'test', log, statementTimeoutMs: 4_000 })

beforeAll(async () => {
  cluster = await startTestNodes()
  await cluster.streaming()
  // An administrator wants errors only. The server needs the warning all the same.
  const [primary] = cluster.nodes
  await primary.admin('alter system set client_min_messages = error', 'select pg_reload_conf()')
  followed = clusterOf(cluster.url(), log) as DatabaseCluster
  watch = followed.watch()
  db = open()
  await db.execute(sql`create table marks (n int primary key)`)
})
afterAll(async () => {
  watch?.stop()
  await db?.close()
  await cluster?.stop()
})

const portOf = async (): Promise<number | undefined> =>
  (await db.query<{ port: number }>(sql`select inet_server_port() as port`))[0]?.port

/** Pauses both standbys, so that the primary waits for them. */
const withoutStandbys = async (work: () => Promise<void>): Promise<void> => {
  const standbys = cluster.nodes.slice(1)
  for (const { signal } of standbys) signal('SIGSTOP')
  try {
    await work()
  } finally {
    for (const { signal } of standbys) signal('SIGCONT')
  }
}

/** Cancels a COMMIT that waits for a standby, like an operator. */
const cancelWait = async (): Promise<void> => {
  const [primary] = cluster.nodes
  await vi.waitFor(
    async () =>
      expect(
        await primary.admin("select pg_cancel_backend(pid) from pg_stat_activity where wait_event = 'SyncRep'"),
      ).toHaveLength(1),
    { timeout: 10_000, interval: 20 },
  )
}

describe('a COMMIT whose wait for a standby is cancelled', () => {
  it.each([
    ['of a transaction', 1, (n: number) => db.transaction((tx) => tx.execute(sql`insert into marks values (${n})`))],
    ['of a statement', 2, (n: number) => db.execute(sql`insert into marks values (${n})`)],
    [
      'of a borrowed connection',
      3,
      (n: number) => db.withClient((client) => client.query('insert into marks values ($1)', [n])),
    ],
  ] as const)('%s fails, though the primary stored it', async (_name, n, write) => {
    await withoutStandbys(async () => {
      const [outcome] = await Promise.all([
        write(n).then(
          () => null,
          (error: unknown) => error,
        ),
        cancelWait(),
      ])
      expect(outcome).toBeInstanceOf(NotReplicatedError)
      expect(isUnavailable(outcome)).toBe(true)
    })
    expect(await db.query(sql`select n from marks where n = ${n}`)).toHaveLength(1)
  })
})

describe('changes without a standby', () => {
  it('are refused at once while earlier ones wait, and reads still work', async () => {
    const impatient = createDb({ connection: followed.connection, max: 4, name: 'test', log, statementTimeoutMs: 500 })
    const write = (n: number) => impatient.execute(sql`insert into marks values (${n})`)
    const errorOf = (work: Promise<unknown>) =>
      work.then(
        () => null,
        (error: unknown) => error,
      )
    try {
      await withoutStandbys(async () => {
        await Promise.all([10, 11, 12, 13].map((n) => errorOf(write(n))))
        await vi.waitFor(async () => expect(await errorOf(write(14))).toBeInstanceOf(NoStandbyError), {
          timeout: 10_000,
        })
        const locked = impatient.transaction((tx) => tx.query(sql`select 1`))
        expect(isUnavailable(await errorOf(locked))).toBe(true)
        for (let n = 20; n < 60; n++) expect(await errorOf(write(n))).toBeInstanceOf(NoStandbyError)
        expect(await impatient.query(sql`select 1 as n`)).toEqual([{ n: 1 }])
        const [waiting] = await cluster.nodes[0].admin(
          "select count(*)::int as n from pg_stat_activity where wait_event = 'SyncRep'",
        )
        expect(waiting?.n).toBeLessThanOrEqual(8)
      })
      await vi.waitFor(() => write(15), { timeout: 10_000, interval: 50 })
      expect(await impatient.query(sql`select n from marks where n between 20 and 59`)).toEqual([])
    } finally {
      await impatient.close()
    }
  })
})

describe('a repeated change', () => {
  it('that only locks its row waits for a standby too, so it does not acknowledge a lost one', async () => {
    await withoutStandbys(async () => {
      const repeated = db.transaction((tx) => tx.query(sql`select n from marks where n = 1 for update`))
      const [outcome] = await Promise.all([
        repeated.then(
          () => null,
          (error: unknown) => error,
        ),
        cancelWait(),
      ])
      expect(outcome).toBeInstanceOf(NotReplicatedError)
    })
  })
})

describe('a database address of several hosts', () => {
  it('leads every connection to the primary', async () => {
    expect(await portOf()).toBe(cluster.nodes[0].port)
  })

  it('leads to the promoted standby, also for messages, and never back to the former primary', async () => {
    const [a, b] = cluster.nodes
    const bus = createBus({ connection: followed.connection, log })
    await bus.ready(10_000)
    const heard: unknown[] = []
    bus.on('mark', (message) => heard.push(message))
    try {
      // The former primary hangs: nothing ends its connections.
      a.signal('SIGSTOP')
      await b.admin('select pg_promote()')
      await vi.waitFor(async () => expect(await portOf()).toBe(b.port), { timeout: 20_000, interval: 50 })
      await b.admin("alter system set synchronous_standby_names = ''", 'select pg_reload_conf()')
      await vi.waitFor(() => expect(bus.isLive()).toBe(true), { timeout: 20_000, interval: 50 })
      await db.transaction((tx) => bus.publish(tx, 'mark'))
      await vi.waitFor(() => expect(heard).toHaveLength(1), { timeout: 10_000, interval: 20 })

      a.signal('SIGCONT')
      const fresh = clusterOf(cluster.url(), log) as DatabaseCluster
      const other = createDb({ connection: fresh.connection, max: 1, name: 'test', log, statementTimeoutMs: 4_000 })
      expect(await other.query(sql`select inet_server_port() as port`)).toEqual([{ port: b.port }])
      await other.close()

      // Without the new primary, the former one is refused, because a server knows its newer timeline.
      b.signal('SIGSTOP')
      const refused = await db.query(sql`select 1`).catch((error: unknown) => error)
      expect(isUnavailable(refused)).toBe(true)
      b.signal('SIGCONT')
      await vi.waitFor(async () => expect(await portOf()).toBe(b.port), { timeout: 20_000, interval: 50 })
    } finally {
      for (const node of cluster.nodes) node.signal('SIGCONT')
      await bus.close()
    }
  })

  it('fails with one sentence about each server if there is no primary', async () => {
    const [a, b, c] = cluster.nodes
    await Promise.all([a.kill(), b.kill()])
    const { connection } = clusterOf(cluster.url(), log) as DatabaseCluster
    const lost = createDb({ connection, max: 1, name: 'test', log, statementTimeoutMs: 4_000 })
    const error = (await lost.query(sql`select 1`).catch((reason: unknown) => reason)) as Error
    expect(error.message).toBe(
      `No database server is the primary: 127.0.0.1:${a.port} refuses connections, 127.0.0.1:${b.port} refuses connections, 127.0.0.1:${c.port} is a standby`,
    )
    await lost.close()
  })
})
