// Invariant: The data that a polled host reports about itself hides no other host.

import { plainKeyboard, storageStick } from '@portcullis/domain/testing'
import { agentlessOf, agentlessBase as base, failure, ok, success } from '@portcullis/server/test/agentless.ts'
import { startTestApp, type TestApp } from '@portcullis/server/test/app.ts'
import { enrolAgent, hostFacts, pageOf } from '@portcullis/server/test/builders.ts'
import { person } from '@portcullis/server/test/people.ts'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import type { Agent, Connection, FleetEvent, Poll, PollResult } from '#features/contract.ts'

const minute = 60_000
let t: TestApp
let agentless: ReturnType<typeof agentlessOf>

beforeAll(async () => {
  t = await startTestApp({ listen: true })
  agentless = agentlessOf(t)
})
afterAll(() => t.close())

describe('a host that is polled', () => {
  it('is listed among the agents after its first poll, with its devices, tags and events, and only once', async () => {
    ok(
      await agentless.post('connectiondetails', {
        computerName: 'Build-7.example.org',
        userName: 'inventory',
        password: 'the password',
        hashtags: ['lab'],
      }),
    )
    expect(await agentless.worker()).toMatchObject({ id: null, status: null, numOfPollers: null, due: 1 })
    const w = await agentless.registerWorker()
    expect(await agentless.worker()).toMatchObject({ adminStatus: 'Pending', status: 'Connected', numOfPollers: 1 })
    expect(await w.lease(4)).toMatchObject({ code: 200, isActivated: false, polls: [] })
    await agentless.activate()
    const { polls } = await w.lease(4)
    expect(polls).toMatchObject([
      {
        host: 'Build-7.example.org',
        port: 22,
        userName: 'inventory',
        password: null,
        isPasswordWithheld: true,
        hostKeyFingerprint: null,
      },
    ])
    const [poll] = polls as [Poll]
    expect(await agentless.status('build-7')).toMatchObject({
      statusString: 'Running',
      statusDescription: 'Resolving the name',
    })
    expect((await w.results([success(poll)])).body).toEqual({ stored: [poll.id], stale: [] })
    const { data } = await pageOf<Agent>(t, 'agents?DeploymentMode=Agentless')
    expect(data).toMatchObject([
      {
        hostIdentifier: 'Build-7.example.org',
        hashtags: 'lab',
        connectionStatus: 'Connected',
        deploymentMode: 'Agentless',
      },
    ])
    const uuid = data[0]?.uuid as string
    expect(await agentless.status('build-7')).toMatchObject({
      statusString: 'Success',
      peripheralsCount: 1,
      uuid,
      platform: 'linux',
    })
    // Sends the same result again, and one of an earlier lease. The server stores neither.
    expect((await w.results([success(poll, [])])).body).toEqual({ stored: [], stale: [poll.id] })

    t.clock.advance(17 * minute)
    const [next] = (await w.lease(1)).polls as [Poll]
    expect(next).toMatchObject({ id: poll.id, platform: 'linux', hostKeyFingerprint: `SHA256:${'a'.repeat(43)}` })
    const keyboard = plainKeyboard({ portPath: '1-2' })
    expect((await w.results([success(poll, []), success(next, [keyboard])])).body).toMatchObject({ stored: [next.id] })
    const devices = await pageOf<{ hierarchy: string; present: boolean }>(
      t,
      `peripherals?hostUuid=${uuid}&SortBy=hierarchy_asc`,
    )
    expect(devices.data.map((d) => [d.hierarchy, d.present])).toEqual([
      ['1-1', false],
      ['1-2', true],
    ])
  })

  it('is polled less often after each failure, shows cause and cure, and is grouped by cause', async () => {
    ok(
      await agentless.post('connectiondetails', {
        connections: [{ computerName: 'down-1', password: 'p', userName: 'u' }],
      }),
    )
    const w = await agentless.registerWorker()
    const waits: number[] = []
    for (let i = 0; i < 4; i++) {
      const [poll] = (await w.lease(8)).polls.filter((one) => one.host === 'down-1') as [Poll]
      await w.results([failure(poll, 'connect-timeout', 'no answer')])
      const next = Date.parse(`${(await agentless.status('down-1')).nextRun}Z`)
      waits.push(Math.round((next - t.clock.now()) / minute))
      t.clock.advance(next - t.clock.now() + 1)
    }
    expect(waits.map((m, i) => Math.abs(m / (15 * 2 ** i) - 1) < 0.2)).toEqual([true, true, true, true])
    const row = await agentless.status('down-1')
    expect(row).toMatchObject({ statusString: 'Failed', statusDescription: 'Failed 4 times in a row', failures: 4 })
    expect(row.statusErrorDescription).toMatch(
      /^The host does not respond \(no answer\)\. Check that the host is running/,
    )
    expect(row.prevRunningErrors.split(' | ')).toHaveLength(3)
    const causes = ok(await (await t.admin()).get(`${base}/connectiondetailsstatus/causes`))
    expect(causes.data).toMatchObject([{ cause: 'connect-timeout', count: 1, computerNames: ['down-1'] }])
    ok(await agentless.post('unregistration', { computerNames: ['down-1'] }))
    expect(ok(await (await t.admin()).get(`${base}/connectiondetailsstatus/causes`)).data).toEqual([])
    expect(await agentless.status('down-1')).toMatchObject({ statusString: 'Unregistered', cause: null, failures: 0 })
    ok(await agentless.post('registration', { computerNames: ['down-1'] }))
  })

  it('counts in errorTotal by its name before its first success', async () => {
    for (const computerName of ['never-1', '192.0.2.7'])
      ok(await agentless.post('connectiondetails', { computerName, password: 'p', userName: 'u' }))
    const errors = async (computerName: string) => {
      const got = ok<{ total: number; recordsTotal: number; data: { hostIdentifier: string; errorsCount: number }[] }>(
        await (await t.admin()).get('/prime/webui/agents/errorTotal?PageSize=1000'),
      )
      expect(got.total).toBe(got.data.reduce((sum, row) => sum + row.errorsCount, 0))
      expect(got.recordsTotal).toBe(got.data.length)
      return got.data.filter((row) => row.hostIdentifier === computerName)
    }
    const w = await agentless.registerWorker()
    const run = async (result: (poll: Poll) => PollResult) => {
      const polls = (await w.lease(30)).polls.filter((one) => ['never-1', '192.0.2.7'].includes(one.host))
      expect(polls).toHaveLength(2)
      await w.results(polls.map(result))
      t.clock.advance(24 * 60 * minute + 1)
    }
    await run((poll) => failure(poll, 'connect-timeout', 'no answer'))
    await run((poll) => failure(poll, 'connection-refused', 'not today'))
    const row = { uuid: '', errorsCount: 2, lastError: expect.stringContaining('not today') }
    expect(await errors('never-1')).toMatchObject([{ ...row, localIpAddress: '' }])
    expect(await errors('192.0.2.7')).toMatchObject([{ ...row, localIpAddress: '192.0.2.7' }])
    // The earlier errors stay with it after it becomes a host.
    await run((poll) =>
      poll.host === 'never-1'
        ? { ...success(poll), facts: hostFacts({ hostname: 'never-1' }) }
        : failure(poll, 'connect-timeout'),
    )
    const { uuid } = await agentless.status('never-1')
    expect(uuid).not.toBe('')
    expect(await errors('never-1')).toMatchObject([{ uuid, errorsCount: 2 }])
    ok(await agentless.post('unregistration', { computerNames: ['never-1', '192.0.2.7'] }))
  })

  it('creates one event if it is lost, returns or shows another key', async () => {
    ok(await agentless.post('connectiondetails', { computerName: 'turns-1', password: 'p', userName: 'u' }))
    const w = await agentless.registerWorker()
    const run = async (result: (poll: Poll) => PollResult) => {
      t.clock.advance(24 * 60 * minute + 1)
      const { polls } = await w.lease(30)
      const { body } = await w.results(
        polls.map((one) => (one.host === 'turns-1' ? result(one) : failure(one, 'connect-timeout'))),
      )
      expect(body).toMatchObject({ stale: [] })
    }
    await run(success)
    await run((poll) => failure(poll, 'connection-refused'))
    await run((poll) => failure(poll, 'connect-timeout'))
    await run(success)
    await run((poll) => failure(poll, 'host-key-changed', 'it shows SHA256:x'))
    await run((poll) => failure(poll, 'host-key-changed', 'it shows SHA256:x'))
    const { uuid } = await agentless.status('turns-1')
    const { data } = await pageOf<FleetEvent>(t, 'events/getevents?PageSize=1000&Category=Agentless')
    const turns = data.filter((event) => event.eventEntityID.startsWith('turns-1'))
    expect(turns.map(({ description }) => description).sort()).toEqual([
      'Computer cannot be polled',
      'Computer is polled again',
      'Computer polled for the first time',
      'Host key of a polled computer changed',
    ])
    const errors = ok<{ data: { uuid: string; errorsCount: number; lastError: string }[] }>(
      await (await t.admin()).get('/prime/webui/agents/errorTotal'),
    )
    expect(errors.data.find((row) => row.uuid === uuid)).toMatchObject({
      errorsCount: 4,
      lastError: expect.stringContaining('The host key changed (it shows SHA256:x)'),
    })
  })

  it('whose worker dies is polled by another one, and the late result is ignored', async () => {
    ok(await agentless.post('connectiondetails', { computerName: 'lost-1', password: 'p', userName: 'u' }))
    const [first, second] = [await agentless.registerWorker(), await agentless.registerWorker()]
    const [poll] = (await first.lease(8)).polls.filter((one) => one.host === 'lost-1') as [Poll]
    expect((await second.lease(8)).polls.filter((one) => one.host === 'lost-1')).toEqual([])
    t.clock.advance(31_000)
    const [again] = (await second.lease(8)).polls.filter((one) => one.host === 'lost-1') as [Poll]
    expect(again.fence).toBe(poll.fence + 1)
    expect((await first.results([success(poll)])).body).toEqual({ stored: [], stale: [poll.id] })
    expect((await first.lease(0, [{ id: poll.id, fence: poll.fence, step: 'read' }])).stop).toEqual([
      { id: poll.id, fence: poll.fence },
    ])
    expect((await second.results([success(again)])).body).toMatchObject({ stored: [poll.id] })
  })

  it('stays one host if it has two names or gets an agent', async () => {
    const machineIdHash = '5e'.repeat(32)
    const facts = hostFacts({ hostname: 'twin', agentVersion: '', enforcement: 'observe' })
    const successAt = (poll: Poll, port: string): PollResult => ({
      ...success(poll, [storageStick({ portPath: port })]),
      machineIdHash,
      facts,
    })
    const w = await agentless.registerWorker()
    const pollOf = async (name: string) => {
      const found = (await w.lease(50)).polls.find((one) => one.host === name)
      expect(found, name).toBeDefined()
      return found as Poll
    }
    ok(await agentless.post('connectiondetails', { computerName: 'twin-a', password: 'p', userName: 'u' }))
    await w.results([successAt(await pollOf('twin-a'), '1-1')])
    t.clock.advance(1_000)
    ok(await agentless.post('connectiondetails', { computerName: 'twin-b', password: 'p', userName: 'u' }))
    await w.results([successAt(await pollOf('twin-b'), '1-2')])
    const [a, b] = [await agentless.status('twin-a'), await agentless.status('twin-b')]
    expect([b.uuid, b.statusString]).toEqual([a.uuid, 'Success'])
    expect(b.statusDescription).toBe('1 device; stored under another name of this host')
    const ports = async () =>
      (await pageOf<{ hierarchy: string }>(t, `peripherals?hostUuid=${a.uuid}&Present=true`)).data.map(
        (d) => d.hierarchy,
      )
    expect(await ports()).toEqual(['1-1'])
    // Without the first name, the second one counts, whatever the fences of the first name.
    ok(await agentless.post('unregistration', { computerNames: ['twin-a'] }))
    t.clock.advance(17 * minute)
    await w.results([successAt(await pollOf('twin-b'), '1-2')])
    expect(await ports()).toEqual(['1-2'])

    // Anyone may know its identifier and name, but the worker reached it at its address.
    const elsewhere = await enrolAgent(t, { machineIdHash, facts: { hostname: 'twin' } })
    expect(elsewhere.agentId).not.toBe(a.uuid)
    t.clock.advance(17 * minute)
    const here = await pollOf('twin-b')
    await w.results([{ ...successAt(here, '1-2'), facts: { ...facts, address: '127.0.0.1' } }])
    const agent = await enrolAgent(t, {
      machineIdHash,
      facts: { hostname: 'twin' },
      devices: [storageStick({ portPath: '1-3' })],
    })
    expect(agent.agentId).toBe(a.uuid)
    t.clock.advance(17 * minute)
    await w.results([successAt(await pollOf('twin-b'), '1-4')])
    expect((await agentless.status('twin-b')).statusDescription).toBe('1 device; reported by the agent on this host')
    expect(await ports()).toEqual(['1-3'])
    expect(ok<Agent>(await (await t.admin()).get(`/prime/webui/agents/agent/${a.uuid}`)).deploymentMode).toBe('Agent')
    // A copy of the machine has the same identifier but another name.
    ok(await agentless.post('connectiondetails', { computerName: 'copy-1', password: 'p', userName: 'u' }))
    const copy = await pollOf('copy-1')
    await w.results([{ ...successAt(copy, '1-1'), facts: { ...facts, hostname: 'copy' } }])
    expect((await agentless.status('copy-1')).uuid).not.toBe(a.uuid)
  })

  it('is listed and reported separately if it claims to be another host', async () => {
    const machineIdHash = '6f'.repeat(32)
    const w = await agentless.registerWorker()
    await agentless.activate()
    const poll = async (name: string, key: string, port: string) => {
      const hostKeyFingerprint = `SHA256:${key.repeat(43)}`
      const login = { password: 'p', userName: 'u', hostKeyFingerprint }
      ok(await agentless.post('connectiondetails', { computerName: name, ...login }))
      const found = (await w.lease(50)).polls.find((one) => one.host === name) as Poll
      const facts = hostFacts({ hostname: 'victim', agentVersion: '', enforcement: 'observe' })
      const devices = [storageStick({ portPath: port })]
      await w.results([{ ...success(found, devices), machineIdHash, facts, hostKeyFingerprint }])
      return agentless.status(name)
    }
    const victim = await poll('victim-1', 'v', '1-1')
    const liar = await poll('liar-1', 'l', '1-2')
    expect([liar.statusDescription, liar.uuid === victim.uuid]).toEqual(['1 device', false])
    const { data } = await pageOf<FleetEvent>(t, 'events/getevents?PageSize=1000')
    expect(
      data.some(
        (event) => event.description === 'Possible duplicate of a known host' && event.details.includes('victim'),
      ),
    ).toBe(true)
    // An agent with another name and the same identifier does not take over a polled host either.
    const clone = await enrolAgent(t, { machineIdHash, facts: { hostname: 'clone' } })
    expect([victim.uuid, liar.uuid]).not.toContain(clone.agentId)
    // Another machine now uses the name, so it is another host.
    t.clock.advance(17 * minute)
    const again = (await w.lease(50)).polls.find((one) => one.host === 'victim-1') as Poll
    const facts = hostFacts({ hostname: 'newcomer', agentVersion: '', enforcement: 'observe' })
    await w.results([{ ...success(again), machineIdHash: '70'.repeat(32), facts }])
    expect((await agentless.status('victim-1')).uuid).not.toBe(victim.uuid)
  })

  it('is polled at its configured address and with its configured account, whatever it reports', async () => {
    const w = await agentless.registerWorker()
    await agentless.activate()
    const hostKeyFingerprint = `SHA256:${'f'.repeat(43)}`
    const login = { userName: 'inventory', password: 'p', hostKeyFingerprint }
    ok(await agentless.post('connectiondetails', { computerName: 'fixed-1', port: 2222, ...login }))
    const first = (await w.lease(50)).polls.find(({ host }) => host === 'fixed-1') as Poll
    const text = "'; reboot; 'root@192.0.2.66"
    const facts = hostFacts({ hostname: text, address: '192.0.2.66', agentVersion: '', enforcement: 'observe' })
    const steps = [{ step: 'read' as const, ok: true, ms: 1, message: text }]
    const stored = await w.results([{ ...success(first), facts, steps, message: text, hostKeyFingerprint }])
    expect(stored.body).toMatchObject({ stored: [first.id] })
    t.clock.advance(17 * minute)
    const again = (await w.lease(50)).polls.find(({ id }) => id === first.id)
    expect(again).toEqual({ ...first, fence: first.fence + 1, platform: 'linux' })
    expect(again).toMatchObject({ host: 'fixed-1', port: 2222, userName: 'inventory', password: 'p' })
  })

  it('gets its password only after a person confirmed its host key', async () => {
    const manager = await person(t, { profile: 20 })
    const [key, other] = ['k', 'o'].map((c) => `SHA256:${c.repeat(43)}`) as [string, string]
    const own = { password: 'p', userName: 'u' }
    for (const name of ['pin-1', 'pin-2', 'pin-3'])
      ok(await agentless.post('connectiondetails', { computerName: name, ...own }))
    ok(await agentless.post('connectiondetails', { computerName: 'pin-4', hostKeyFingerprint: '' }))
    const w = await agentless.registerWorker()
    const leased = async () => {
      t.clock.advance(24 * 60 * minute)
      return new Map((await w.lease(50)).polls.map((one) => [one.host, one]))
    }
    const polls = await leased()
    expect(polls.get('pin-1')).toMatchObject({ password: null, isPasswordWithheld: true, hostKeyFingerprint: null })
    for (const name of ['pin-1', 'pin-2', 'pin-4'])
      await w.results([{ ...failure(polls.get(name) as Poll, 'host-key-unconfirmed'), hostKeyFingerprint: key }])
    const shown = async (name: string) =>
      (await pageOf<Connection>(t, `agents/agentless/connectiondetails?ComputerName=${name}`)).data.map((one) => [
        one.hostKeyFingerprint,
        one.shownHostKeyFingerprint,
      ])[0]
    expect(await shown('pin-1')).toEqual(['', key])
    expect((await agentless.status('pin-1')).statusErrorDescription).toContain('Confirm the host key')
    // After another poll, it still gets no password.
    expect((await leased()).get('pin-1')).toMatchObject({ password: null, hostKeyFingerprint: null })

    // Sessions expire when the clock advances by days.
    const managing = async () => t.as(await t.signIn(manager.userName, manager.password))
    const confirm = async (body: unknown, api?: Awaited<ReturnType<TestApp['admin']>>) =>
      (api ?? (await managing())).post(`${base}/connectiondetails/confirmhostkeys`, body)
    expect((await confirm({})).statusCode).toBe(400)
    expect(ok(await confirm({ hosts: [{ computerName: 'pin-1', hostKeyFingerprint: other }] }))).toMatchObject({
      confirmed: [],
      different: [{ computerName: 'pin-1', shown: key }],
    })
    expect(await shown('pin-1')).toEqual(['', key])
    expect(ok(await confirm({ hosts: [{ computerName: 'PIN-1', hostKeyFingerprint: key }] }))).toMatchObject({
      confirmed: ['pin-1'],
    })
    expect(await shown('pin-1')).toEqual([key, ''])
    expect((await leased()).get('pin-1')).toMatchObject({ password: 'p', hostKeyFingerprint: key })

    const list = [
      '# a list to compare',
      `pin-2 ${other}`,
      `256 ${key} pin-2 (ED25519)`,
      `pin-3 ${key}`,
      `nowhere ${key}`,
      'nonsense',
      '|1|aGFzaGVk|bmFtZQ== ssh-ed25519 AAAAC3NzaC1lZDI1NTE5AAAAIBvW2Uq1nT9H0V5c2z2c7l3y9l3r0h6b7j8k9m0n1p2q',
    ].join('\n')
    expect(ok(await confirm({ list }))).toEqual({
      confirmed: ['pin-2'],
      different: [],
      notShown: ['pin-3'],
      unknown: 1,
      unreadableLines: [6, 7],
    })
    // Only an Administrator may release the default credentials.
    const ofDefaults = { hosts: [{ computerName: 'pin-4', hostKeyFingerprint: key }] }
    expect((await confirm(ofDefaults)).json().code).toBe('forbidden_object')
    expect(ok(await confirm(ofDefaults, await t.admin()))).toMatchObject({ confirmed: ['pin-4'] })
    const trail = (await (await t.admin()).get('/prime/webui/events/GetAuditsIntegration?PageSize=50')).body
    expect(trail).toContain('connection.host_key_confirmed')
  })

  it('is pinned after a sign-in with a private key, and another host key is reported', async () => {
    const privateKey = '-----BEGIN OPENSSH PRIVATE KEY-----\nx\n-----END OPENSSH PRIVATE KEY-----'
    ok(await agentless.post('connectiondetails', { computerName: 'keyed-1', userName: 'u', privateKey }))
    const w = await agentless.registerWorker()
    const next = async () => {
      t.clock.advance(24 * 60 * minute)
      return (await w.lease(50)).polls.find((one) => one.host === 'keyed-1') as Poll
    }
    const [key, other] = ['k', 'o'].map((c) => `SHA256:${c.repeat(43)}`) as [string, string]
    await w.results([{ ...success(await next()), hostKeyFingerprint: key }])
    const poll = await next()
    expect(poll.hostKeyFingerprint).toBe(key)
    await w.results([
      { ...failure(poll, 'host-key-changed', `expected ${key}, it shows ${other}`), hostKeyFingerprint: other },
    ])
    expect((await agentless.status('keyed-1')).statusErrorDescription).toContain(`expected ${key}, it shows ${other}`)
    expect((await next()).hostKeyFingerprint).toBe(key)
  })

  it('gets no password on a key that is only trusted on first use, whoever uploads the list', async () => {
    const privateKey = '-----BEGIN OPENSSH PRIVATE KEY-----\nx\n-----END OPENSSH PRIVATE KEY-----'
    const secrets = { userName: 'u', privateKey, password: 'the fleet password' }
    ok(await agentless.put('workerpollerdetails', { defaults: secrets }))
    ok(await agentless.post('connectiondetails', { computerName: 'first-own', ...secrets }))
    ok(await agentless.post('connectiondetails', { computerName: 'first-defaults' }))
    const w = await agentless.registerWorker()
    const names = ['first-own', 'first-defaults']
    const next = async () => {
      t.clock.advance(24 * 60 * minute)
      const { polls } = await w.lease(50)
      return names.map((name) => polls.find((one) => one.host === name) as Poll)
    }
    const [key, other] = ['k', 'o'].map((c) => `SHA256:${c.repeat(43)}`) as [string, string]
    // An impostor can accept any private key once and ask for the password in the next poll.
    for (const poll of await next()) {
      expect(poll).toMatchObject({ hostKeyFingerprint: null, password: null, isPasswordWithheld: true })
      await w.results([{ ...success(poll), hostKeyFingerprint: key }])
    }
    for (const poll of await next()) {
      expect(poll).toMatchObject({ hostKeyFingerprint: key, password: null, privateKey, isPasswordWithheld: true })
      await w.results([{ ...failure(poll, 'host-key-unconfirmed'), hostKeyFingerprint: key }])
    }
    const trusted = async (list: string, trust: string) =>
      (await pageOf<Connection>(t, `agents/agentless/${list}?ComputerName=first-&HostKeyTrust=${trust}`)).data.map(
        (one) => one.computerName,
      )
    for (const list of ['connectiondetails', 'connectiondetailsstatus'])
      expect([await trusted(list, 'FirstUse'), await trusted(list, 'Confirmed')]).toEqual([
        ['first-defaults', 'first-own'],
        [],
      ])

    const confirm = async (list: string, api: Awaited<ReturnType<TestApp['admin']>>) =>
      api.post(`${base}/connectiondetails/confirmhostkeys`, { list })
    const both = names.map((name) => `${name} ${key}`).join('\n')
    // An API token cannot say where a stored password goes: neither by a list, nor in the connection.
    const made = ok<{ token: string }>(
      await (await t.admin()).post('/prime/webui/admin/apiTokens', {
        name: 'robot',
        scopes: ['fleet:read', 'fleet:write'],
      }),
    )
    const robot = t.as(made.token)
    expect((await confirm(`first-own ${key}`, robot)).json().code).toBe('session_required')
    ok(await robot.put(`${base}/connectiondetails`, { computerName: 'first-own', hostKeyFingerprint: key }))
    const manager = await person(t, { profile: 20 })
    expect((await confirm(both, manager.api)).json().code).toBe('forbidden_object')
    ok(await manager.api.put(`${base}/connectiondetails`, { computerName: 'first-defaults', hostKeyFingerprint: key }))
    expect(ok(await confirm(names.map((name) => `${name} ${other}`).join('\n'), await t.admin()))).toMatchObject({
      confirmed: [],
      different: names.map((computerName) => ({ computerName, shown: key })).reverse(),
    })
    expect((await next()).map((poll) => poll.password)).toEqual([null, null])
    expect(ok(await confirm(both, await t.admin()))).toMatchObject({ confirmed: ['first-defaults', 'first-own'] })
    expect(await trusted('connectiondetailsstatus', 'Confirmed')).toEqual(['first-defaults', 'first-own'])
    for (const poll of await next()) {
      expect(poll).toMatchObject({ hostKeyFingerprint: key, password: 'the fleet password' })
      expect(poll.isPasswordWithheld).toBeUndefined()
    }
    // A Manager who confirmed a key for other credentials does not get the default password sent to it.
    const own = { computerName: 'first-defaults', userName: 'm', password: 'p', hostKeyFingerprint: other }
    const managing = t.as(await t.signIn(manager.userName, manager.password))
    ok(await managing.put(`${base}/connectiondetails`, own))
    ok(await managing.put(`${base}/connectiondetails`, { computerName: own.computerName, isOverrideDefaults: false }))
    expect((await next())[1]?.password).toBeNull()
    ok(await agentless.put('workerpollerdetails', { defaults: { password: '', privateKey: '' } }))
  })

  it('cannot be kept forever by a worker that only reports that it runs', async () => {
    ok(await agentless.post('connectiondetails', { computerName: 'kept-1', password: 'p', userName: 'u' }))
    const [holder, other] = [await agentless.registerWorker(), await agentless.registerWorker()]
    const poll = (await holder.lease(50)).polls.find((one) => one.host === 'kept-1') as Poll
    let stop: unknown[] = []
    for (let i = 0; i < 10; i++) {
      t.clock.advance(20_000)
      stop = (await holder.lease(0, [{ id: poll.id, fence: poll.fence, step: 'read' }])).stop
    }
    expect(stop).toEqual([{ id: poll.id, fence: poll.fence }])
    expect((await other.lease(50)).polls.some((one) => one.host === 'kept-1')).toBe(true)
  })

  it('gets the default password only after an Administrator confirmed it, but always the default key', async () => {
    const manager = await person(t, { profile: 20 })
    const key = '-----BEGIN OPENSSH PRIVATE KEY-----\nx\n-----END OPENSSH PRIVATE KEY-----'
    const defaults = { userName: 'svc', password: 'the default secret', privateKey: key }
    ok(await agentless.put('workerpollerdetails', { defaults }))
    const hostKeyFingerprint = `SHA256:${'a'.repeat(43)}`
    for (const computerName of ['evil-1', 'evil-2'])
      ok(await manager.api.post(`${base}/connectiondetails`, { computerName, hostKeyFingerprint }))
    ok(await manager.api.post(`${base}/connectiondetails/test`, { computerName: 'evil-3', hostKeyFingerprint }))
    ok(await agentless.post('connectiondetails', { computerName: 'good-1', hostKeyFingerprint }))
    ok(await agentless.post('registration', { computerNames: ['evil-1'] }))
    expect(
      (await manager.api.put(`${base}/connectiondetails`, { computerName: 'evil-2', isConfirmed: true })).statusCode,
    ).toBe(403)
    expect(ok(await agentless.put('connectiondetails', { computerName: 'evil-2', isConfirmed: true }))).toMatchObject({
      isConfirmed: true,
      hostKeyTrust: 'FirstUse',
    })
    const pinned = { hosts: [{ computerName: 'evil-2', hostKeyFingerprint }] }
    ok(await agentless.post('connectiondetails/confirmhostkeys', pinned))
    ok(await manager.api.put(`${base}/connectiondetails`, { computerName: 'good-1', newComputerName: 'evil-4' }))
    const w = await agentless.registerWorker()
    const { polls } = await w.lease(50)
    const given = new Map(polls.map((one) => [one.host, [one.userName, one.password, one.privateKey === key]]))
    expect(['evil-1', 'evil-2', 'evil-3', 'evil-4'].map((name) => given.get(name))).toEqual([
      ['svc', null, true],
      ['svc', 'the default secret', true],
      ['svc', null, true],
      ['svc', null, true],
    ])
    ok(await agentless.put('workerpollerdetails', { defaults: { password: '', privateKey: '' } }))
  })

  it('whose connection is deleted becomes disconnected and stays listed', async () => {
    const { uuid } = await agentless.status('copy-1')
    const host = async () => ok<Agent>(await (await t.admin()).get(`/prime/webui/agents/agent/${uuid}`))
    expect((await host()).connectionStatus).toBe('Connected')
    ok(await (await t.admin()).delete(`${base}/connectiondetails?computerName=copy-1`))
    expect((await host()).connectionStatus).toBe('Disconnected')
  })

  it('is no longer polled after it was deleted from the agents', async () => {
    const uuid = (await agentless.status('lost-1')).uuid
    ok(await (await t.admin()).post('/prime/webui/agents/deleteAgents', [uuid]))
    expect(await agentless.status('lost-1')).toMatchObject({ statusString: 'Unregistered', nextRun: null, uuid: '' })
  })
})

describe('the worker', () => {
  it('stops when it is deactivated or deleted, and its token works once', async () => {
    const w = await agentless.registerWorker()
    expect((await w.register(w.token)).status).toBe(403)
    await agentless.activate(false)
    expect(await w.lease(8)).toMatchObject({ isActivated: false, polls: [] })
    expect(ok(await (await t.admin()).delete(`${base}/workerpollerdetails`))).toEqual({ deleted: true })
    expect((await w.lease(8)).code).toBe(401)
    expect(await agentless.worker()).toMatchObject({ id: null, adminStatus: null })
    const health = ok<{ name: string; status: string; description: string }[]>(
      await (await t.admin()).get('/prime/webui/admin/SubsystemHealth'),
    )
    expect(health.find(({ name }) => name === 'agentless worker')).toMatchObject({
      status: 'Warning',
      description: expect.stringContaining('not activated'),
    })
  })
})
