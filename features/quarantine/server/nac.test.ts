import { enrolAgent, type TestAgent } from '@portcullis/server/test/builders.ts'
import { macsOf, type NacTest, nacHost, startNac, stepsOf } from '@portcullis/server/test/nac.ts'
import { startIse } from '@portcullis/server/test/peers/ise.ts'
import { person } from '@portcullis/server/test/people.ts'
import { afterAll, afterEach, beforeAll, describe, expect, it } from 'vitest'
import type { ConfigTested, NacEndpoint, Quarantine } from '#features/contract.ts'

let n: NacTest
beforeAll(async () => {
  n = await startNac()
  await n.useIse()
})
afterEach(() => {
  n.ise.state.mode = 'ok'
  n.ise.policies.add('Quarantine')
})
afterAll(() => n.close())

const lastStep = (tested: ConfigTested) => [tested.ok, tested.steps.at(-1)?.step, tested.steps.at(-1)?.message]
const audits = async (): Promise<{ action: string; userName: string; entity: string; details: string }[]> =>
  (await (await n.t.admin()).get('/prime/webui/events/GetAuditsIntegration?PageSize=30')).json().data

describe('a host that a person quarantines', () => {
  it('is quarantined by all addresses, verified and cleared, with a timeline', async () => {
    const agent = await nacHost(n.t, { nics: 2 })
    const [first, second] = macsOf(agent) as [string, string]
    const endpoint = n.ise.addEndpoint(first, { Owner: 'Ada' })
    n.ise.attributes.add('Owner')
    const asked = await n.ask([agent], { hours: 2 })
    expect(asked).toEqual({ accepted: [{ id: expect.any(String), uuid: agent.agentId }], existing: [], notFound: [] })
    await n.run()
    const q = await n.quarantineOf(agent)
    expect(q).toMatchObject({
      state: 'verified',
      isActive: true,
      hostIdentifier: agent.facts.hostname,
      macs: [first, second],
      targets: [first, second],
      policy: 'Quarantine',
      isAutomatic: false,
      by: 'admin',
      expiresAt: new Date(n.t.clock.now() + 2 * 3_600_000).toISOString(),
      error: '',
    })
    expect(stepsOf(q)).toEqual(['asked', 'applying', 'applied', 'verified', 'attributes'])
    expect(q.timeline[0]).toMatchObject({ by: 'admin', message: 'looks bad', ok: true })
    expect([n.ise.policyOf(first), n.ise.policyOf(second)]).toEqual(['Quarantine', 'Quarantine'])
    // Attributes that ISE had are kept.
    expect(endpoint.customAttributes).toMatchObject({ Owner: 'Ada', PortcullisState: 'quarantined' })
    expect((await n.ask([agent])).existing).toEqual([{ id: q.id, uuid: agent.agentId }])

    expect(await n.ok('nac/quarantines/clear', { ids: [q.id, 'nothing'] })).toEqual({
      accepted: [q.id],
      unchanged: [],
      notFound: ['nothing'],
    })
    await n.run()
    const cleared = await n.quarantineOf(agent)
    expect(cleared).toMatchObject({ state: 'cleared', isActive: false, expiresAt: null })
    expect(stepsOf(cleared).slice(5)).toEqual(['clear', 'cleared', 'attributes'])
    expect([n.ise.policyOf(first), n.ise.policyOf(second)]).toEqual([undefined, undefined])
    const events = (await agent.events()).filter((event) => event.category === 'Network')
    expect(events.map((event) => event.description)).toEqual(['Host quarantined', 'Quarantine cleared'])
    expect((await audits()).map(({ action }) => action)).toEqual(
      expect.arrayContaining(['nac.quarantineAsked', 'nac.quarantined', 'nac.clearAsked', 'nac.quarantineCleared']),
    )
    expect((await n.ok<{ unchanged: string[] }>('nac/quarantines/clear', { ids: [q.id] })).unchanged).toEqual([q.id])
  }, 20_000)

  it('is quarantined only if possible', async () => {
    const bare = await enrolAgent(n.t, {
      facts: { nics: [{ name: 'eth0', mac: '02:aa:bb:cc:dd:ee', addresses: [], isUp: false }] },
    })
    const good = await nacHost(n.t)
    const refused = await n.post('nac/quarantines', {
      agentIds: [good.agentId, bare.agentId],
      system: 'ise',
      reason: 'x',
    })
    expect([refused.statusCode, refused.json().detail]).toEqual([
      422,
      expect.stringMatching(/no active network interface/),
    ])
    const off = await n.post('nac/quarantines', { agentIds: [good.agentId], system: 'cact', reason: 'x' })
    expect([off.statusCode, off.json().detail]).toEqual([
      422,
      expect.stringMatching(/Forescout CounterACT is not in use/),
    ])
    expect(await n.all(`&uuid=${good.agentId}`)).toEqual([])
    const unknown = await n.ask([
      { agentId: 'nobody' },
      { agentId: bare.agentId.replace(/^./, 'f').replace(/.$/, 'f') },
    ])
    expect(unknown).toMatchObject({ accepted: [], notFound: ['nobody', expect.any(String)] })
    for (const body of [
      { agentIds: [good.agentId], system: 'ise' },
      { agentIds: [], system: 'ise', reason: 'x' },
      { agentIds: [good.agentId], system: 'nac', reason: 'x' },
      { agentIds: [good.agentId], system: 'ise', reason: 'x', hours: 9_000 },
      { agentIds: [good.agentId], system: 'ise', reason: 'x', mac: 'AA' },
    ])
      expect((await n.post('nac/quarantines', body)).statusCode).toBe(400)
  })

  it('is not quarantined at excluded addresses', async () => {
    const wrong = await n.post('generalconfig/AddOrUpdateISEServer', n.iseItems({ ISE_NEVER_ADDRESSES: '00:11:22' }))
    expect([wrong.statusCode, wrong.json().detail]).toEqual([
      400,
      expect.stringMatching(/ISE_NEVER_ADDRESSES.*not a MAC/),
    ])
    const [agent, other] = [await nacHost(n.t, { nics: 2 }), await nacHost(n.t)]
    const [first, second] = macsOf(agent) as [string, string]
    const [only] = macsOf(other) as [string]
    await n.ask([other])
    // Stored before the address was excluded, and requested after.
    await n.useIse({ ISE_NEVER_ADDRESSES: `${first.toLowerCase().replaceAll(':', '-')}, ${only}` })
    try {
      await n.ask([agent])
      await n.run()
      expect(await n.quarantineOf(agent)).toMatchObject({ state: 'verified', macs: [second], targets: [second] })
      const kept = await n.quarantineOf(other)
      // The server may have started it before the settings changed.
      if (kept.targets.length === 0)
        expect(kept).toMatchObject({ state: 'failed', error: expect.stringMatching(/exclude .* from quarantine/) })
      expect(n.ise.policyOf(first)).toBeUndefined()
      const third = await nacHost(n.t, { facts: { nics: agent.facts.nics.slice(0, 1) } })
      const refused = await n.post('nac/quarantines', { agentIds: [third.agentId], system: 'ise', reason: 'x' })
      expect([refused.statusCode, refused.json().detail]).toEqual([
        422,
        expect.stringMatching(/excluded from quarantine/),
      ])
    } finally {
      await n.useIse({ ISE_NEVER_ADDRESSES: '' })
    }
  }, 20_000)

  it('on a system that the settings no longer name is cleared only when a person confirms it', async () => {
    const moved = await startIse({ certificate: await n.authority.issue(['localhost']) })
    const [agent, other] = [await nacHost(n.t), await nacHost(n.t)]
    const mac = (of: TestAgent) => macsOf(of)[0] as string
    try {
      await n.ask([agent, other])
      await n.run()
      const ids = [(await n.quarantineOf(agent)).id, (await n.quarantineOf(other)).id] as [string, string]
      await n.useIse({ ISE_URL: moved.url })
      await n.ok('nac/quarantines/clear', { ids })
      await n.run()
      const q = await n.quarantineOf(agent)
      expect(q).toMatchObject({ state: 'clearing', isMoved: true, place: new URL(n.ise.url).host })
      expect(q.error).toContain(`It was applied at ${q.place}`)
      expect(q.error).toContain(`Clear ${mac(agent)} at `)
      expect((await n.ok<{ accepted: string[] }>('nac/quarantines/clear', { ids: [ids[0]] })).accepted).toEqual([
        ids[0],
      ])
      const ended = await n.quarantineOf(agent)
      expect([ended.state, ended.isMoved, ended.timeline.at(-1)]).toMatchObject([
        'cleared',
        false,
        { by: 'admin', message: expect.stringMatching(/A person confirmed .* Not read back/) },
      ])
    } finally {
      await n.useIse()
      await moved.close()
    }
    // With the previous address it is cleared there; a person's confirmation does not replace that.
    expect(
      (await n.ok<{ accepted: string[] }>('nac/quarantines/clear', { ids: [(await n.quarantineOf(other)).id] }))
        .accepted,
    ).toEqual([])
    n.t.clock.advance(301_000)
    await n.run()
    expect([(await n.quarantineOf(other)).state, n.ise.policyOf(mac(other))]).toEqual(['cleared', undefined])
  }, 20_000)

  it('keeps a quarantine that somebody else applied', async () => {
    const agent = await nacHost(n.t)
    const [mac] = macsOf(agent) as [string]
    n.ise.anc.set('by-hand', { mac, policy: 'Quarantine' })
    await n.ask([agent])
    await n.run()
    const q = await n.quarantineOf(agent)
    expect([q.state, q.targets]).toEqual(['verified', []])
    await n.ok('nac/quarantines/clear', { ids: [q.id] })
    await n.run()
    expect([(await n.quarantineOf(agent)).state, n.ise.policyOf(mac)]).toEqual(['cleared', 'Quarantine'])

    const other = await nacHost(n.t)
    n.ise.anc.set('other', { mac: macsOf(other)[0] as string, policy: 'Shutdown' })
    await n.ask([other])
    await n.run()
    expect(await n.quarantineOf(other)).toMatchObject({
      state: 'failed',
      error: expect.stringMatching(/already has the policy Shutdown/),
    })
  }, 20_000)

  it('reports cause and cure of a failure, and is retried on a new request', async () => {
    const agent = await nacHost(n.t)
    n.ise.policies.delete('Quarantine')
    await n.ask([agent])
    await n.run()
    const failed = await n.quarantineOf(agent)
    expect(failed).toMatchObject({ state: 'failed', isActive: true, targets: [] })
    expect(failed.error).toMatch(/ANC policy Quarantine does not exist in ISE\. Create it/)
    expect((await agent.events()).at(-1)).toMatchObject({ description: 'Quarantine failed', category: 'Network' })
    n.ise.policies.add('Quarantine')
    expect((await n.ask([agent], { reason: 'again' })).accepted[0]?.id).toBe(failed.id)
    await n.run()
    const q = await n.quarantineOf(agent)
    expect([q.state, q.error, stepsOf(q)]).toEqual([
      'verified',
      '',
      ['asked', 'failed', 'asked', 'applying', 'applied', 'verified', 'attributes'],
    ])
  }, 20_000)

  it('is quarantined without undefined attributes, and the timeline shows the cure', async () => {
    const agent = await nacHost(n.t)
    n.ise.addEndpoint(macsOf(agent)[0] as string)
    n.ise.attributes.delete('PortcullisReason')
    await n.ask([agent])
    await n.run()
    n.ise.attributes.add('PortcullisReason')
    const q = await n.quarantineOf(agent)
    expect([q.state, q.timeline.at(-1)]).toMatchObject([
      'verified',
      { step: 'attributes', ok: false, message: expect.stringMatching(/PortcullisReason is not defined.*define/) },
    ])
  }, 20_000)

  it('counts as failed if ISE accepts the request without effect, and the request is cleared', async () => {
    const agent = await nacHost(n.t)
    n.ise.knobs.ancIsIdle = true
    await n.ask([agent])
    await n.run()
    expect((await n.quarantineOf(agent)).state).toBe('applied')
    for (let i = 0; i < 6; i++) {
      n.t.clock.advance(33_000)
      await n.run()
    }
    n.ise.knobs.ancIsIdle = false
    const q = await n.quarantineOf(agent)
    expect(q).toMatchObject({ state: 'failed', error: expect.stringMatching(/does not show as quarantined/) })
    expect(n.ise.changes.filter(({ mac }) => mac === macsOf(agent)[0])).toHaveLength(1)
    await n.ok('nac/quarantines/clear', { ids: [q.id] })
    await n.run()
    expect((await n.quarantineOf(agent)).state).toBe('cleared')
  }, 20_000)

  it('fails with a read-only user or an expired certificate', async () => {
    const readOnly = await startIse({ certificate: await n.authority.issue(['localhost']), rights: 'read' })
    const expired = await startIse({ certificate: await n.authority.issue(['localhost'], 'expired') })
    const agent = await nacHost(n.t)
    try {
      for (const [peer, message] of [
        [readOnly, /lacks the permission.* Add the user to the group ERS Admin/],
        [expired, /has expired. Renew it there/],
      ] as const) {
        await n.useIse({ ISE_URL: peer.url })
        await n.ask([agent])
        await n.run()
        expect(await n.quarantineOf(agent)).toMatchObject({ state: 'failed', error: expect.stringMatching(message) })
      }
    } finally {
      await n.useIse()
      await Promise.all([readOnly.close(), expired.close()])
    }
    await n.ok('nac/quarantines/clear', { ids: [(await n.quarantineOf(agent)).id] })
    await n.run()
    expect((await n.quarantineOf(agent)).state).toBe('cleared')
  }, 20_000)

  it('costs few requests, however many other quarantines exist', async () => {
    for (let i = 0; i < 30; i++)
      n.ise.anc.set(`other-${i}`, { mac: `02:00:00:00:01:${String(i + 10)}`, policy: 'Shutdown' })
    const agents = await Promise.all([nacHost(n.t), nacHost(n.t)])
    const asked = (path: RegExp, from: number) => n.ise.seen.slice(from).filter((one) => path.test(one.path))
    const before = n.ise.seen.length
    await n.ask(agents)
    await n.run()
    // Both list the existing ones at once; each id is read once for both.
    const read = asked(/ancendpoint\/other-/, before).map(({ path }) => path)
    expect([read.length, new Set(read).size]).toEqual([30, 30])
    const last = await nacHost(n.t)
    n.ise.addEndpoint(macsOf(last)[0] as string)
    const known = n.ise.seen.length
    await n.ask([last])
    await n.run()
    expect([(await n.quarantineOf(last)).state, n.ise.seen.length - known]).toEqual(['verified', 9])
    for (let i = 0; i < 30; i++) n.ise.anc.delete(`other-${i}`)
  }, 40_000)

  it('is released when its quarantine expires', async () => {
    const agent = await nacHost(n.t)
    await n.ask([agent], { hours: 1 })
    await n.run()
    await n.pass(10_000)
    expect((await n.quarantineOf(agent)).state).toBe('verified')
    n.t.clock.advance(3_600_000)
    await n.pass(5_000)
    const q = await n.quarantineOf(agent)
    expect([q.state, n.ise.policyOf(macsOf(agent)[0] as string)]).toEqual(['cleared', undefined])
    expect(q.timeline.find(({ step }) => step === 'clear')).toMatchObject({
      by: 'system',
      message: 'It expired.',
    })
  }, 20_000)
})

describe('the list of quarantines', () => {
  it('filters, sorts and searches for every profile; only Managers and Administrators change anything', async () => {
    const agent = await nacHost(n.t, { facts: { hostname: 'needle-host' } })
    await n.ask([agent], { reason: 'In the HAYSTACK' })
    await n.run()
    const ids = async (query: string) => (await n.all(`&${query}`)).map(({ hostIdentifier }) => hostIdentifier)
    expect(await ids('hostIdentifier=NEEDLE&state=verified,failed&isActive=true&system=ise&by=adm')).toEqual([
      'needle-host',
    ])
    expect(await ids(`mac=${macsOf(agent)[0]?.toLowerCase()}&isAutomatic=false`)).toEqual(['needle-host'])
    expect(await ids('globalSearch=haystack')).toEqual(['needle-host'])
    expect(await ids('hostIdentifier=needle&isActive=false')).toEqual([])
    const sorted = (await n.all('&SortBy=createdAt_asc')).map(({ createdAt }) => createdAt)
    expect(sorted).toEqual(sorted.toSorted())
    const [user, manager] = [await person(n.t, { profile: 30 }), await person(n.t, { profile: 20 })]
    const list = await user.api.get('/prime/webui/nac/quarantines?PageSize=1')
    expect([list.statusCode, (list.json().data as Quarantine[]).length]).toEqual([200, 1])
    expect((await n.t.as(undefined).get('/prime/webui/nac/quarantines')).statusCode).toBe(401)
    for (const [path, body] of [
      ['quarantines', { agentIds: [agent.agentId], system: 'ise', reason: 'x' }],
      ['quarantines/clear', { ids: ['x'] }],
      ['quarantines/approve', { ids: ['x'] }],
      ['quarantines/dismiss', { ids: ['x'] }],
    ] as const) {
      expect((await user.api.post(`/prime/webui/nac/${path}`, body)).statusCode).toBe(403)
      expect((await manager.api.post(`/prime/webui/nac/${path}`, body)).statusCode).toBe(200)
    }
    for (const path of ['TestISE', 'TestCACT'])
      expect((await manager.api.post(`/prime/webui/generalconfig/${path}`, {})).statusCode).toBe(403)
    expect((await n.t.as(user.token).get('/prime/webui/nac/quarantines?state=gone')).statusCode).toBe(400)
  }, 20_000)
})

describe('the ISE data of a host', () => {
  const read = async (agent: Pick<TestAgent, 'agentId'>) =>
    (await n.t.admin()).get(`/prime/webui/nac/endpoint/${agent.agentId}`)
  it('shows the current state, or why ISE cannot be queried', async () => {
    const agent = await nacHost(n.t, { nics: 2 })
    const [first, second] = macsOf(agent) as [string, string]
    n.ise.addEndpoint(first, { Owner: 'Ada' })
    n.ise.sessions.set(first, { user: 'ada<', address: '10.1.2.3', nas: '10.0.0.1', port: 'Gi1/0/1', server: 'psn-1' })
    const known = (await read(agent)).json() as NacEndpoint
    expect(known.cact).toEqual({ status: 'off', message: '', endpoints: [] })
    expect(known.ise).toEqual({
      status: 'ok',
      message: '',
      endpoints: [
        {
          mac: first,
          isKnown: true,
          groupId: 'Unknown',
          ancPolicy: '',
          attributes: { Owner: 'Ada' },
          session: {
            userName: 'ada<',
            address: '10.1.2.3',
            nasAddress: '10.0.0.1',
            nasPort: 'Gi1/0/1',
            server: 'psn-1',
          },
        },
        { mac: second, isKnown: false, groupId: '', ancPolicy: '', attributes: {}, session: null },
      ],
    })
    n.ise.state.mode = 'page'
    expect(((await read(agent)).json() as NacEndpoint).ise).toMatchObject({
      status: 'failed',
      message: expect.stringMatching(/web page, not with ERS/),
    })
    expect((await read({ agentId: 'nobody' })).statusCode).toBe(404)
  }, 20_000)
})

describe('text from a system', () => {
  const read = async (agentId: string) => (await n.t.admin()).get(`/prime/webui/nac/endpoint/${agentId}`)
  it('is cleaned and limited', async () => {
    const agent = await nacHost(n.t)
    const [mac] = macsOf(agent) as [string]
    const many = Object.fromEntries(Array.from({ length: 100 }, (_, i) => [`a${i}`, `\u202e\n${'x'.repeat(2_000)}`]))
    n.ise.addEndpoint(mac, many).groupId = `g\u0000\u200b${'y'.repeat(2_000)}`
    const [end] = ((await read(agent.agentId)).json() as NacEndpoint).ise.endpoints
    expect(Object.entries(end?.attributes ?? {})).toEqual(
      Array.from({ length: 64 }, (_, i) => [`a${i}`, 'x'.repeat(256)]),
    )
    expect(end?.groupId).toBe(`g ${'y'.repeat(254)}`)
  }, 20_000)

  it('is read by four requests at once; others get a retry time', async () => {
    const agent = await nacHost(n.t)
    n.ise.state.mode = 'silent'
    const answers = await Promise.all(Array.from({ length: 7 }, () => read(agent.agentId)))
    expect(answers.map(({ statusCode }) => statusCode).toSorted()).toEqual([200, 200, 200, 200, 503, 503, 503])
    const refused = answers.find(({ statusCode }) => statusCode === 503)
    expect([refused?.json().code, Number(refused?.headers['retry-after'])]).toEqual(['unavailable', expect.any(Number)])
    // An abort on our side says nothing about ISE: the next request is sent.
    n.ise.state.mode = 'ok'
    expect(((await read(agent.agentId)).json() as NacEndpoint).ise.status).toBe('ok')
  }, 30_000)
})

describe('the test of Cisco ISE', () => {
  const tried = (more: Record<string, string> = {}) => n.ok<ConfigTested>('generalconfig/TestISE', n.iseItems(more))
  it('reports each step, and the cure of a failure', async () => {
    expect((await tried()).steps).toEqual([
      { step: 'Connect', ok: true, message: 'The system answered with a trusted certificate.' },
      { step: 'Sign in', ok: true, message: 'ERS accepted the user name and password.' },
      { step: 'ANC policy', ok: true, message: 'Quarantine exists.' },
      { step: 'Quarantines', ok: true, message: 'Quarantines can be read back.' },
      { step: 'Sessions', ok: true, message: expect.stringMatching(/live session/) },
    ])
    expect(lastStep(await tried({ ISE_PASSWORD: 'wrong' }))).toEqual([
      false,
      'Sign in',
      expect.stringMatching(/rejected the user name or password/),
    ])
    expect(lastStep(await tried({ ISE_ANC_POLICY: 'Nowhere' }))).toEqual([
      false,
      'ANC policy',
      expect.stringMatching(/ANC policy Nowhere does not exist.*Create it/),
    ])
    expect(lastStep(await tried({ ISE_CA: '' }))).toEqual([
      false,
      'Connect',
      expect.stringMatching(/certificate of .* is not trusted/),
    ])
    expect(lastStep(await tried({ ISE_URL: n.ise.url.replace('localhost', '127.0.0.1') }))).toEqual([
      false,
      'Connect',
      expect.stringMatching(/issued for another name/),
    ])
    expect(lastStep(await tried({ ISE_URL: 'https://localhost:1' }))).toEqual([
      false,
      'Connect',
      expect.stringMatching(/Connection refused/),
    ])
    expect(lastStep(await tried({ ISE_URL: 'https://no-such-host.invalid' }))).toEqual([
      false,
      'Connect',
      expect.stringMatching(/does not resolve/),
    ])
    for (const [mode, message] of [
      ['page', /web page, not with ERS. Enable ERS/],
      ['redirect', /redirected the request \(302\)/],
      ['flood', /exceeds 4 MiB/],
      ['failing', /answered 503/],
    ] as const) {
      n.ise.state.mode = mode
      const [isOk, , said] = lastStep(await tried())
      expect([mode, isOk, said]).toEqual([mode, false, expect.stringMatching(message)])
    }
    expect((await n.post('generalconfig/TestISE', n.iseItems({ ISE_URL: '' }))).statusCode).toBe(400)
  }, 30_000)

  it('requires the password again for another address, and never connects to metadata services', async () => {
    const moved = await n.post('generalconfig/TestISE', { ISE_URL: 'https://evil.example.org' })
    expect([moved.statusCode, moved.json().detail]).toEqual([
      400,
      expect.stringMatching(/ISE_PASSWORD: must be entered again/),
    ])
    const [isOk, , said] = lastStep(await tried({ ISE_URL: 'https://169.254.169.254' }))
    expect([isOk, said]).toEqual([false, expect.stringMatching(/does not connect to/)])
    const stored = await n.post(
      'generalconfig/AddOrUpdateISEServer',
      n.iseItems({ ISE_URL: 'https://169.254.169.254' }),
    )
    expect([stored.statusCode, stored.json().code]).toEqual([422, 'destination_refused'])
  })

  it('appears in the health of the server, probed at most every eight seconds', async () => {
    const all = (await (await n.t.admin()).get('/prime/webui/admin/SubsystemHealth')).json() as {
      name: string
      status: string
      description: string
    }[]
    const of = (name: string) => all.find((one) => one.name === name)
    expect(of('CACT')).toMatchObject({ status: 'Unknown', description: 'Not configured' })
    expect(of('ISE')).toMatchObject({ status: 'OK' })
    const health = n.t.server.quarantine.health('ise')
    n.ise.policies.delete('Quarantine')
    const before = n.ise.seen.length
    n.t.clock.advance(7_000)
    expect([(await health()).status, n.ise.seen.length]).toEqual(['OK', before])
    n.t.clock.advance(2_000)
    expect(await health()).toMatchObject({
      status: 'Error',
      description: expect.stringMatching(/The ANC policy .* does not exist/),
    })
    expect(n.ise.seen).toHaveLength(before + 1)
  })
})
