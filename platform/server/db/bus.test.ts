import { cloneDatabase } from '@portcullis/server/test/database.ts'
import { afterAll, beforeAll, describe, expect, inject, it } from 'vitest'
import { createLog } from '#platform/server/log.ts'
import { type BusMessage, createBus } from './bus.ts'
import { sql } from './sql.ts'

const until = async (isSo: () => boolean | Promise<boolean>, limitMs = 20_000): Promise<void> => {
  const startedAt = performance.now()
  while (!(await isSo())) {
    if (performance.now() - startedAt > limitMs) throw new Error(`not within ${limitMs} ms`)
    await new Promise((resolve) => setTimeout(resolve, 5))
  }
}

describe('messages between replicas', () => {
  let own: Awaited<ReturnType<typeof cloneDatabase>>
  let connection: { host: string; port: number; user: string; database: string }
  const open = () => createBus({ connection, log: createLog('silent') })
  beforeAll(async () => {
    own = await cloneDatabase()
    const [row] = await own.db.query<{ name: string }>(sql`select current_database() as name`)
    connection = { ...inject('postgres'), database: row?.name ?? '' }
  })
  afterAll(() => own.close())

  it('arrive everywhere when the transaction commits, and only then', async () => {
    const [one, two] = [open(), open()]
    await Promise.all([one.ready(20_000), two.ready(20_000)])
    const heard: BusMessage[] = []
    one.on('fleet', (message) => heard.push(message))
    two.on('fleet', (message) => heard.push(message))
    two.on('other', (message) => heard.push(message))
    await own.db
      .transaction(async (tx) => {
        await one.publish(tx, 'fleet', { id: 'lost' })
        throw new Error('rolled back')
      })
      .catch(() => {})
    await own.db.transaction((tx) => one.publish(tx, 'fleet', { id: 'ключ', topic: 'other' }))
    await until(() => heard.length >= 2)
    expect(heard).toEqual([
      { id: 'ключ', topic: 'fleet' },
      { id: 'ключ', topic: 'fleet' },
    ])
    await expect(own.db.transaction((tx) => one.publish(tx, 'fleet', { id: 'x'.repeat(8_000) }))).rejects.toThrow('8')
    await one.close()
    await two.close()
    expect(one.isLive()).toBe(false)
  })

  it('report a gap after a lost connection, which reconnects automatically', async () => {
    const bus = open()
    await bus.ready(20_000)
    await until(() => bus.isLive())
    let gaps = 0
    bus.onGap(() => gaps++)
    await own.db.query(
      sql`select pg_terminate_backend(a.pid) from pg_stat_activity a
          where a.application_name = 'portcullis bus' and a.datname = current_database()`,
    )
    await until(() => !bus.isLive())
    await until(() => bus.isLive())
    expect(gaps).toBe(1)
    const heard: BusMessage[] = []
    bus.on('again', (message) => heard.push(message))
    await own.db.transaction((tx) => bus.publish(tx, 'again'))
    await until(() => heard.length === 1)
    await bus.close()
  })

  it('continue after a handler that throws', async () => {
    const bus = open()
    await bus.ready(20_000)
    let heard = 0
    bus.on('bad', () => {
      throw new Error('a defect')
    })
    bus.on('good', () => heard++)
    await own.db.transaction(async (tx) => {
      await bus.publish(tx, 'bad')
      await tx.query(sql`select pg_notify('portcullis', 'no json')`)
      await bus.publish(tx, 'good')
    })
    await until(() => heard === 1)
    await bus.close()
  })
})
