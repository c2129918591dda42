// Invariant: A change and its audit record commit together.

import { createHash } from 'node:crypto'
import { readdirSync, readFileSync } from 'node:fs'
import { join } from 'node:path'
import { mustExist } from '@portcullis/domain'
import { sql } from '@portcullis/platform/server/db/sql.ts'
import { startTestApp, type TestApp } from '@portcullis/server/test/app.ts'
import { pageOf } from '@portcullis/server/test/builders.ts'
import { type Person, person } from '@portcullis/server/test/people.ts'
import fc from 'fast-check'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import type { AuditRecord } from '#features/contract.ts'

let t: TestApp
let manager: Person
let user: Person

beforeAll(async () => {
  t = await startTestApp()
  manager = await person(t, { profile: 20 })
  user = await person(t)
})
afterAll(() => t.close())

const audits = async (query = ''): Promise<AuditRecord[]> =>
  (await pageOf<AuditRecord>(t, `events/GetAuditsIntegration?PageSize=10000${query}`)).data

/** Makes a change that is recorded. */
const change = async (name: string): Promise<number> =>
  (await (await t.admin()).post('/prime/webui/agents/enrollmenttokens', { name })).statusCode

const rows = () =>
  t.server.db.query<{ audit_id: number; record: string; hash: Buffer }>(
    sql`select a.audit_id, a.record, a.hash from audit_records a order by a.audit_id`,
  )

describe('the audit trail', () => {
  it('shows the actor, action and address of each change, newest first', async () => {
    await change('for the record')
    const [newest] = await audits()
    expect(newest).toMatchObject({
      creationTime: '2031-05-04T10:11:12.000',
      userName: 'admin',
      action: 'enrolment_token.created',
      severity: 5,
      severityString: 'Notice',
      entity: 'for the record',
      sourceIp: '127.0.0.1',
      outcome: 'success',
    })
    const ids = (await audits()).map((a) => a.auditTrailID)
    expect(ids).toEqual(ids.toSorted((a, b) => b - a))
  })

  it('gives the same answer at the path of newer SIEM connectors, with their parameters', async () => {
    await change('for the newer connector')
    const read = async (path: string) => (await (await t.admin()).get(`/prime/webui/${path}`)).json()
    const [start] = await audits()
    for (const query of ['PageSize=3', `PageSize=2&FromAuditTrailId=${start?.auditTrailID}`, 'FromDate=2031-05-04']) {
      const expected = await read(`events/GetAuditsIntegration?${query}`)
      expect(expected.data.length).toBeGreaterThan(0)
      expect(await read(`Events/GetAuditTrails?${query}`)).toEqual(expected)
      expect(await read(`Events/GetAuditTrails?${query}&PageNumber=1`)).toEqual(expected)
      expect(await read(`events/GetAuditsIntegration?${query}&PageNumber=7`)).toEqual(expected)
    }
    expect((await user.api.get('/prime/webui/Events/GetAuditTrails')).statusCode).toBe(403)
  })

  it('is for Managers and above', async () => {
    const url = '/prime/webui/events/GetAuditsIntegration'
    expect((await manager.api.get(url)).statusCode).toBe(200)
    expect((await user.api.get(url)).json()).toMatchObject({
      status: 403,
      detail: 'This operation requires the profile Manager.',
    })
    expect((await t.as(undefined).get(url)).statusCode).toBe(401)
  })

  it('is read exactly once by a polling client, whatever its page size', async () => {
    for (let i = 0; i < 12; i++) await change(`follow ${i}`)
    const all = (await audits()).map((a) => a.auditTrailID).toReversed()
    await fc.assert(
      fc.asyncProperty(fc.integer({ min: 1, max: 30 }), async (size) => {
        const seen: number[] = []
        for (let next = 0; ; ) {
          const { data } = await pageOf<AuditRecord>(
            t,
            `events/GetAuditsIntegration?PageSize=${size}&FromAuditTrailId=${next}`,
          )
          if (data.length === 0) break
          seen.push(...data.map((a) => a.auditTrailID).toReversed())
          next = (data[0]?.auditTrailID ?? 0) + 1
        }
        expect(seen).toEqual(all)
      }),
      { numRuns: 10 },
    )
  })

  it('has no gaps after simultaneous writes', async () => {
    expect(await Promise.all(Array.from({ length: 20 }, (_, i) => change(`at once ${i}`)))).toEqual(Array(20).fill(200))
    const ids = (await rows()).map((row) => row.audit_id)
    expect(ids).toEqual(ids.map((_, i) => i + 1))
  })

  it('is a chain: each hash covers the previous hash, the number and the record', async () => {
    let hash: Buffer = Buffer.alloc(32)
    for (const row of await rows()) {
      hash = createHash('sha256').update(hash).update(`${row.audit_id}\n${row.record}`).digest()
      expect(row.hash.equals(hash), `record ${row.audit_id}`).toBe(true)
    }
  })

  it('cannot be changed, deleted or emptied by the server', async () => {
    for (const statement of [
      sql`update audit_records set actor = 'nobody' where audit_id = 1`,
      sql`delete from audit_records where audit_id = 1`,
      sql`truncate audit_records`,
    ])
      await expect(t.server.db.execute(statement)).rejects.toThrow(/append-only/)
  })

  it('is never deleted: no statement of the product removes a record', () => {
    const root = new URL('../../..', import.meta.url).pathname
    const statement =
      /(update|delete\s+from|truncate(\s+table)?|drop\s+table(\s+if\s+exists)?)\s+audit_(records|checkpoints)\b/i
    const own = ['features', 'platform/server', 'server/src', 'server/migrations'].flatMap((folder) =>
      readdirSync(join(root, folder), { recursive: true, encoding: 'utf8' })
        .filter((name) => /\.(ts|sql)$/.test(name) && !name.endsWith('.test.ts'))
        .map((name) => join(root, folder, name)),
    )
    expect(own.length).toBeGreaterThan(300)
    expect(own.filter((file) => statement.test(readFileSync(file, 'utf8')))).toEqual([])
    expect(statement.test('delete from audit_records r where r.created_at < now()')).toBe(true)
  })

  it('rolls back a change that it cannot record', async () => {
    const tokens = async () => (await (await t.admin()).get('/prime/webui/agents/enrollmenttokens')).json().data.length
    const before = await tokens()
    await t.server.db.execute(
      sql`alter table audit_records add constraint closed check (action <> 'enrolment_token.created') not valid`,
    )
    try {
      expect(await change('without a record')).toBe(500)
    } finally {
      await t.server.db.execute(sql`alter table audit_records drop constraint closed`)
    }
    expect(await tokens()).toBe(before)
    expect(await change('with a record')).toBe(200)
  })

  it.each(['FromAuditTrailId=-1', 'FromDate=x', 'MinimumSeverity=loud', 'PageNumbers=1', 'PageSize=0'])(
    'refuses %s',
    async (query) => {
      expect((await manager.api.get(`/prime/webui/events/GetAuditsIntegration?${query}`)).statusCode).toBe(400)
    },
  )

  it('is filtered by severity and date', async () => {
    expect(await audits('&MinimumSeverity=Emergency')).toEqual([])
    expect((await audits('&MinimumSeverity=Debug')).length).toBe((await rows()).length)
    expect(await audits('&FromDate=2031-05-05')).toEqual([])
    expect((await audits('&FromDate=2031-05-04')).length).toBe((await rows()).length)
  })

  it('reaches connectors and exports completely, even if somebody removes records from the index of searches', async () => {
    await change('to be hidden')
    const hidden = mustExist((await audits())[0], 'the newest record').auditTrailID
    await t.server.db.withClient((client) =>
      client.query(
        `alter table audit_index disable trigger user; delete from audit_index where audit_id = ${hidden}; alter table audit_index enable trigger user`,
      ),
    )
    for (const query of ['', `&FromAuditTrailId=${hidden}`, '&FromDate=2031-05-04', '&MinimumSeverity=Debug'])
      expect((await audits(query)).map((a) => a.auditTrailID)).toContain(hidden)
    for (const range of [{}, { filter: { time: '2031-05-04..' } }, { sortBy: 'outcome_asc' }]) {
      const file = await (await t.admin()).post('/prime/webui/reports/export', {
        list: 'audit',
        format: 'csv',
        ...range,
      })
      expect(file.body).toContain('to be hidden')
    }
  })
})
