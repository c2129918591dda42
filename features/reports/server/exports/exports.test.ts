import { storageStick } from '@portcullis/domain/testing'
import { defuse } from '@portcullis/platform/server/csv.ts'
import { sql } from '@portcullis/platform/server/db/sql.ts'
import { startTestApp, type TestApp } from '@portcullis/server/test/app.ts'
import { enrolAgent, pageOf } from '@portcullis/server/test/builders.ts'
import { allCsvRecords } from '@portcullis/server/test/csv.ts'
import { awkwardNames, insertFleet } from '@portcullis/server/test/fleet.ts'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import type { Agent, PeripheralModel } from '#features/contract.ts'

const base = '/prime/webui/agents'
const fleet = 3_000
let t: TestApp

beforeAll(async () => {
  t = await startTestApp({ listen: true })
  await enrolAgent(t, { devices: [storageStick()] })
  await insertFleet(t, fleet)
  t.clock.advance(2_000)
})
afterAll(() => t.close())

/** Returns the rows of a CSV response by column. */
const csvOf = async (path: string, body?: unknown): Promise<Record<string, string>[]> => {
  const admin = await t.admin()
  const answer = body === undefined ? await admin.get(`${base}/${path}`) : await admin.post(`${base}/${path}`, body)
  expect(answer.statusCode, answer.body.slice(0, 500)).toBe(200)
  const [head = [], ...rows] = (await allCsvRecords(answer.rawPayload)).map((record) => {
    if ('fault' in record) throw new Error(`line ${record.line}: ${record.fault}`)
    return record.cells
  })
  return rows.map((cells) => Object.fromEntries(head.map((key, i) => [key, cells[i] ?? ''])))
}

/** Returns a row of the list in the form of the file. */
const asCells = (row: object): Record<string, string> =>
  Object.fromEntries(
    Object.entries(row).map(([key, value]) => {
      const text = value === null ? '' : String(value)
      return [key, typeof value === 'string' ? defuse(text) : text]
    }),
  )

const agents = async (query = ''): Promise<Agent[]> => (await pageOf(t, `agents?PageSize=1000000${query}`)).data

describe('the agents list as CSV', () => {
  it('has every row and key of the list, in its order, with defused cells', async () => {
    const expected = await agents()
    expect(expected).toHaveLength(fleet + 1)
    expect(await csvOf('AgentExportFile')).toEqual(expected.map(asCells))
    const formula = expected.find((agent) => agent.hostIdentifier.startsWith('=1+1'))
    expect(asCells(formula!).hostIdentifier).toMatch(/^'=1\+1/)
    for (const name of awkwardNames)
      expect(
        expected.some((agent) => agent.hostIdentifier.startsWith(name)),
        JSON.stringify(name),
      ).toBe(true)
  })

  it('prefixes only formulas with an apostrophe', async () => {
    const runs = ['=1+1', '+1', '-1', '@sum(1)', '＝1', '＋1', '－1', '＠1', "'=1", "''+1"]
    const inside = ['x;', 'x|"', 'x, ', 'x\t', 'x\r', 'x\n', '\t', '"', ' "', 'é;\u00a0', `${'long '.repeat(12_000)};`]
    const harmless = ['a=1', "'a", "''", '1-1', 'a\tb', 'ｔ=1', 'Logitech, Inc.; 1-2, a=b', '"a";"b"']
    const hosts = [...runs, ...inside.map((before) => `${before}=1`), ...harmless]
    const some = (await agents()).slice(0, hosts.length).map(({ uuid }) => uuid)
    const before = await t.db.query<{ uuid: string; host: string }>(
      sql`select a.agent_id as uuid, a.host from agents a where a.agent_id = any(${some}::uuid[])`,
    )
    const name = (uuids: readonly string[], names: readonly string[]) =>
      t.db.execute(sql`update agents a set host = u.host
        from unnest(${uuids}::uuid[], ${names}::text[]) u(agent_id, host) where a.agent_id = u.agent_id`)
    await name(some, hosts)
    try {
      const rows = await csvOf('exportagentcsv', { columns: ['uuid', 'hostIdentifier'] })
      const cells = some.map((uuid) => rows.find((row) => row.uuid === uuid)?.hostIdentifier)
      expect(cells).toEqual([...runs.map((text) => `'${text}`), ...inside.map((before) => `${before}'=1`), ...harmless])
    } finally {
      await name(
        before.map((row) => row.uuid),
        before.map((row) => row.host),
      )
    }
  })

  it('is RFC 4180 with a byte order mark, and its name has the time', async () => {
    const answer = await (await t.admin()).post(`${base}/exportagentcsv`, { columns: ['HOSTIDENTIFIER', 'severity'] })
    expect(answer.headers['content-type']).toBe('text/csv; charset=utf-8')
    const name = `agents-${new Date(t.clock.now()).toISOString().slice(0, 19).replaceAll(':', '')}Z.csv`
    expect(answer.headers['content-disposition']).toBe(`attachment; filename="${name}"; filename*=UTF-8''${name}`)
    expect(answer.body.startsWith('\ufeffhostIdentifier,severity\r\n')).toBe(true)
    expect(answer.body.endsWith('\r\n')).toBe(true)
    // Outside of quotes every row ends with CRLF; a line feed inside a name stays unchanged.
    expect(answer.body.replace(/"(?:[^"]|"")*"/g, 'q').replaceAll('\r\n', '')).not.toMatch(/[\r\n]/)
    expect(answer.body).toContain('"line\nfeed ')
    expect(answer.body).toContain('"quote""d ')
  })

  it.each([
    [{}, ''],
    [null, ''],
    [{ hostIdentifier: '100%_', status: null, version: '' }, '&HostIdentifier=100%25_'],
    [{ Status: 'connected', sortBy: '-hostIdentifier' }, '&Status=Connected&SortBy=-hostIdentifier'],
    [{ severity: 30, hasKnownAttackTools: false }, '&Severity=30&HasKnownAttackTools=false'],
    [{ severity: '>=40', globalSearch: '10.0.1' }, '&Severity=%3E%3D40&GlobalSearch=10.0.1'],
    [{ osVersion: 'fleet', sortBy: 'lastUpdated_desc' }, '&OsVersion=fleet&SortBy=lastUpdated_desc'],
    [{ hostIdentifier: "'); drop table" }, `&HostIdentifier=${encodeURIComponent("'); drop table")}`],
    [{ uuid: 'no such' }, '&Uuid=no%20such'],
  ])('%j returns the rows of the list in their order', async (body, query) => {
    expect(await csvOf('exportagentcsv', body)).toEqual((await agents(query)).map(asCells))
  })

  it('finds tags in any spelling', async () => {
    const hashtags = ['a "quoted" tag', 'back\\slash', '{braces}']
    const some = (await agents()).slice(0, hashtags.length).map(({ uuid }) => uuid)
    for (const [i, tag] of hashtags.entries()) {
      const body = { hashtags: [tag], elementIds: [some[i]], entityType: 'Agent' }
      expect((await (await t.admin()).post('/prime/webui/generalconfig/addhashtags', body)).statusCode).toBe(200)
      const rows = await csvOf('exportagentcsv', { columns: ['uuid'], hashtags: tag })
      expect(rows).toEqual([{ uuid: some[i] }])
    }
  })

  it.each([
    'agents/exportagentcsv',
    'agents/agentless/exportagentlesscsv',
    'agents/agentless/exportcsvconnections',
    'agents/peripheralsAggExport',
    'peripherals/exportperipheralscsv',
    'events/exporteventscsv',
  ])('has every row although the body has paging parameters: %s', async (path) => {
    const whole = await (await t.admin()).post(`/prime/webui/${path}`, {})
    expect(whole.statusCode).toBe(200)
    for (const paging of [
      { PageSize: 1, PageNumber: 2 },
      { pageSize: '1', pageNumber: null },
    ]) {
      const answer = await (await t.admin()).post(`/prime/webui/${path}`, paging)
      expect([answer.statusCode, answer.body]).toEqual([200, whole.body])
    }
  })

  it('has the requested columns in the requested order', async () => {
    const rows = await csvOf('exportagentcsv', { columns: ['severity', 'ipAddress', 'inAction'], severity: 50 })
    expect(rows.length).toBeGreaterThan(100)
    expect(Object.keys(rows[0]!)).toEqual(['severity', 'localIpAddress', 'inAction'])
    expect(rows[0]).toMatchObject({ severity: '50', inAction: 'false' })
  })

  it.each([
    [{ hostIdentifer: 'x' }, 'body.hostIdentifer', 'did you mean hostIdentifier?'],
    [{ columns: ['hostIdentifier', 'sevirity'] }, 'body.columns[1]', 'did you mean severity?'],
    [{ columns: ['uuid', 'UUID'] }, 'body.columns[1]', 'more than once'],
    [{ columns: 'uuid' }, 'body.columns', 'array'],
    [{ sortBy: 'nothing_asc' }, 'body.sortBy', 'must be one of hostIdentifier'],
    [{ status: 'Sleeping' }, 'body.status', 'Armed'],
    [{ lastUpdated: 'yesterday' }, 'body.lastUpdated', 'must be a time'],
    [{ pageSizes: 10 }, 'body.pageSizes', 'is unknown'],
    [{ pageSize: [10] }, 'body.pageSize', 'must'],
    [[], 'body', 'object'],
  ])('rejects %j and names the member', async (body, field, message) => {
    const answer = await (await t.admin()).post(`${base}/exportagentcsv`, body)
    expect(answer.statusCode, answer.body).toBe(400)
    expect(answer.json().errors[0]).toMatchObject({ field, message: expect.stringContaining(message) })
  })
})

describe('peripherals by model as CSV', () => {
  it('has the rows of the models list with the number of approved devices', async () => {
    const { data } = await pageOf<PeripheralModel>(t, 'peripherals/models?PageSize=1000&SortBy=vid')
    const rows = await csvOf('peripheralsAggExport', { sortBy: 'vid' })
    expect(rows.map(({ approvedCount: _, ...row }) => row)).toEqual(data.map(asCells))
    expect(rows.map(({ peripheralsCount, approvedCount }) => [peripheralsCount, approvedCount])).toEqual([['1', '1']])
    expect(await csvOf('peripheralsAggExport', { vendor: 'nobody' })).toEqual([])
  })
})
