import { execFile } from 'node:child_process'
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { afterAll, beforeAll, describe, expect, it, vi } from 'vitest'
import { clusterOf } from '../db/connection.ts'
import { createDb } from '../db/db.ts'
import type { DatabaseCluster } from '../db/primary.ts'
import { sql } from '../db/sql.ts'
import { createLog } from '../log.ts'
import { startTestNodes, type TestNode, type TestNodes } from '../postgres/test-nodes.ts'
import { confirmationsOf, withSender } from './members.ts'

const cli = fileURLToPath(new URL('../../../cli/src/main.ts', import.meta.url))
const log = createLog('silent')
let cluster: TestNodes
let dir: string

interface Ran {
  code: number
  output: string
}

/** Runs `portcullis database …` as a process. */
const database = (...args: string[]): Promise<Ran> =>
  new Promise((resolve) => {
    const all = [cli, 'database', ...args, '--url-file', join(dir, 'url')]
    execFile(process.execPath, all, (error, stdout, stderr) =>
      resolve({ code: error === null ? 0 : Number(error.code), output: stdout + stderr }),
    )
  })

const labelOf = ({ port }: TestNode): string => `127.0.0.1:${port}`

const write = async (from: number, to: number): Promise<void> => {
  const { connection } = clusterOf(cluster.url(), log) as DatabaseCluster
  const db = createDb({ connection, max: 1, name: 'test', log, statementTimeoutMs: 8_000 })
  try {
    for (let n = from; n < to; n++) await db.execute(sql`insert into marks values (${n})`)
  } finally {
    await db.close()
  }
}

beforeAll(async () => {
  dir = mkdtempSync(join(tmpdir(), 'failover-'))
  cluster = await startTestNodes()
  await cluster.nodes[0].admin(
    'create table marks (n int primary key)',
    'alter table marks owner to portcullis',
    'create role failover login',
    'grant pg_monitor, pg_signal_backend, pg_checkpoint to failover',
    'grant execute on function pg_promote(boolean, integer), pg_reload_conf() to failover',
    'grant alter system on parameter primary_conninfo, synchronous_standby_names, default_transaction_read_only to failover',
  )
  await cluster.streaming()
  writeFileSync(join(dir, 'url'), `${cluster.url('failover')}\n`)
})
afterAll(async () => {
  await cluster?.stop()
  rmSync(dir, { recursive: true, force: true })
})

describe('a promotion', () => {
  it('changes nothing while the primary answers', async () => {
    const [a, b, c] = cluster.nodes
    expect(await database('promote')).toEqual({ code: 0, output: expect.stringContaining('nothing to do') })
    const { output } = await database('status')
    expect(output).toContain(`${labelOf(a)} is a primary on timeline 1; synchronous_standby_names: ANY 1 (a, b, c)`)
    for (const standby of [b, c])
      expect(output).toContain(`${labelOf(standby)} is a standby on timeline 1; follows ${labelOf(a)}`)
  })

  it('is refused if an unreachable standby may have more acknowledged changes', async () => {
    const [a, b, c] = cluster.nodes
    // Only the other standby confirms these.
    c.signal('SIGSTOP')
    await write(0, 20)
    await a.kill()
    const { code, output } = await database('promote')
    c.signal('SIGCONT')
    expect(output).toContain('2 standbys must be reachable')
    expect(output).toContain(`${labelOf(c)} does not answer`)
    expect(code).toBe(2)
    expect((await b.admin('show primary_conninfo'))[0]).toEqual({
      primary_conninfo: expect.stringContaining(`port=${a.port}`),
    })
  })

  it('describes its steps first', async () => {
    const [, b, c] = cluster.nodes
    const { code, output } = await database('promote', '--dry-run')
    expect(output).toContain(`would detach from the former primary: ${labelOf(b)}, ${labelOf(c)}`)
    expect(code).toBe(0)
    expect(await b.admin('select pg_is_in_recovery() as standby')).toEqual([{ standby: true }])
  })

  it('keeps every acknowledged change, and lets the other standby follow', async () => {
    const [, b, c] = cluster.nodes
    const { code, output } = await database('promote')
    expect(output).toMatch(/ is the primary on timeline 2\n/)
    expect(output).toContain(`${labelOf(c)} follows ${labelOf(b)} on timeline 2`)
    expect(output).toContain('wrote a checkpoint')
    expect(code).toBe(0)
    expect(await b.admin('select timeline_id as n from pg_control_checkpoint()')).toEqual([{ n: 2 }])
    expect(await b.admin('select count(*)::int as n from marks')).toEqual([{ n: 20 }])
    await write(20, 40)
    expect((await database('promote')).output).toContain('nothing to do')
  })

  it('leaves a former primary that returns unable to acknowledge a change', async () => {
    const [a] = cluster.nodes
    await a.start()
    const lone = a.admin('insert into marks values (1000)').then(
      () => 'acknowledged',
      () => 'not acknowledged',
    )
    await vi.waitFor(
      async () => expect(await a.admin("select 1 from pg_stat_activity where wait_event = 'SyncRep'")).toHaveLength(1),
      { timeout: 10_000, interval: 20 },
    )
    // Clients find the new primary although the former one answers.
    await write(40, 50)
    await a.kill()
    expect(await lone).toBe('not acknowledged')
  })

  it('refuses a former primary that became a standby without pg_rewind', async () => {
    const [a, b] = cluster.nodes
    writeFileSync(join(a.clusterDir, 'standby.signal'), '')
    await a.start()
    const { code, output } = await database('promote', '--to', labelOf(a))
    expect(output).toContain(`${labelOf(a)} is on timeline 1, not 2. Rebuild it with pg_rewind or pg_basebackup.`)
    expect(code).toBe(2)
    expect(await b.admin('show default_transaction_read_only')).toEqual([{ default_transaction_read_only: 'off' }])
    await a.kill()
  })

  it('leaves the primary in use if a step before the promotion fails', async () => {
    const [, b, c] = cluster.nodes
    await b.admin('revoke alter system on parameter primary_conninfo from failover')
    const { code, output } = await database('promote', '--to', labelOf(c))
    expect(output).toContain(`not promoted; ${labelOf(b)} stays the primary`)
    expect(code).toBe(1)
    await write(50, 52)
    await b.admin('grant alter system on parameter primary_conninfo to failover')
  })

  it('moves the primary on request, and turns synchronous replication off without a standby', async () => {
    const [, b, c] = cluster.nodes
    const { code, output } = await database('promote', '--to', labelOf(c), '--stop-command', 'echo stopped')
    expect(output).toContain(`making ${labelOf(b)} read-only`)
    expect(output).toContain('stopped')
    expect(output).toContain(`synchronous replication is off on ${labelOf(c)}`)
    expect(code).toBe(0)
    expect(await c.admin('select count(*)::int as n from marks')).toEqual([{ n: 52 }])
    await write(52, 60)
  })
})

describe('the settings of a standby', () => {
  it.each([
    ['user=r host=db-a port=5432 sslmode=require', 'host=db-b port=1 user=r sslmode=require'],
    ["user=r password='a \\' host=x' hostaddr=1.2.3.4", "host=db-b port=1 user=r password='a \\' host=x'"],
    ['postgres://r@db-a', null],
  ])('name another primary: %s', (conninfo, expected) => {
    expect(withSender(conninfo, 'db-b', 1)).toBe(expected)
  })

  it.each([
    ['', 0],
    ['ANY 1 (a, b)', 1],
    ['first 2 (a, b)', 2],
    ['2 (*)', 2],
    ['a, b', 1],
    ['*', 1],
  ])('require confirmations: %s', (setting, confirmations) => {
    expect(confirmationsOf(setting)).toBe(confirmations)
  })
})
