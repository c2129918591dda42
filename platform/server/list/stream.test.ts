import { storageStick } from '@portcullis/domain/testing'
import type { Agent, Peripheral } from '@portcullis/features/contract.ts'
import { startTestApp, type TestApp } from '@portcullis/server/test/app.ts'
import { enrolAgent, fetchText, type Page, pageOf } from '@portcullis/server/test/builders.ts'
import { awkwardNames, insertFleet } from '@portcullis/server/test/fleet.ts'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { sql } from '#platform/server/db/sql.ts'
import { streamArray, streamLines } from './stream.ts'

const fleet = 5_000
let t: TestApp
let authorization: string
let everyone: Page<Agent>

/** Folds case as databases do, character by character. */
const fold = (text: string): string => [...text].map((c) => (c === 'İ' ? 'i' : c.toLowerCase())).join('')

beforeAll(async () => {
  t = await startTestApp({ listen: true })
  await enrolAgent(t, { devices: [storageStick()] })
  await insertFleet(t, fleet)
  t.clock.advance(2_000)
  authorization = `Bearer ${await t.signIn()}`
  everyone = await streamed('agents?PageSize=1000000')
})
afterAll(() => t.close())

/** Returns the page as a client gets it over the socket, parsed, with its declared length if any. */
const streamed = async <T = Agent>(path: string): Promise<Page<T>> => {
  const answer = await fetchText(t, `/prime/webui/${path}`, {
    headers: { authorization },
  })
  expect(answer.status, answer.text.slice(0, 500)).toBe(200)
  return JSON.parse(answer.text) as Page<T>
}

const paged = async <T = Agent>(path: string, size: number): Promise<T[]> => {
  const rows: T[] = []
  for (let n = 1; ; n++) {
    const { data } = await pageOf<T>(t, `${path}${path.includes('?') ? '&' : '?'}PageSize=${size}&PageNumber=${n}`)
    rows.push(...data)
    if (data.length < size) return rows
  }
}

describe('a page over 2,000 rows', () => {
  it('equals its pages combined, including hostile names', async () => {
    const whole = everyone
    expect([whole.recordsTotal, whole.recordsFiltered, whole.data.length]).toEqual([fleet + 1, fleet + 1, fleet + 1])
    expect(await paged('agents', 1_000)).toEqual(whole.data)
    const names = new Set(whole.data.map((a) => a.hostIdentifier.replace(/ \d+$/, '')))
    for (const name of awkwardNames) expect(names.has(name), JSON.stringify(name)).toBe(true)
  })

  it.each([
    ['agents?SortBy=riskScore_asc', 2_500, 3],
    ['agents?SortBy=-firstSeen', 5_000, 2],
    ['agents?SortBy=hostIdentifier', 2_001, 1],
    ['peripherals?SortBy=deviceID_desc', 5_000, 1],
    ['peripherals?SortBy=serialNumber', 3_000, 2],
  ])('%s, %i a page, page %i', async (path, size, number) => {
    const page = await streamed<Agent & Peripheral>(`${path}&PageSize=${size}&PageNumber=${number}`)
    const all = await paged<Agent & Peripheral>(path, 1_999)
    expect(page.data).toEqual(all.slice((number - 1) * size, number * size))
    expect(page.recordsFiltered).toBe(fleet + 1)
  })

  // Filters reach COPY as settings: a text must arrive there unchanged.
  it.each([
    ['IpAddress', '10.'],
    ['GlobalSearch', '10.'],
    ['OsVersion', 'fleet os'],
    ['Severity', '10,30,40,50'],
    ['HasKnownAttackTools', 'false'],
    ['LastUpdated', '2020-01-01..2099-01-01'],
  ])('filtered by %s = %s', async (name, value) => {
    const filter = `${name}=${encodeURIComponent(value)}`
    const whole = await streamed(`agents?PageSize=100000&${filter}`)
    expect(whole.data.length).toBeGreaterThan(2_000)
    expect(whole.recordsFiltered).toBe(whole.data.length)
    expect(await paged(`agents?${filter}`, 1_500)).toEqual(whole.data)
  })

  it.each(awkwardNames)('treats %j as plain text in a filter', async (name) => {
    const expected = everyone.data.filter((a) => fold(a.hostIdentifier).includes(fold(name)))
    expect(expected.length).toBeGreaterThanOrEqual(fleet / awkwardNames.length)
    const found = await pageOf(t, `agents?PageSize=2000&HostIdentifier=${encodeURIComponent(name)}`)
    expect(found.data).toEqual(expected.slice(0, 2_000))
    expect(found.recordsFiltered).toBe(expected.length)
  })

  it('has all its commas wherever the chunks are split', async () => {
    // PostgreSQL sends 8 KiB at a time: ten bytes, and five more for each further row, so that every chunk ends with a
    // row.
    const rows = sql`select '"' || repeat('x', case n when 1 then 8174 else 8184 end) || '"' from generate_series(1, 50) n`
    const text = Buffer.concat(await streamArray(t.server.db, rows).toArray()).toString()
    expect(JSON.parse(text)).toHaveLength(50)
  })

  it('has the requested media type', async () => {
    const answer = await fetchText(t, '/prime/webui/agents?PageSize=100000', {
      headers: { authorization, accept: 'text/plain' },
    })
    expect(answer.headers.get('content-type')).toBe('text/plain; charset=utf-8')
    expect(JSON.parse(answer.text).data).toHaveLength(fleet + 1)
    expect(answer.headers.get('x-content-type-options')).toBe('nosniff')
  })

  it('frees its connection if the client aborts it', async () => {
    // The export pool has four connections: more aborts than that would use it up.
    for (let n = 0; n < 12; n++) {
      const stop = new AbortController()
      const answer = await fetch(`${t.address}/prime/webui/agents?PageSize=1000000`, {
        headers: { authorization },
        signal: stop.signal,
      })
      await answer.body?.getReader().read()
      stop.abort()
    }
    expect((await streamed('agents?PageSize=1000000')).data).toHaveLength(fleet + 1)
  })

  it('affects nothing else if it is aborted before its first row', async () => {
    for (const left of [streamLines, streamArray].map((stream) => stream(t.server.db, sql`select 'a row'`))) {
      left.on('error', () => {})
      left.destroy()
    }
    await expect.poll(() => t.server.db.figures().used, { timeout: 5_000 }).toBe(0)
    // The connection ends after it was released; an unhandled error event would end the process.
    await new Promise((resolve) => setTimeout(resolve, 300))
    expect(await t.server.db.query(sql`select 1 as n`)).toEqual([{ n: 1 }])
  })
})
