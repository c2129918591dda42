import { randomBytes } from 'node:crypto'
import type { Quarantine, QuarantineState } from '@portcullis/contract'
import { afterAll, afterEach, beforeAll, describe, expect, it } from 'vitest'
import { startTestApp, type TestApp } from '#test/app.ts'
import { enrolAgent, pageOf, type TestAgent } from '#test/builders.ts'
import { createAuthority } from '#test/certificates.ts'
import { type FakeIse, startIse } from '#test/peers/ise.ts'

const authority = createAuthority()
const certificate = authority.issue(['localhost'])
const base = '/prime/webui'
let t: TestApp
let ise: FakeIse

const post = async (path: string, body: unknown) => (await t.admin()).post(`${base}/${path}`, body)
const ok = async <T>(path: string, body: unknown): Promise<T> => {
  const answer = await post(path, body)
  expect(answer.statusCode, answer.body).toBe(200)
  return answer.json() as T
}
const iseItems = (more: Record<string, string> = {}) => ({
  ISE_ENABLED: 'true',
  ISE_URL: ise.url,
  ISE_USER: ise.user,
  ISE_PASSWORD: ise.password,
  ISE_CA: authority.pem,
  ISE_ANC_POLICY: 'Quarantine',
  ISE_AUTO_QUARANTINE: 'false',
  ...more,
})

/** A host with addresses of its own. */
const host = (count = 1): Promise<TestAgent> => {
  const own = () => `02${randomBytes(5).toString('hex').replace(/../g, ':$&')}`
  return enrolAgent(t, {
    facts: {
      nics: Array.from({ length: count }, (_, i) => ({
        name: `eth${i}`,
        mac: own(),
        addresses: ['10.1.2.3'],
        isUp: true,
      })),
    },
  })
}
const macsOf = (agent: TestAgent): string[] => agent.facts.nics.map((nic) => nic.mac.toUpperCase())
const quarantineOf = async (agent: TestAgent, system = 'ise'): Promise<Quarantine> => {
  const { data } = await pageOf<Quarantine>(t, `nac/quarantines?uuid=${agent.agentId}&system=${system}`)
  return data[0] as Quarantine
}
const ask = (agents: readonly TestAgent[], more: Record<string, unknown> = {}) =>
  ok<{ accepted: { id: string; uuid: string }[]; existing: unknown[]; notFound: string[] }>('nac/quarantines', {
    agentIds: agents.map((agent) => agent.agentId),
    system: 'ise',
    reason: 'looks bad',
    ...more,
  })
const run = () => t.server.nac.run()
const stepsOf = (q: Quarantine): string[] => q.timeline.map(({ step }) => step)
const stateOf = async (agent: TestAgent, system = 'ise'): Promise<QuarantineState> =>
  (await quarantineOf(agent, system)).state

beforeAll(async () => {
  t = await startTestApp({ listen: true, logLevel: 'warn' })
  ise = await startIse({ certificate })
  await ok('generalconfig/AddOrUpdateISEServer', iseItems())
})
afterEach(() => {
  ise.state.mode = 'ok'
})
afterAll(async () => {
  await t.close()
  await ise.close()
})

describe('a host that a person quarantines', () => {
  it('is quarantined by all its addresses, read back, and cleared again, with its story', async () => {
    const agent = await host(2)
    const [first, second] = macsOf(agent) as [string, string]
    ise.addEndpoint(first, { Owner: 'Ada' })
    ise.attributes.add('Owner')
    const asked = await ask([agent], { hours: 2 })
    expect(asked).toEqual({ accepted: [{ id: expect.any(String), uuid: agent.agentId }], existing: [], notFound: [] })
    await run()
    const q = await quarantineOf(agent)
    expect(q).toMatchObject({
      state: 'verified',
      isActive: true,
      hostIdentifier: agent.facts.hostname,
      macs: [first, second],
      targets: [first, second],
      policy: 'Quarantine',
      isAutomatic: false,
      by: 'admin',
      expiresAt: new Date(t.clock.now() + 2 * 3_600_000).toISOString(),
      error: '',
    })
    expect(stepsOf(q)).toEqual(['asked', 'applying', 'applied', 'verified', 'attributes'])
    expect(q.timeline[0]).toMatchObject({ by: 'admin', message: 'looks bad', ok: true })
    expect([ise.policyOf(first), ise.policyOf(second)]).toEqual(['Quarantine', 'Quarantine'])
    expect((await ask([agent])).existing).toEqual([{ id: q.id, uuid: agent.agentId }])

    expect(await ok('nac/quarantines/clear', { ids: [q.id, 'nothing'] })).toEqual({
      accepted: [q.id],
      unchanged: [],
      notFound: ['nothing'],
    })
    await run()
    expect(await quarantineOf(agent)).toMatchObject({ state: 'cleared', isActive: false })
    expect([ise.policyOf(first), ise.policyOf(second)]).toEqual([undefined, undefined])
    const events = (await agent.events()).filter((event) => event.category === 'Network')
    expect(events.map((event) => event.description)).toEqual(['Host quarantined', 'Quarantine cleared'])
  })
})
