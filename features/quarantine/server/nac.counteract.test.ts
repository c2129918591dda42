import { macsOf, type NacTest, nacHost, startNac, stepsOf } from '@portcullis/server/test/nac.ts'
import { afterAll, afterEach, beforeAll, describe, expect, it } from 'vitest'
import type { ConfigTested, NacEndpoint } from '#features/contract.ts'

let n: NacTest
beforeAll(async () => {
  n = await startNac()
  await n.useCact()
})
afterEach(() => {
  n.cact.state.mode = 'ok'
  n.cact.properties.add('portcullis_state')
})
afterAll(() => n.close())

const ask = (agents: Parameters<NacTest['ask']>[0], more = {}) => n.ask(agents, { system: 'cact', ...more })
const tried = (more: Record<string, string> = {}) => n.ok<ConfigTested>('generalconfig/TestCACT', n.cactItems(more))
const lastStep = (tested: ConfigTested) => [tested.ok, tested.steps.at(-1)?.step, tested.steps.at(-1)?.message]

describe('a host that CounterACT quarantines', () => {
  it('gets the property by Data Exchange, verified by the Web API, and loses it when cleared', async () => {
    const agent = await nacHost(n.t, { nics: 2 })
    const [first, second] = macsOf(agent) as [string, string]
    const known = n.cact.addHost(second, '10.9.8.7')
    await ask([agent])
    await n.run()
    const q = await n.quarantineOf(agent, 'cact')
    // An address that CounterACT does not know is left out.
    expect(q).toMatchObject({ state: 'verified', macs: [first, second], targets: [second], policy: 'portcullis_state' })
    expect(stepsOf(q)).toEqual(['asked', 'applying', 'applied', 'verified'])
    expect(known.fields).toEqual({ portcullis_state: 'quarantine' })
    const knows = (await (await n.t.admin()).get(`/prime/webui/nac/endpoint/${agent.agentId}`)).json() as NacEndpoint
    expect(knows).toMatchObject({
      ise: { status: 'off' },
      cact: {
        status: 'ok',
        endpoints: [
          { mac: first, isKnown: false },
          { mac: second, isKnown: true, address: '10.9.8.7', property: 'quarantine' },
        ],
      },
    })
    // Revoked tokens, for example after a restart, are requested again.
    n.cact.forgetTokens()
    // The property was renamed in the meantime: the one that was set is cleared.
    n.cact.properties.add('other_state')
    await n.useCact({ CACT_PROPERTY: 'other_state' })
    await n.ok('nac/quarantines/clear', { ids: [q.id] })
    await n.run()
    expect([(await n.quarantineOf(agent, 'cact')).state, known.fields]).toEqual(['cleared', {}])
    expect(n.cact.changes).toEqual([
      { type: 'update', ip: '10.9.8.7', property: 'portcullis_state', value: 'quarantine' },
      { type: 'delete', ip: '10.9.8.7', property: 'portcullis_state', value: '' },
    ])
    await n.useCact({ CACT_PROPERTY: '' })
  }, 30_000)

  it('fails with a cure if the host or the property is unknown', async () => {
    const agent = await nacHost(n.t)
    await ask([agent])
    await n.run()
    expect(await n.quarantineOf(agent, 'cact')).toMatchObject({
      state: 'failed',
      error: expect.stringMatching(/does not know a host with .* It must detect the host first/),
    })
    n.cact.addHost(macsOf(agent)[0] as string, '10.9.8.6')
    n.cact.properties.delete('portcullis_state')
    await ask([agent])
    await n.run()
    expect(await n.quarantineOf(agent, 'cact')).toMatchObject({
      state: 'failed',
      error: expect.stringMatching(/The property .* does not exist.*Define it/),
    })
    n.cact.properties.add('portcullis_state')
    await ask([agent])
    await n.run()
    expect((await n.quarantineOf(agent, 'cact')).state).toBe('verified')
  }, 30_000)
})

describe('the test of CounterACT', () => {
  it('reports each step, and the cure of a failure', async () => {
    expect((await tried()).steps).toEqual([
      { step: 'Connect', ok: true, message: 'The system answered with a trusted certificate.' },
      { step: 'Sign in', ok: true, message: 'The Web API accepted the user name and password.' },
      { step: 'Property', ok: true, message: 'The property portcullis_state is defined.' },
      { step: 'Data Exchange', ok: true, message: 'Data Exchange accepted the account and password.' },
    ])
    for (const [more, step, message] of [
      [{ CACT_PASSWORD: 'wrong' }, 'Sign in', /Web API rejected the user name or password/],
      [{ CACT_PROPERTY: 'nowhere' }, 'Property', /The property nowhere does not exist\. Define it/],
      [{ CACT_DEX_PASSWORD: 'wrong' }, 'Data Exchange', /Data Exchange rejected the account or password/],
      [{ CACT_TOKEN_STYLE: 'bearer' }, 'Sign in', /Choose the other token style/],
      [{ CACT_CA: '' }, 'Connect', /is not trusted/],
      [{ CACT_URL: n.cact.url.replace('localhost', '127.0.0.1') }, 'Connect', /issued for another name/],
    ] as const)
      expect([step, ...lastStep(await tried(more))]).toEqual([step, false, step, expect.stringMatching(message)])
    n.cact.state.mode = 'page'
    expect(lastStep(await tried())).toEqual([false, 'Sign in', expect.stringMatching(/web page, not with the Web API/)])
    expect(n.cact.changes.some(({ ip }) => ip === '192.0.2.1')).toBe(false)
    const moved = await n.post('generalconfig/TestCACT', { CACT_URL: 'https://evil.example.org' })
    expect([moved.statusCode, moved.json().detail]).toEqual([
      400,
      expect.stringMatching(/CACT_PASSWORD: must be entered again.*CACT_DEX_PASSWORD: must be entered again/),
    ])
  }, 30_000)
})
