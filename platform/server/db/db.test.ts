import { createServer } from 'node:net'
import { describe, expect, it } from 'vitest'
import { createLog } from '../log.ts'
import { createDb, isUnavailable } from './db.ts'
import { sql } from './sql.ts'
import { createStatementNames } from './statement-names.ts'

describe('prepared statements', () => {
  it('are statements in frequent use', () => {
    const nameOf = createStatementNames()
    expect(['a', 'a', 'a', 'a', 'b'].map(nameOf)).toEqual([
      undefined,
      undefined,
      expect.stringMatching(/^p[0-9a-f]{24}$/),
      expect.stringMatching(/^p[0-9a-f]{24}$/),
      undefined,
    ])
  })

  it('are limited in number, whatever sorts are requested', () => {
    const nameOf = createStatementNames()
    for (let i = 0; i < 3; i++) nameOf('hot')
    const named = new Set<string | undefined>()
    for (let i = 0; i < 3_000; i++) for (let times = 0; times < 4; times++) named.add(nameOf(`list ${i}`))
    named.delete(undefined)
    expect(named.size).toBe(159)
    expect(nameOf('hot')).toBeDefined()
  })

  it('are counted for a limited number of texts; beyond it, earlier counts are dropped', () => {
    const nameOf = createStatementNames()
    for (let i = 0; i < 100_000; i++) expect(nameOf(`list ${i}`)).toBeUndefined()
    const few = createStatementNames()
    const many = createStatementNames()
    for (const names of [few, many]) expect([names('cold'), names('cold')]).toEqual([undefined, undefined])
    for (let i = 0; i < 1_999; i++) few(`list ${i}`)
    for (let i = 0; i < 2_001; i++) many(`list ${i}`)
    expect([few('cold'), many('cold')]).toEqual([expect.stringMatching(/^p/), undefined])
  })
})

/** A message of the database's protocol. */
const message = (type: string, body: string | Buffer): Buffer => {
  const bytes = Buffer.from(body)
  const head = Buffer.alloc(5)
  head.write(type)
  head.writeInt32BE(bytes.length + 4, 1)
  return Buffer.concat([head, bytes])
}

describe('a database that ends a connection', () => {
  it('right after accepting it does not end the process', async () => {
    const fatal = message('E', 'SFATAL\0VFATAL\0C57P01\0Mterminating connection due to administrator command\0\0')
    const server = createServer((socket) => {
      socket.on('error', () => {})
      socket.once('data', () => socket.end(Buffer.concat([message('R', Buffer.alloc(4)), message('Z', 'I'), fatal])))
    })
    await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve))
    const { port } = server.address() as { port: number }
    const connection = { host: '127.0.0.1', port, user: 'u', database: 'd' }
    const db = createDb({ connection, max: 2, name: 'test', log: createLog('silent'), statementTimeoutMs: 1_000 })
    try {
      for (const work of [() => db.query(sql`select 1`), () => db.transaction((tx) => tx.query(sql`select 1`))])
        expect(await work().catch(isUnavailable)).toBe(true)
    } finally {
      await db.close()
      server.close()
    }
  })
})
