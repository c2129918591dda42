import { releaseKeyPair } from '@portcullis/domain/testing'
import { sql } from '@portcullis/platform/server/db/sql.ts'
import { startTestApp, type TestApp } from '@portcullis/server/test/app.ts'
import { enrolAgent, pageOf, type TestAgent } from '@portcullis/server/test/builders.ts'
import { configured, packageFile, publish } from '@portcullis/server/test/packages.ts'
import { person } from '@portcullis/server/test/people.ts'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import type { AgentCommand, Command } from '#features/contract.ts'

const key = releaseKeyPair()
let t: TestApp

beforeAll(async () => {
  t = await startTestApp({ listen: true, releaseKey: configured(key) })
})
afterAll(() => t.close())

const post = async (path: string, body: unknown) => (await t.admin()).post(`/prime/webui/agents/${path}`, body)
const taken = async (agent: TestAgent): Promise<AgentCommand[]> =>
  ((await agent.checkIn()).commands ?? []).map((c) => JSON.parse(c.payload) as AgentCommand)

describe.each(['deleteAgentsCommands', 'updateAgents', 'fetchagentsdebuglogs'])('POST %s', (path) => {
  it('accepts an empty list, reports unknown ids, and requires a Manager', async () => {
    const none = {
      accepted: [],
      notFound: [],
      ...(path === 'updateAgents' && { current: [], notPublished: [], noReleaseKey: [] }),
    }
    expect((await post(path, null)).json()).toEqual(none)
    expect((await post(path, ['nobody', 'nobody'])).json()).toEqual({ ...none, notFound: ['nobody'] })
    expect((await post(path, [1])).statusCode).toBe(400)
    const user = await person(t, { profile: 30 })
    expect((await user.api.post(`/prime/webui/agents/${path}`, [])).statusCode).toBe(403)
    expect((await t.as(undefined).post(`/prime/webui/agents/${path}`, [])).statusCode).toBe(401)
  })
})

describe('commands of agents', () => {
  it('are cancelled before they are confirmed', async () => {
    const [one, two] = await Promise.all([enrolAgent(t), enrolAgent(t)])
    await post('fetchagentsdebuglogs', [one.agentId])
    expect((await post('deleteAgentsCommands', [one.agentId, 'nobody', two.agentId])).json()).toEqual({
      accepted: [one.agentId, two.agentId],
      notFound: ['nobody'],
    })
    expect(await taken(one)).toEqual([])
    expect((await pageOf<Command>(t, `agents/commands?hostUuid=${one.agentId}`)).data).toMatchObject([
      { state: 'cancelled', message: 'Cancelled by admin.' },
    ])
  })

  it('are refused for all hosts if one host has no agent', async () => {
    const [agent, polled] = await Promise.all([enrolAgent(t), enrolAgent(t)])
    await t.db.execute(sql`update agent_rows set agentless = true where agent_id = ${polled.agentId}::uuid`)
    for (const path of ['fetchagentsdebuglogs', 'updateAgents']) {
      const refused = await post(path, [agent.agentId, polled.agentId])
      expect([refused.statusCode, refused.json().code]).toEqual([409, 'conflict'])
      expect(refused.json().detail).toContain(polled.facts.hostname)
    }
    expect(await taken(agent)).toEqual([])
  })
})

describe('updates', () => {
  it('are refused while no build is published', async () => {
    const agent = await enrolAgent(t)
    const refused = await post('updateAgents', [agent.agentId])
    expect([refused.statusCode, refused.json().detail]).toEqual([409, 'No agent build is published for these hosts.'])
  })

  it('go to agents older than the newest build, and separate lists contain the other ids', async () => {
    const [old, current, other, keyless] = await Promise.all([
      enrolAgent(t),
      enrolAgent(t, { facts: { agentVersion: '2.0.0' } }),
      enrolAgent(t, { facts: { architecture: 'arm64' } }),
      enrolAgent(t, { facts: { releaseKey: '' } }),
    ])
    const published = await publish(t, packageFile(key, { version: '2.0.0' }))
    expect(published.statusCode, published.body).toBe(200)
    const answer = await post('updateAgents', [old.agentId, current.agentId, other.agentId, keyless.agentId, 'nobody'])
    expect(answer.json()).toEqual({
      accepted: [old.agentId],
      notFound: ['nobody'],
      current: [current.agentId],
      notPublished: [other.agentId],
      noReleaseKey: [keyless.agentId],
    })
    expect(await taken(old)).toMatchObject([
      {
        kind: 'update',
        version: '2.0.0',
        architecture: 'x64',
        sha256: published.json().sha256,
        size: published.json().size,
        releaseKey: key.text,
        releaseSignature: expect.any(String),
      },
    ])
    expect([await taken(current), await taken(other), await taken(keyless)]).toEqual([[], [], []])
    const none = await post('updateAgents', [current.agentId])
    expect([none.statusCode, none.json().detail]).toEqual([409, 'These agents are already up to date.'])
    const invented = []
    for (const architecture of ['mips', 'constructor']) invented.push(await enrolAgent(t, { facts: { architecture } }))
    const preview = await post('bulk/preview', {
      uuids: [old, current, other, keyless, ...invented].map((a) => a.agentId),
      action: 'update',
    })
    expect(preview.json()).toMatchObject({
      agents: 1,
      impossible: expect.arrayContaining([
        { reason: 'The agent is up to date.', agents: 1 },
        { reason: 'No agent is published for arm64.', agents: 1 },
        { reason: 'No agent is published for this architecture.', agents: 2 },
        { reason: expect.stringContaining('without a release key'), agents: 1 },
      ]),
    })
  })
})
