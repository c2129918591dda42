// Invariant: No value of a request becomes part of SQL text: the sql tag makes parameters, and sort keys come from
//   a Map.

import { startTestApp, type TestApp } from '@portcullis/server/test/app.ts'
import { pageOf } from '@portcullis/server/test/builders.ts'
import { fold, seedHosts } from '@portcullis/server/test/list-hosts.ts'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { sql } from '#platform/server/db/sql.ts'

let t: TestApp

beforeAll(async () => {
  t = await startTestApp({ listen: true })
  await seedHosts(t)
})
afterAll(() => t.close())

/** Returns the sort keys of a list from its own error message. */
const sortKeys = async (path: string): Promise<string[]> => {
  const answer = await (await t.admin()).get(`/prime/webui/${path}?SortBy=!`)
  expect(answer.statusCode).toBe(400)
  return /must be one of (.*), with _asc/.exec(answer.json().errors[0].message)?.[1]?.split(', ') ?? []
}

describe.each(['agents', 'peripherals', 'peripherals/models', 'events/getevents'])('sorting of %s', (path) => {
  it('is total and stable over pages, in both directions, by every key', async () => {
    const keys = await sortKeys(path)
    expect(keys.length).toBeGreaterThan(8)
    const idOf = (row: Record<string, unknown>): string =>
      path === 'agents'
        ? `${row.uuid}`
        : path === 'peripherals'
          ? `${row.uuid} ${row.deviceID}`
          : path === 'peripherals/models'
            ? `${row.vid}${row.pid}`
            : `${row.eventID}`
    for (const key of keys) {
      const read = async (order: string, size: number): Promise<Record<string, unknown>[]> => {
        const rows: Record<string, unknown>[] = []
        for (let n = 1; ; n++) {
          const { data } = await pageOf<Record<string, unknown>>(
            t,
            `${path}?SortBy=${order}&PageSize=${size}&PageNumber=${n}`,
          )
          rows.push(...data)
          if (data.length < size) return rows
        }
      }
      const ascending = await read(`${key.toUpperCase()}_ASC`, 1000)
      const descending = await read(`-${key}`, 1000)
      expect((await read(key, 23)).map(idOf), key).toEqual(ascending.map(idOf))
      expect(descending.map(idOf), key).toEqual(ascending.map(idOf).toReversed())
      expect(new Set(ascending.map(idOf)).size).toBe(ascending.length)
      // Equal values are adjacent, whatever the order of different ones.
      const values = ascending.map((row) => fold(JSON.stringify(row[key])))
      expect(key in (ascending[0] as object), key).toBe(true)
      expect(values.filter((value, i) => value !== values[i - 1]).length, key).toBe(new Set(values).size)
      if (values.every((value) => /^-?\d/.test(value))) {
        const numbers = values.map(Number)
        expect(numbers, key).toEqual(numbers.toSorted((a, b) => a - b))
      }
    }
  })

  it('accepts every key that is shown', async () => {
    const known = new Set(await sortKeys(path))
    const [row] = (await pageOf<Record<string, unknown>>(t, `${path}?PageSize=1`)).data
    const single = Object.entries(row ?? {}).flatMap(([key, value]) =>
      // An acceptance has several members.
      Array.isArray(value) || key === 'acceptance' ? [] : [key],
    )
    expect(single.length).toBeGreaterThan(8)
    expect(single.filter((key) => !known.has(key))).toEqual([])
  })

  it('by a database column that is not shown is rejected', async () => {
    const known = new Set((await sortKeys(path)).map((key) => key.toLowerCase()))
    const columns = (
      await t.server.db.query<{ name: string }>(
        sql`select distinct c.column_name as name from information_schema.columns c where c.table_schema = 'public'`,
      )
    ).map((row) => row.name)
    expect(columns.length).toBeGreaterThan(80)
    const admin = await t.admin()
    const taken: string[] = []
    for (const name of [
      ...columns,
      'public_key',
      'ctid',
      'oid',
      'constructor',
      '__proto__',
      'toString',
      'valueOf',
      'hasOwnProperty',
      '1',
      'null',
      'random()',
    ])
      for (const order of [name, `${name}_desc`]) {
        const answer = await admin.get(`/prime/webui/${path}?SortBy=${encodeURIComponent(order)}`)
        if (answer.statusCode === 400) expect(answer.json().errors[0].field).toBe('query.SortBy')
        else if (!known.has(name.toLowerCase())) taken.push(name)
      }
    // Other names of shown keys in the contract: version, status, address and so on.
    expect(
      taken.filter((name) => !['version', 'status', 'vendor', 'source', 'date', 'license'].includes(name)),
    ).toEqual([])
  })
})
