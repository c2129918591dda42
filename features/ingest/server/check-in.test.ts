// Invariant: The server answers a check-in after COMMIT, and applies it once however often it is sent.

import { randomUUID } from 'node:crypto'
import { setTimeout as pause } from 'node:timers/promises'
import {
  hub,
  plainKeyboard,
  plainMouse,
  rubberDucky,
  storageStick,
  unifyingReceiver1207,
} from '@portcullis/domain/testing'
import { sql } from '@portcullis/platform/server/db/sql.ts'
import { startTestApp, type TestApp } from '@portcullis/server/test/app.ts'
import {
  agentPost,
  enrolAgent,
  enrolmentToken,
  fetchText,
  pageOf,
  Refused,
  type TestAgent,
} from '@portcullis/server/test/builders.ts'
import { person } from '@portcullis/server/test/people.ts'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { WebSocket } from 'ws'
import { agentPaths, type CheckInRequest } from '#features/contract.ts'

let t: TestApp

beforeAll(async () => {
  t = await startTestApp({ listen: true })
})
afterAll(() => t.close())

const json = (answer: { text: string }) => JSON.parse(answer.text)
const refusal = async (work: Promise<unknown>): Promise<[number, string]> => {
  const error = await work.then(
    () => null,
    (e: unknown) => e,
  )
  if (!(error instanceof Refused)) throw error ?? new Error('was not refused')
  return [error.status, error.problem.code]
}
const codesOf = async (agent: TestAgent): Promise<string[]> => (await agent.events()).map((e) => e.eventCode)
const remove = async (...ids: string[]) => {
  const answer = await (await t.admin()).post('/prime/webui/agents/deleteAgents', ids)
  expect([answer.statusCode, answer.json().accepted]).toEqual([200, ids])
}
const until = async (what: string, condition: () => boolean | Promise<boolean>): Promise<void> => {
  const deadline = performance.now() + 20_000
  while (!(await condition())) {
    if (performance.now() > deadline) throw new Error(`not within 20 s: ${what}`)
    await pause(10)
  }
}

describe('a check-in', () => {
  it('shows the host and its devices, and answers only with the time of the next check-in', async () => {
    const agent = await enrolAgent(t, { devices: [plainKeyboard(), storageStick({ portPath: '1-2' })] })
    expect(await agent.checkIn()).toEqual({ nextCheckInSeconds: 60 })
    const detail = await agent.detail()
    expect(detail).toMatchObject({
      hostIdentifier: agent.facts.hostname,
      localIpAddress: '10.1.2.3',
      connectionStatus: 'Connected',
      approvedAndPresent: 2,
      approvedAndDisconnected: 0,
      serviceVersion: '1.0.0',
      pcModel: 'LENOVO 21CB||Notebook||LENOVO_MT_21CB',
      nicsText: '02:00:00:00:00:01||||eth0',
      lastUpdated: '2031-05-04T10:11:12.000',
    })
    expect(detail.peripherals.map((p) => p.deviceID).sort()).toEqual([
      'USB\\VID_0781&PID_5581\\4C530001230615112345',
      'USB\\VID_413C&PID_2113\\1-1',
    ])
  })

  it('is applied once, however often it is sent, with the same answer', async () => {
    const agent = await enrolAgent(t)
    agent.devices.set('1-1', plainKeyboard())
    const request = agent.body({ changes: [{ op: 'attached', at: 1, device: plainKeyboard() }] })
    const first = await agent.post(request)
    const again = await Promise.all([agent.post(request), agent.post(request), agent.post(request)])
    for (const answer of again) expect([answer.status, answer.text]).toEqual([first.status, first.text])
    expect(await codesOf(agent)).toEqual(['0x120002', '0x120001', '0x110001'])
    expect(await agent.checkIn()).toEqual({ nextCheckInSeconds: 60 })
  })

  it('with a repeated seq counts once, whatever its content', async () => {
    const agent = await enrolAgent(t)
    const error = { at: 5, code: 'disk_full', message: 'the disk is full' }
    const request = agent.body({
      changes: [
        { op: 'attached', at: 1, device: plainMouse() },
        { op: 'removed', at: 2, portPath: '1-1' },
      ],
      errors: [error],
    })
    expect((await agent.post(request)).status).toBe(200)
    const once = await codesOf(agent)
    expect(once).toEqual(['0x120002', '0x120001', '0x110001', '0x110003', expect.stringMatching(/^0x/)])
    expect((await agent.post(request)).status).toBe(200)
    expect((await agent.post({ ...request, errors: [error, { ...error, message: 'and another' }] })).status).toBe(200)
    const other = { ...request, changes: [{ op: 'attached' as const, at: 3, device: plainKeyboard() }] }
    expect((await agent.post(other)).status).toBe(200)
    expect((await agent.post({ ...other, seq: request.seq - 1 })).status).toBe(200)
    expect(await codesOf(agent)).toEqual(once)
    expect((await agent.peripherals()).map((p) => p.status)).toEqual(['Gone'])
    expect((await agent.post({ ...other, seq: request.seq + 1 })).status).toBe(200)
    expect(await codesOf(agent)).not.toEqual(once)
  })

  it('changes nothing if it arrives late', async () => {
    const agent = await enrolAgent(t)
    const plugged = agent.body({ changes: [{ op: 'attached', at: 1, device: plainMouse() }] })
    const unplugged = agent.body({ changes: [{ op: 'removed', at: 2, portPath: '1-1' }] })
    expect((await agent.post(plugged)).status).toBe(200)
    expect((await agent.post(unplugged)).status).toBe(200)
    expect((await agent.post(plugged)).status).toBe(200)
    expect((await agent.peripherals()).map((p) => p.status)).toEqual(['Gone'])
    expect(await codesOf(agent)).toEqual(['0x120002', '0x120001', '0x110001', '0x110003'])
  })

  it('is replaced by a requested inventory if it was lost', async () => {
    const agent = await enrolAgent(t, { devices: [plainKeyboard()] })
    agent.devices.set('1-2', storageStick({ portPath: '1-2' }))
    agent.body() // is lost
    expect(await agent.checkIn()).toEqual({ nextCheckInSeconds: 60, needInventory: true })
    expect(await agent.inventory()).toEqual({ nextCheckInSeconds: 60 })
    expect((await agent.peripherals()).map((p) => p.vid)).toEqual(['0781', '413C'])
    expect((await codesOf(agent)).filter((code) => code === '0x110001')).toHaveLength(1)
  })

  it('asks for facts that differ and shows the new ones', async () => {
    const agent = await enrolAgent(t)
    const facts = { ...agent.facts, address: '10.9.9.9' }
    expect(await agent.checkIn({ factsHash: 'f'.repeat(32) })).toEqual({ nextCheckInSeconds: 60, needFacts: true })
    expect(await agent.checkIn({ facts })).toEqual({ nextCheckInSeconds: 60 })
    expect((await agent.detail()).localIpAddress).toBe('10.9.9.9')
  })

  it('records the clock skew of the host', async () => {
    const agent = await enrolAgent(t)
    await agent.checkIn({ clock: t.clock.now() - 3_600_000 })
    expect((await agent.detail()).clockSkewSeconds).toBe(-3600)
    await agent.checkIn({ clock: Number.MAX_SAFE_INTEGER })
    expect((await agent.detail()).clockSkewSeconds).toBe(2_147_483_647)
  })

  it('stores when a change happened, although the host clock is wrong and the check-in waited', async () => {
    const hour = 3_600_000
    const agent = await enrolAgent(t)
    agent.devices.set('1-1', storageStick())
    // The clock is five hours ahead. The change happened 61 hours ago, and the check-in was formed an hour later.
    const happened = t.clock.now() - 61 * hour
    const skew = 5 * hour
    const changes = [{ op: 'attached' as const, at: happened + skew, device: storageStick() }]
    const body = agent.body({ changes, clock: happened + hour + skew })
    const headers = { 'portcullis-age': String(60 * hour) }
    expect((await agent.post(body, agent.state.session, headers)).status).toBe(200)
    const [event] = (await agent.events()).filter(({ eventCode }) => eventCode === '0x110001')
    expect(event).toMatchObject({
      creationTime: new Date(t.clock.now()).toISOString().slice(0, -1),
      occurredAt: new Date(happened).toISOString().slice(0, -1),
      occurredUncertaintyMs: 1_000,
    })
    expect((await agent.detail()).clockSkewSeconds).toBe(skew / 1_000)
  })

  it('stores the time of receipt for an impossible host time', async () => {
    const agent = await enrolAgent(t)
    agent.devices.set('1-1', storageStick())
    await agent.checkIn({ changes: [{ op: 'attached', at: t.clock.now() + 1, device: storageStick() }] })
    const [event] = (await agent.events()).filter(({ eventCode }) => eventCode === '0x110001')
    expect(event?.occurredAt).toBe(event?.creationTime)
    expect(event?.occurredUncertaintyMs).toBeNull()
  })

  it('marks a disconnected host as connected again', async () => {
    const agent = await enrolAgent(t)
    t.clock.advance(181_000)
    await t.server.ingest.sweep()
    expect((await agent.detail()).displayStatusCombined).toBe('Disconnected')
    await agent.session()
    await agent.checkIn()
    expect((await agent.detail()).displayStatusCombined).toBe('Free')
  })
})

describe('events', () => {
  it('contain one inventory and the findings for a new host, and later each attachment', async () => {
    const agent = await enrolAgent(t, {
      facts: { hostname: 'lab-7', address: '10.0.0.7' },
      devices: [plainKeyboard(), rubberDucky({ portPath: '1-2' }), unifyingReceiver1207({ portPath: '1-3' })],
    })
    await agent.unplug('1-2')
    await agent.plug(storageStick({ portPath: '1-4' }))
    const events = await agent.events()
    expect(events.map((e) => [e.eventCode, e.severityString, e.category, e.peripheralIcon, e.description])).toEqual([
      ['0x120002', 'Notice', 'Agent', '-1', 'Agent enrolled'],
      ['0x120001', 'Notice', 'Agent', '-1', 'Inventory received'],
      ['0x110010', 'Critical', 'USB', '1', 'Known attack tool detected'],
      ['0x110012', 'Warning', 'USB', '1', 'Vulnerable USB peripheral detected'],
      ['0x110003', 'Notice', 'USB', '1', 'USB peripheral disconnected'],
      ['0x110001', 'Notice', 'USB', '3', 'New USB peripheral detected'],
    ])
    expect(new Set(events.map((e) => e.eventEntityID))).toEqual(new Set(['lab-7 (10.0.0.7)']))
    expect(events.at(-1)?.details).toMatch(
      /^\[Agent\] Device VID\/PID are 0781\/5581 SN 4C530001230615112345 {2}\(SanDisk.* .+\)$/,
    )
    expect(events[3]?.details).toMatch(/^\[Agent\] Vulnerable Device VID\/PID are 046D\/C52B {2}\(/)
    const detail = await agent.detail()
    expect(detail.latestEventText).toBe(`2031-05-04 10:14:13 New USB peripheral detected: ${events.at(-1)?.details}`)
    expect(detail.recentEvents.map((e) => e.eventID)).toEqual(events.map((e) => e.eventID).toReversed())
  })

  it('count the repetitions that the agent merged, and name the port whose changes it dropped', async () => {
    const agent = await enrolAgent(t)
    const now = t.clock.now()
    const device = storageStick({ portPath: '1-4' })
    agent.devices.set('1-4', device)
    await agent.checkIn({
      clock: now,
      changes: [
        { op: 'attached', at: now - 3_600_000, device, repeated: { count: 9_983, at: now - 60_000 } },
        { op: 'dropped', at: now - 7_200_000, portPath: '1-5', repeated: { count: 1_999, at: now - 30_000 } },
        { op: 'dropped', at: now - 20_000, portPath: '1-6' },
      ],
    })
    const time = (at: number) => `${new Date(at).toISOString().slice(0, 19)}Z`
    const events = (await agent.events()).slice(-3)
    expect(events.map((e) => [e.eventCode, e.severityString, e.details.replace(/^.*\)/, '')])).toEqual([
      ['0x110001', 'Notice', `: attached 9,983 more times, last at ${time(now - 60_000)}`],
      ['0x110017', 'Error', `Port 1-5: 2,000 changes between ${time(now - 7_200_000)} and ${time(now - 30_000)}`],
      ['0x110017', 'Error', `Port 1-6: 1 change between ${time(now - 20_000)} and ${time(now - 20_000)}`],
    ])
    const [{ n } = { n: 0 }] = await t.db.query<{ n: number }>(
      sql`select sum(d.n)::int as n from attachment_days d where d.agent_id = ${agent.agentId}`,
    )
    expect(n).toBe(9_984)
  })

  it('have ids without gaps when many hosts report at once', async () => {
    const before = (await pageOf<{ eventID: number }>(t, 'events/getevents?PageSize=1')).data[0]?.eventID ?? 0
    const agents = await Promise.all(Array.from({ length: 20 }, () => enrolAgent(t)))
    await Promise.all(agents.map((agent, i) => agent.plug(storageStick({ serial: `many-${i}` }))))
    const { data } = await pageOf<{ eventID: number }>(t, `events/getevents?PageSize=1000&fromEventId=${before + 1}`)
    expect(data.map((e) => e.eventID)).toEqual(Array.from({ length: 60 }, (_, i) => before + 60 - i))
  })

  it('contain errors of an agent', async () => {
    const agent = await enrolAgent(t)
    await agent.checkIn({ errors: [{ at: 1, code: 'sysfs_unreadable', message: 'EACCES\u202e on 1-1' }] })
    expect((await agent.events()).at(-1)).toMatchObject({
      eventCode: '0x120011',
      severityString: 'Error',
      details: 'EACCES on 1-1',
    })
  })
})

describe('sessions', () => {
  it('of an earlier boot are superseded by a restart, and the counter restarts', async () => {
    const agent = await enrolAgent(t, { devices: [plainKeyboard()] })
    const old = { bootId: agent.state.bootId, session: agent.state.session }
    await agent.session(true)
    expect(agent.state.seq).toBe(0)
    expect(await refusal(agent.checkIn({}).then(() => oldBeat(agent, old)))).toEqual([409, 'agent_session_superseded'])
    expect((await codesOf(agent)).includes('0x120010')).toBe(false)
  })

  it('reveal a copied key: an earlier boot that returns raises an event, and both are served in turn', async () => {
    const agent = await enrolAgent(t)
    const first = agent.state.bootId
    await agent.session(true)
    const back = await agent.openSession(first)
    expect(back.nextSeq).toBe(2)
    const events = await agent.events()
    expect(events.at(-1)).toMatchObject({ eventCode: '0x120010', severityString: 'Critical', category: 'Agent' })
    expect(events.at(-1)?.details).toContain('127.0.0.1')
  })

  it('need the key, a fresh nonce and a current token', async () => {
    const agent = await enrolAgent(t)
    const body = {
      agentId: agent.agentId,
      bootId: agent.state.bootId,
      timestamp: 1,
      nonce: 'n'.repeat(24),
      signature: 'AAAA',
    }
    expect(json(await agentPost(t, agentPaths.session, body)).code).toBe('agent_unknown')
    expect(json(await agentPost(t, agentPaths.session, { ...body, agentId: randomUUID() })).code).toBe('agent_unknown')
    expect(json(await agentPost(t, agentPaths.session, { ...body, agentId: "' or 1=1 --" })).code).toBe('agent_unknown')
    t.clock.advance(3_600_000)
    const late = await agent.post(agent.body())
    expect([late.status, json(late).code, late.headers.get('www-authenticate')]).toEqual([
      401,
      'agent_session_expired',
      'Bearer',
    ])
    const prolonged = Buffer.from(agent.state.session.slice(4), 'base64url')
    prolonged.writeUInt32BE(0xff_ff_ff_ff, 32)
    for (const token of ['', 'pas_', `pas_${prolonged.toString('base64url')}`, 'x'.repeat(20_000)]) {
      const answer = await agent.post(agent.body(), token)
      expect([401, 431]).toContain(answer.status)
    }
  })

  it('do not work on the routes for people, and vice versa', async () => {
    const agent = await enrolAgent(t)
    const admin = await t.signIn()
    const api = await (await t.admin()).post('/prime/webui/admin/apiTokens', { name: 'siem' })
    for (const path of ['agents', 'admin/all', 'events/getevents', 'admin/profile'])
      expect((await t.as(agent.state.session).get(`/prime/webui/${path}`)).statusCode).toBe(401)
    for (const token of [admin, api.json().token as string, (await person(t)).token])
      expect((await agent.post(agent.body(), token)).status).toBe(401)
    expect((await t.as(await enrolmentToken(t)).get('/prime/webui/agents')).statusCode).toBe(401)
  })

  it('belong to one agent, which can only report about itself', async () => {
    const [one, other] = [await enrolAgent(t, { devices: [plainKeyboard()] }), await enrolAgent(t)]
    const stolen = { ...one.body({ inventory: [] }), bootId: one.state.bootId }
    expect(json(await other.post(stolen)).code).toBe('agent_session_superseded')
    expect((await one.peripherals())[0]?.present).toBe(true)
  })
})

const oldBeat = async (agent: TestAgent, old: { bootId: string; session: string }): Promise<never> => {
  const request: CheckInRequest = { ...agent.body(), bootId: old.bootId, seq: 99 }
  throw new Refused(await agent.post(request, old.session))
}

describe('a removed agent', () => {
  it('is refused from its next request on, its wake socket is closed, and its events and audit records stay', async () => {
    const agent = await enrolAgent(t, { devices: [plainKeyboard({ vid: 'AAAA', pid: '0001' })] })
    const socket = new WebSocket(`${t.address.replace('http', 'ws')}${agentPaths.wake}`, {
      headers: { authorization: `Bearer ${agent.state.session}` },
    })
    await new Promise((resolve, reject) => {
      socket.once('open', resolve)
      socket.once('error', reject)
    })
    await until('the wake socket is known', () => t.server.ingest.wake.wake(agent.agentId))
    let closed = 0
    socket.once('close', (code) => {
      closed = code
    })
    await remove(agent.agentId)
    for (const work of [() => agent.checkIn(), agent.inventory, agent.session])
      expect(await refusal(work())).toEqual([403, 'agent_revoked'])
    await until('the wake socket is closed', () => closed === 4003)
    expect((await (await t.admin()).get(`/prime/webui/agents/agent/${agent.agentId}`)).statusCode).toBe(404)
    expect(await codesOf(agent)).toEqual(['0x120002', '0x120001', '0x120003'])
    const audits = (await pageOf<{ action: string; details: string }>(t, 'events/GetAuditsIntegration?PageSize=1')).data
    expect(audits[0]).toMatchObject({ action: 'agent.removed', details: `agent ${agent.agentId}` })
    const [model] = (await pageOf<{ agentsCount: number }>(t, 'peripherals/models?vid=AAAA')).data
    expect(model?.agentsCount).toBe(0)
  })

  it('can return only as a new agent', async () => {
    const agent = await enrolAgent(t, { machineIdHash: 'ab'.repeat(32) })
    await remove(agent.agentId)
    const again = await enrolAgent(t, { machineIdHash: 'ab'.repeat(32), privateKey: agent.privateKey })
    expect(again.agentId).not.toBe(agent.agentId)
    expect(again.tookOver).toBe(false)
  })

  it('can be listed together with unknown ids', async () => {
    const agent = await enrolAgent(t)
    const unknown = [randomUUID(), 'no-uuid', '__proto__']
    const answer = await (await t.admin()).post('/prime/webui/agents/deleteAgents', [agent.agentId, ...unknown])
    expect(answer.json()).toEqual({ accepted: [agent.agentId], notFound: unknown })
  })
})

describe('an enrolment token', () => {
  it('counts its uses even if hosts enrol simultaneously', async () => {
    const token = await enrolmentToken(t, { maxUses: 3 })
    const results = await Promise.allSettled(Array.from({ length: 8 }, () => enrolAgent(t, { token, only: 'enrol' })))
    expect(results.filter((r) => r.status === 'fulfilled')).toHaveLength(3)
    const refused = results.filter((r) => r.status === 'rejected').map((r) => (r.reason as Refused).problem.code)
    expect(new Set(refused)).toEqual(new Set(['enrolment_refused']))
  })

  it('is refused after expiry, after revocation and without its full secret', async () => {
    const admin = await t.admin()
    const enrol = (token: string) => refusal(enrolAgent(t, { token, only: 'enrol' }))
    const brief = await enrolmentToken(t, { expiresInHours: 1, name: 'brief' })
    const list = (await admin.get('/prime/webui/agents/enrollmenttokens')).json().data as { id: string; name: string }[]
    const revoked = await enrolmentToken(t, { name: 'revoked' })
    const { id } = (await admin.get('/prime/webui/agents/enrollmenttokens'))
      .json()
      .data.find((row: { name: string }) => row.name === 'revoked')
    expect(list.some((row) => row.name === 'brief')).toBe(true)
    expect((await admin.delete(`/prime/webui/agents/enrollmenttokens/${id}`)).json()).toEqual({ deleted: true })
    expect(await enrol(revoked)).toEqual([403, 'enrolment_refused'])
    expect(await enrol(`${brief.slice(0, -1)}${brief.endsWith('A') ? 'B' : 'A'}`)).toEqual([403, 'enrolment_refused'])
    expect(await enrol("pce_' or '1'='1")).toEqual([403, 'enrolment_refused'])
    t.clock.advance(3_600_000)
    expect(await enrol(brief)).toEqual([403, 'enrolment_refused'])
  })

  it('is never shown again', async () => {
    const token = await enrolmentToken(t)
    const secret = token.slice('pce_'.length + 32 + 1)
    expect((await (await t.admin()).get('/prime/webui/agents/enrollmenttokens')).body).not.toContain(secret)
    const dump = JSON.stringify(await t.server.db.query(sql`select * from enrollment_tokens`))
    expect(dump).not.toContain(secret)
    expect((await (await t.admin()).get('/prime/webui/events/GetAuditsIntegration?PageSize=1000')).body).not.toContain(
      secret,
    )
  })
})

describe('the wake socket', () => {
  const attempt = (headers: Record<string, string>, path: string = agentPaths.wake): Promise<number> =>
    new Promise((resolve, reject) => {
      const socket = new WebSocket(`${t.address.replace('http', 'ws')}${path}`, { headers })
      socket.once('open', () => {
        socket.close()
        resolve(101)
      })
      socket.once('unexpected-response', (_request, response) => resolve(response.statusCode ?? 0))
      socket.once('error', reject)
    })

  it('accepts agents only: no browser, no account, no other path', async () => {
    const agent = await enrolAgent(t, { devices: [hub()] })
    const good = { authorization: `Bearer ${agent.state.session}` }
    expect(await attempt(good)).toBe(101)
    expect(await attempt({})).toBe(401)
    expect(await attempt({ authorization: `Bearer ${await t.signIn()}` })).toBe(401)
    expect(await attempt({ ...good, origin: t.address })).toBe(403)
    expect(await attempt({ ...good, origin: 'https://evil.example' })).toBe(403)
    expect(await attempt(good, '/prime/webui/live')).toBe(404)
  })
})

describe('paths of agents', () => {
  it('accept only POST', async () => {
    for (const path of [agentPaths.enrol, agentPaths.session]) expect((await fetchText(t, path)).status).toBe(405)
  })
})

describe('a heartbeat', () => {
  it('does not mark a disconnected host as connected if it is an old replay', async () => {
    const agent = await enrolAgent(t)
    const beat = agent.body()
    expect((await agent.post(beat)).status).toBe(200)
    const { lastUpdated } = await agent.detail()
    t.clock.advance(181_000)
    await t.server.ingest.sweep()
    expect((await agent.detail()).displayStatusCombined).toBe('Disconnected')
    // The session is still valid; only the seq is old.
    expect((await agent.post(beat)).status).toBe(200)
    expect(await agent.detail()).toMatchObject({ displayStatusCombined: 'Disconnected', lastUpdated })
    expect((await agent.post({ ...beat, seq: beat.seq + 1 })).status).toBe(200)
    expect((await agent.detail()).displayStatusCombined).toBe('Free')
  })
})
