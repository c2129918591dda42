import { randomBytes } from 'node:crypto'
import { createGzip, gzipSync } from 'node:zlib'
import { sql } from '@portcullis/platform/server/db/sql.ts'
import { startTestApp, type TestApp } from '@portcullis/server/test/app.ts'
import { enrolAgent, fetchText, type HttpAnswer, type TestAgent } from '@portcullis/server/test/builders.ts'
import { requestDebugLog, uploadDebugLog } from '@portcullis/server/test/debug-logs.ts'
import { person } from '@portcullis/server/test/people.ts'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { agentPaths } from '#features/contract.ts'

let t: TestApp

beforeAll(async () => {
  t = await startTestApp({ listen: true })
})
afterAll(() => t.close())

const upload = (agent: TestAgent, id: string, body: Buffer, type?: string): Promise<HttpAnswer> =>
  uploadDebugLog(t, agent, id, body, type)
const asked = (agent: TestAgent): Promise<string> => requestDebugLog(t, agent)
const logged = async () => (await (await t.admin()).get('/prime/webui/agents/getloggedagents')).json()
const code = (answer: HttpAnswer): [number, string] => [answer.status, JSON.parse(answer.text).code]

describe('debug logs', () => {
  it('come from the requested host, and are downloaded unchanged', async () => {
    const agent = await enrolAgent(t, { facts: { hostname: 'log/../host"1' } })
    const id = await asked(agent)
    // Random bytes do not compress, so this log needs three rows of the database.
    const logs = gzipSync(randomBytes(2_500_000))
    expect((await upload(agent, id, logs)).status).toBe(200)
    await agent.checkIn({ acks: [{ commandId: id, outcome: 'confirmed', message: '' }] })
    expect(await logged()).toEqual([
      {
        uuid: agent.agentId,
        hostIdentifier: agent.facts.hostname,
        localIpAddress: '10.1.2.3',
        connectionStatus: 'Connected',
        logs: [{ id: expect.any(String), collectedAt: '2031-05-04T10:11:12.000Z', size: logs.length }],
      },
    ])
    const [log] = (await agent.detail()).debugLogs
    const file = await (await t.admin()).get(`/prime/webui/agents/agent/${agent.agentId}/debuglogs/${log?.id}`)
    expect([file.statusCode, file.headers['content-type'], file.headers['content-disposition']]).toEqual([
      200,
      'application/gzip',
      expect.stringContaining('attachment; filename="debug-logs-log_.._host_1-2031-05-04T101112Z.gz"'),
    ])
    expect(file.rawPayload.equals(logs)).toBe(true)
    // The first answer was lost, so the host retries.
    await requestDebugLog(t, agent)
    expect((await upload(agent, id, logs)).status).toBe(200)
    expect((await agent.detail()).debugLogs).toHaveLength(1)
  })

  it('are refused from hosts without a request', async () => {
    const [agent, stranger] = await Promise.all([enrolAgent(t), enrolAgent(t)])
    const logs = gzipSync('log')
    const id = await asked(agent)
    expect(code(await upload(stranger, id, logs))).toEqual([404, 'not_found'])
    for (const other of ['nothing', '..%2f..%2fetc', '01977f6e-6a4c-7c3e-8f2a-2d1c6b5a4e3f'])
      expect(code(await upload(agent, other, logs))).toEqual([404, 'not_found'])
    await (await t.admin()).post('/prime/webui/agents/deleteAgentsCommands', [agent.agentId])
    expect(code(await upload(agent, id, logs))).toEqual([404, 'not_found'])
    const anonymous = await fetchText(t, `${agentPaths.debugLogs}/${id}`, {
      method: 'POST',
      headers: { 'content-type': 'application/gzip' },
      body: new Uint8Array(logs),
    })
    expect(code(anonymous)).toEqual([401, 'agent_session_expired'])
    await (await t.admin()).post('/prime/webui/agents/deleteAgents', [agent.agentId])
    expect(code(await upload(agent, id, logs))).toEqual([403, 'agent_revoked'])
  })

  it('are refused and not stored if they are not gzip, truncated or too large', async () => {
    const agent = await enrolAgent(t)
    const id = await asked(agent)
    const sound = gzipSync(randomBytes(100_000))
    expect(code(await upload(agent, id, Buffer.from('plain text')))).toEqual([400, 'agent_report_invalid'])
    expect(code(await upload(agent, id, sound.subarray(0, 50_000)))).toEqual([400, 'agent_report_invalid'])
    expect(code(await upload(agent, id, Buffer.alloc(0)))).toEqual([415, 'unsupported_media_type'])
    expect(code(await upload(agent, id, sound, 'application/json'))).toEqual([415, 'unsupported_media_type'])
    const large = Buffer.concat([gzipSync(randomBytes(20 * 1024 * 1024))])
    expect(code(await upload(agent, id, large))).toEqual([413, 'payload_too_large'])
    const [left] = await t.db.query<{ n: number }>(sql`
      select (select count(*) from debug_logs where agent_id = ${agent.agentId}::uuid)
        + (select count(*) from debug_log_chunks c where not exists (select 1 from debug_logs l where l.log_id = c.log_id)) as n`)
    expect(left?.n).toBe(0)
    expect((await upload(agent, id, sound)).status).toBe(200)
  })

  it('are refused with constant memory if they unpack to more than 400 MiB', async () => {
    const agent = await enrolAgent(t)
    const id = await asked(agent)
    // 420 MiB of zeros compress to about 420 kB.
    const gzip = createGzip({ level: 9 })
    const parts: Buffer[] = []
    gzip.on('data', (part: Buffer) => parts.push(part))
    const zeros = Buffer.alloc(4 * 1024 * 1024)
    for (let n = 0; n < 105; n++) await new Promise((resolve) => gzip.write(zeros, resolve))
    await new Promise((resolve) => gzip.once('end', resolve).end())
    const bomb = Buffer.concat(parts)
    expect(bomb.length).toBeLessThan(1_000_000)
    const answer = await upload(agent, id, bomb)
    expect(code(answer)).toEqual([400, 'agent_report_invalid'])
    expect(answer.text).toContain('when unpacked')
    expect((await agent.detail()).debugLogs).toEqual([])
  })

  it('are limited to the five newest per host', async () => {
    const agent = await enrolAgent(t)
    for (let n = 0; n < 7; n++) {
      t.clock.advance(1_000)
      const id = await asked(agent)
      expect((await upload(agent, id, gzipSync(`log ${n} ${'x'.repeat(n)}`))).status).toBe(200)
      await agent.checkIn({ acks: [{ commandId: id, outcome: 'confirmed', message: '' }] })
    }
    const { debugLogs } = await agent.detail()
    expect(debugLogs).toHaveLength(5)
    expect(debugLogs.map((log) => log.collectedAt)).toEqual(
      debugLogs
        .map((log) => log.collectedAt)
        .toSorted()
        .toReversed(),
    )
  })

  it('can be read by Managers only, and not through another agent', async () => {
    const [agent, other] = await Promise.all([enrolAgent(t), enrolAgent(t)])
    const id = await asked(agent)
    await upload(agent, id, gzipSync('secret of a host'))
    const [log] = (await agent.detail()).debugLogs
    const user = await person(t, { profile: 30 })
    const manager = await person(t, { profile: 20 })
    const path = (uuid: string) => `/prime/webui/agents/agent/${uuid}/debuglogs/${log?.id}`
    expect((await user.api.get(path(agent.agentId))).statusCode).toBe(403)
    expect((await user.api.get('/prime/webui/agents/getloggedagents')).statusCode).toBe(403)
    expect((await manager.api.get(path(agent.agentId))).statusCode).toBe(200)
    expect((await manager.api.get(path(other.agentId))).statusCode).toBe(404)
    expect((await manager.api.get(`/prime/webui/agents/agent/${agent.agentId}/debuglogs/x`)).statusCode).toBe(404)
  })
})
