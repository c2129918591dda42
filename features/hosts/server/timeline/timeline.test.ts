import { rubberDucky, storageStick } from '@portcullis/domain/testing'
import { append, deviceEvent } from '@portcullis/server/test/alerts.ts'
import { startTestApp, type TestApp } from '@portcullis/server/test/app.ts'
import { enrolAgent, type TestAgent } from '@portcullis/server/test/builders.ts'
import { person } from '@portcullis/server/test/people.ts'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import type { getHostTimeline, ResponseOf } from '#features/contract.ts'

type Timeline = ResponseOf<typeof getHostTimeline>

let t: TestApp

beforeAll(async () => {
  t = await startTestApp({ listen: true })
})
afterAll(() => t.close())

const path = (agent: TestAgent, query = ''): string => `/prime/webui/agents/agent/${agent.agentId}/timeline${query}`
const minute = 60_000
const iso = (at: number): string => new Date(at).toISOString()
const read = async (agent: TestAgent, query = ''): Promise<Timeline> => {
  const answer = await (await t.admin()).get(path(agent, query))
  expect(answer.statusCode).toBe(200)
  return answer.json()
}
const told = ({ entries }: Timeline) => entries.map(({ lane, title }) => [lane, title])

describe('the timeline of a host', () => {
  it('combines events, commands, alerts and audit records, newest first', async () => {
    const agent = await enrolAgent(t)
    t.clock.advance(minute)
    await agent.plug(rubberDucky({ portPath: '1-2' }))
    await t.alerts.run()
    t.clock.advance(minute)
    const at = t.clock.now()
    await (await t.admin()).post('/prime/webui/agents/configuration', [
      { uuid: agent.agentId, agentConfigViewResource: { isSystemArmed: 'ARM' } },
    ])
    const timeline = await read(agent)
    expect(told(timeline)).toEqual([
      ['command', 'Arm (Free again without contact for 10 minutes)'],
      ['audit', 'Command sent'],
      ['finding', 'Known attack tool detected'],
      ['attachment', 'New USB peripheral detected'],
      ['alert', expect.stringMatching(/attack tool/)],
      ['attachment', 'Inventory received'],
      ['host', 'Agent enrolled'],
      ['audit', 'Host enrolled'],
    ])
    expect(timeline.entries[0]).toMatchObject({ at: iso(at), by: 'admin', details: 'Queued', uncertaintyMs: null })
    expect(timeline.entries[3]).toMatchObject({
      details: expect.stringContaining('(03EB:2401)'),
      deviceID: expect.stringContaining('VID_03EB'),
    })
    expect(timeline).toMatchObject({ earlierFrom: null, hiddenLanes: [] })

    const id = Number(timeline.entries.find(({ lane }) => lane === 'alert')?.id)
    t.clock.advance(minute)
    const closed = await (await t.admin()).post('/prime/webui/systemNotification/notices/close', {
      ids: [id],
      verdict: 'test',
    })
    expect(closed.json()).toEqual({ changed: [id] })
    const closing = {
      lane: 'alert',
      title: expect.stringMatching(/^Closed: .*attack tool/),
      by: 'admin',
      id: String(id),
    }
    expect((await read(agent)).entries).toContainEqual(expect.objectContaining(closing))
  })

  it('uses the time on the host, so a change of yesterday that arrives today belongs to yesterday', async () => {
    const agent = await enrolAgent(t)
    const happened = t.clock.now() - 30 * 60 * minute
    agent.devices.set('1-1', storageStick())
    const body = agent.body({
      changes: [{ op: 'attached', at: happened, device: storageStick() }],
      clock: happened + minute,
    })
    await agent.post(body, agent.state.session, { 'portcullis-age': String(t.clock.now() - happened - minute) })
    expect(told(await read(agent)).filter(([, title]) => title === 'New USB peripheral detected')).toEqual([])
    const yesterday = await read(agent, `?from=${iso(happened - minute)}&to=${iso(happened + minute)}`)
    expect(yesterday.entries).toMatchObject([{ lane: 'attachment', at: iso(happened), uncertaintyMs: 1_000 }])
  })

  it('returns the newest entries and where to continue', async () => {
    const agent = await enrolAgent(t)
    for (let n = 0; n < 5; n++) {
      // The server merges events of a host that has more than 500 in one hour.
      t.clock.advance(60 * minute)
      await append(t, ...Array.from({ length: 100 }, () => deviceEvent('gone', { agentId: agent.agentId })))
    }
    const first = await read(agent)
    expect(first.entries).toHaveLength(500)
    expect(first.earlierFrom).toBe(first.entries.at(-1)?.at)
    const next = await read(agent, `?to=${iso(Date.parse(first.earlierFrom ?? '') - 1)}`)
    expect(next.earlierFrom).toBeNull()
    expect(next.entries.map(({ title }) => title)).toContain('Agent enrolled')
  })

  it('continues past more entries of one moment than a response has', async () => {
    const agent = await enrolAgent(t)
    t.clock.advance(minute)
    const occurred = { at: t.clock.now(), uncertaintyMs: 0 }
    const flood = Array.from({ length: 500 }, () => ({ ...deviceEvent('gone', { agentId: agent.agentId }), occurred }))
    await append(t, ...flood)
    t.clock.advance(60 * minute)
    await append(t, ...flood)
    const from = `from=${iso(occurred.at - 60 * minute)}`
    const titles: string[] = []
    let to: string | null = iso(t.clock.now())
    for (let pages = 0; to !== null && pages < 5; pages++) {
      const { entries, earlierFrom } = await read(agent, `?${from}&to=${to}`)
      titles.push(...entries.map(({ title }) => title))
      to = earlierFrom
    }
    expect(titles).toContain('Agent enrolled')
  })

  it('refuses a range that ends before it begins, an unreadable time and an unknown host', async () => {
    const agent = await enrolAgent(t)
    const admin = await t.admin()
    const answerOf = async (query: string) => {
      const answer = await admin.get(path(agent, query))
      return [answer.statusCode, answer.json().errors]
    }
    expect(await answerOf('?from=2031-05-04T12:00:00Z&to=2031-05-04T11:00:00Z')).toEqual([
      400,
      [{ field: 'query.to', message: 'must be later than `from`' }],
    ])
    expect(await answerOf('?from=yesterday')).toMatchObject([400, [{ field: 'query.from' }]])
    for (const id of ['01977f6e-6a4c-7c3e-8f2a-2d1c6b5a4e3f', 'x'])
      expect((await admin.get(`/prime/webui/agents/agent/${id}/timeline`)).statusCode).toBe(404)
  })

  it('leaves out audit records for accounts that cannot read them', async () => {
    const agent = await enrolAgent(t)
    const timeline: Timeline = (await (await person(t)).api.get(path(agent))).json()
    expect(timeline.hiddenLanes).toEqual(['audit'])
    expect(timeline.entries.map(({ lane }) => lane)).not.toContain('audit')
  })

  it('leaves out alerts for tokens that cannot read them', async () => {
    const agent = await enrolAgent(t)
    await agent.plug(rubberDucky({ portPath: '1-2' }))
    await t.alerts.run()
    const admin = t.as(await t.signIn())
    const made = await admin.post('/prime/webui/admin/apiTokens', { name: 'narrow', scopes: ['fleet:read'] })
    const timeline: Timeline = (await t.as(made.json().token).get(path(agent))).json()
    expect(timeline.hiddenLanes).toEqual(['alert', 'audit'])
    const lanes = timeline.entries.map(({ lane }) => lane)
    expect(lanes).toContain('finding')
    expect(lanes).not.toContain('alert')
  })
})
