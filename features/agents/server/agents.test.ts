import { storageStick } from '@portcullis/domain/testing'
import { sql } from '@portcullis/platform/server/db/sql.ts'
import { startTestApp, type TestApp } from '@portcullis/server/test/app.ts'
import { enrolAgent, pageOf } from '@portcullis/server/test/builders.ts'
import { insertFleet } from '@portcullis/server/test/fleet.ts'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import type { AuditRecord } from '#features/contract.ts'

let t: TestApp

beforeAll(async () => {
  t = await startTestApp({ listen: true })
})
afterAll(() => t.close())

describe('removing many agents', () => {
  it('is one change: removes all, with one event each and every id in the audit trail', async () => {
    await enrolAgent(t, { devices: [storageStick()] })
    await insertFleet(t, 2_500)
    const ids = (await t.server.db.query<{ id: string }>(sql`select agent_id as id from agents`)).map((row) => row.id)
    const answer = await (await t.admin()).post('/prime/webui/agents/deleteAgents', [...ids, 'unknown'])
    expect([answer.statusCode, answer.json().accepted.length, answer.json().notFound]).toEqual([
      200,
      2_501,
      ['unknown'],
    ])
    t.clock.advance(1_000)
    expect(await pageOf(t, 'agents')).toEqual({ recordsTotal: 0, recordsFiltered: 0, data: [] })
    expect((await pageOf(t, 'peripherals')).recordsTotal).toBe(0)
    expect((await pageOf(t, 'events/getevents?globalSearch=Removed by')).recordsFiltered).toBe(2_501)
    const { data } = await pageOf<AuditRecord>(t, 'events/GetAuditsIntegration?PageSize=10000')
    const named = data
      .filter((a) => a.action === 'agent.removed')
      .flatMap((a) => a.details.replace('agent ', '').split(','))
    expect(named.sort()).toEqual(ids.sort())
  })
})

describe('the model of a host', () => {
  it('shows vendor and model in modelToolTip, and is empty if both are unknown', async () => {
    const known = await enrolAgent(t)
    const unknown = await enrolAgent(t, { facts: { vendor: '', model: '', chassis: '', sku: '' } })
    const half = await enrolAgent(t, { facts: { vendor: '', model: 'Model 2', chassis: '', sku: 'SKU' } })
    const { data } = await pageOf(t, 'agents?SortBy=modelToolTip_desc')
    expect(data.map((row) => [row.uuid, row.modelToolTip, row.pcModel])).toEqual([
      [half.agentId, 'Model 2', 'Model 2||||SKU'],
      [known.agentId, 'LENOVO 21CB', 'LENOVO 21CB||Notebook||LENOVO_MT_21CB'],
      [unknown.agentId, '', '||||'],
    ])
  })
})
