// Invariant: A stalled reader of an export waits in the database.

import { type IncomingMessage, request } from 'node:http'
import { sql } from '@portcullis/platform/server/db/sql.ts'
import { startTestApp, type TestApp } from '@portcullis/server/test/app.ts'
import { insertFleet } from '@portcullis/server/test/fleet.ts'
import { person } from '@portcullis/server/test/people.ts'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import {
  agentExportFile,
  exportAgentCsv,
  exportAgentPdf,
  peripheralsAggExport,
  peripheralsAggExportPdf,
} from '#features/contract.ts'

/** About 25 MB of CSV: more than the sockets in between hold. */
const fleet = 50_000
let t: TestApp
let authorization: string

beforeAll(async () => {
  t = await startTestApp({ listen: true })
  await insertFleet(t, fleet)
  t.clock.advance(2_000)
  authorization = `Bearer ${await t.signIn()}`
})
afterAll(() => t.close())

const start = (): Promise<IncomingMessage> =>
  new Promise((resolve, reject) => {
    const sent = request(t.address + agentExportFile.path, { headers: { authorization } }, resolve)
    sent.on('error', reject)
    sent.end()
  })

/** Returns the wait events of the exports' COPY statements; `running` if one computes. */
const copies = (): Promise<string[]> =>
  t.server.db
    .query<{ wait: string }>(
      sql`select coalesce(a.wait_event, 'running') as wait from pg_stat_activity a
          where a.datname = current_database() and a.state = 'active' and a.query like 'COPY (%'`,
    )
    .then((rows) => rows.map((row) => row.wait))

describe('an export', () => {
  it('is available to every profile, but not without a token', async () => {
    const user = await person(t, { profile: 30 })
    const paths = [exportAgentCsv, exportAgentPdf, peripheralsAggExport, peripheralsAggExportPdf].map((o) => o.path)
    for (const path of paths) {
      expect((await user.api.post(path, { vid: 'none', uuid: 'none' })).statusCode, path).toBe(400)
      expect((await user.api.post(path, { globalSearch: 'nobody has this name' })).statusCode, path).toBe(200)
      expect((await t.as(undefined).post(path)).statusCode, path).toBe(401)
    }
    expect((await t.as(undefined).get(agentExportFile.path)).statusCode).toBe(401)
  })

  it('whose reader stalls waits in the database, and ends there when the reader leaves', async () => {
    const response = await start()
    await expect.poll(copies, { timeout: 20_000 }).toEqual(['ClientWrite'])
    response.destroy()
    await expect.poll(copies, { timeout: 20_000 }).toEqual([])
  })

  it('continues for a slow reader without loss', async () => {
    const response = await start()
    await expect.poll(copies, { timeout: 20_000 }).toEqual(['ClientWrite'])
    let bytes = 0
    for await (const chunk of response) bytes += (chunk as Buffer).length
    const whole = await (await t.admin()).get(agentExportFile.path)
    expect(bytes).toBe(whole.rawPayload.length)
    expect(response.complete).toBe(true)
  })

  it('is a snapshot, whatever changes while it is read', async () => {
    const response = await start()
    await expect.poll(copies, { timeout: 20_000 }).toEqual(['ClientWrite'])
    await t.server.db.execute(sql`update agents set version = 'changed while it was read'`)
    let text = ''
    for await (const chunk of response) text += (chunk as Buffer).toString('latin1')
    expect(text).toContain('9.9.9')
    expect(text).not.toContain('changed while')
  })

  it('uses up no connection if it is aborted repeatedly', async () => {
    // Their pool has four connections.
    for (let n = 0; n < 10; n++) (await start()).destroy()
    const answer = await t.as(await t.signIn()).post(exportAgentCsv.path, { globalSearch: 'nobody has this name' })
    expect(answer.statusCode).toBe(200)
    expect(answer.body.split('\r\n')).toHaveLength(2)
  })
})
