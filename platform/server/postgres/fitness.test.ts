import pg from 'pg'
import { describe, expect, inject, it } from 'vitest'
import { StartError } from '../start-error.ts'
import { assertDatabaseFitness } from './fitness.ts'

describe('assertDatabaseFitness', () => {
  const connection = inject('postgres')

  async function on<T>(database: string, work: (client: pg.Client) => Promise<T>): Promise<T> {
    const client = new pg.Client({ ...connection, database })
    await client.connect()
    try {
      return await work(client)
    } finally {
      await client.end()
    }
  }
  const create = (text: string) =>
    on('portcullis', (client) => client.query(`CREATE DATABASE ${text} TEMPLATE template0`))
  const reasonOn = (database: string, options = { durable: false }) =>
    on(database, async (client) => {
      const error = await assertDatabaseFitness(client, options).catch((reason: unknown) => reason)
      expect(error).toBeInstanceOf(StartError)
      return (error as StartError).message
    })

  it('accepts a UTF-8 database and leaves nothing behind', async () => {
    await on('portcullis', async (client) => {
      await assertDatabaseFitness(client, { durable: false })
      const { rows } = await client.query("SELECT FROM pg_extension WHERE extname = 'pg_trgm'")
      expect(rows).toEqual([])
    })
  })

  it('rejects a database that may lose acknowledged data', async () => {
    expect(await reasonOn('portcullis', { durable: true })).toContain('fsync is off')
  })

  it('rejects a role whose commits do not wait', async () => {
    // The test cluster itself has fsync off, so the setting under test is distinguished by the order of the queries.
    const settings = { fsync: 'on', synchronous_commit: 'off', full_page_writes: 'on' }
    await on('portcullis', async (client) => {
      const asked = {
        query: (text: string) => {
          const value = settings[text.replace('SHOW ', '') as keyof typeof settings]
          return value === undefined ? client.query(text) : Promise.resolve({ rows: [{ value }] })
        },
      }
      await expect(assertDatabaseFitness(asked)).rejects.toThrow('synchronous_commit is off')
    })
  })

  it('rejects a plain C locale', async () => {
    await create("plain_c ENCODING UTF8 LOCALE_PROVIDER libc LOCALE 'C'")
    expect(await reasonOn('plain_c')).toContain("lower('Ä')")
  })

  it('rejects another encoding', async () => {
    await create("latin ENCODING LATIN1 LOCALE_PROVIDER libc LOCALE 'C'")
    expect(await reasonOn('latin')).toContain('UTF8')
  })

  it('rejects PostgreSQL 14', async () => {
    const client = { query: async (text: string) => ({ rows: [{ v: text.endsWith('_num') ? '140012' : '14.12' }] }) }
    await expect(assertDatabaseFitness(client)).rejects.toThrow('PostgreSQL 14.12, but Portcullis needs 15')
  })

  it('rejects a database whose user may not create pg_trgm', async () => {
    const superuser = new pg.Client({ ...connection, user: 'postgres', database: 'postgres' })
    await superuser.connect()
    await superuser.query('CREATE DATABASE foreign_db')
    await superuser.end()
    expect(await reasonOn('foreign_db')).toContain('pg_trgm')
  })
})
