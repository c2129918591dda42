import type { AddressInfo } from 'node:net'
import type {
  Agent,
  Connection,
  ConnectionStatus,
  ConnectionTest,
  FleetEvent,
  Poll,
  PollResult,
  ResponseOf,
  uploadConnections,
  WorkerLeaseRequest,
  WorkerLeaseResponse,
  WorkerPollerDetails,
} from '@portcullis/contract'
import { plainKeyboard, storageStick } from '@portcullis/domain/testing'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { raw, sql } from '#platform/db/sql.ts'
import { startTestApp, type TestApp } from '#test/app.ts'
import { enrolAgent, hostFacts, pageOf } from '#test/builders.ts'
import { person } from '#test/people.ts'

const base = '/prime/webui/agents/agentless'
const minute = 60_000
let t: TestApp
beforeAll(async () => {
  t = await startTestApp({ listen: true })
})
afterAll(() => t.close())

// biome-ignore lint/suspicious/noExplicitAny: answers are checked against the contract by the app itself
const ok = <T = any>(answer: { statusCode: number; body: string; json(): unknown }): T => {
  expect(answer.statusCode, answer.body).toBe(200)
  return answer.json() as T
}
const serverUrl = (): string => `http://127.0.0.1:${(t.app.fastify.server.address() as AddressInfo).port}`
const post = async (path: string, body: unknown) => (await t.admin()).post(`${base}/${path}`, body)
const put = async (path: string, body: unknown) => (await t.admin()).put(`${base}/${path}`, body)
const status = async (name: string): Promise<ConnectionStatus> =>
  (await pageOf<ConnectionStatus>(t, `agents/agentless/connectiondetailsstatus?ComputerName=${name}`))
    .data[0] as ConnectionStatus
const worker = async (): Promise<WorkerPollerDetails> => ok(await (await t.admin()).get(`${base}/workerpollerdetails`))

/** A worker process as the server sees it. */
const registerWorker = async () => {
  const { token } = ok(await post('workerpollerdetails/token', undefined))
  const call = async (path: string, body: unknown, key?: string) => {
    const answer = await fetch(`${serverUrl()}/worker/v1/${path}`, {
      method: 'POST',
      headers: { 'content-type': 'application/json', ...(key === undefined ? {} : { authorization: `Bearer ${key}` }) },
      body: JSON.stringify(body),
    })
    return { status: answer.status, body: await answer.json() }
  }
  const registered = await call('register', { token, name: 'worker-1', version: '1.0.0' })
  expect(registered.status).toBe(200)
  const { key } = registered.body as { key: string }
  return {
    token,
    register: (again: string) => call('register', { token: again, name: 'again', version: '1' }),
    lease: async (free: number, running: WorkerLeaseRequest['running'] = []) => {
      const { status: code, body } = await call('lease', { free, capacity: 8, running, version: '1.0.0', cpu: 1 }, key)
      return { ...(body as WorkerLeaseResponse), code }
    },
    results: (results: PollResult[]) => call('results', { results }, key),
  }
}
const success = (poll: Poll, devices = [storageStick({ portPath: '1-1' })]): PollResult => ({
  id: poll.id,
  fence: poll.fence,
  durationMs: 120,
  failure: null,
  message: '',
  hostKeyFingerprint: `SHA256:${'a'.repeat(43)}`,
  platform: 'linux',
  machineIdHash: null,
  facts: hostFacts({ hostname: poll.host, agentVersion: '', enforcement: 'observe' }),
  devices,
  steps: [],
})
const failure = (poll: Poll, cause: PollResult['failure'], message = ''): PollResult => ({
  ...success(poll),
  failure: cause,
  message,
  hostKeyFingerprint: null,
  platform: null,
  facts: null,
  devices: [],
})
const activate = async (isActivated = true) =>
  ok(await put('workerpollerdetails/activatedstatus', { id: (await worker()).id, isActivated }))

describe('a host that is polled', () => {
  it('is among the agents after its first poll, with its devices, tags and events, and stored once', async () => {
    ok(
      await post('connectiondetails', {
        computerName: 'Build-7.example.org',
        userName: 'inventory',
        password: 'the password',
        hashtags: ['lab'],
      }),
    )
    expect(await worker()).toMatchObject({ id: null, status: null, numOfPollers: null, due: 1 })
    const w = await registerWorker()
    expect(await worker()).toMatchObject({ adminStatus: 'Pending', status: 'Connected', numOfPollers: 1 })
    expect(await w.lease(4)).toMatchObject({ code: 200, isActivated: false, polls: [] })
    await activate()
    const { polls } = await w.lease(4)
    expect(polls).toMatchObject([
      {
        host: 'Build-7.example.org',
        port: 22,
        userName: 'inventory',
        password: 'the password',
        hostKeyFingerprint: null,
      },
    ])
    const [poll] = polls as [Poll]
    expect(await status('build-7')).toMatchObject({ statusString: 'Running', statusDescription: 'Looks the name up' })
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
    expect(await status('build-7')).toMatchObject({
      statusString: 'Success',
      peripheralsCount: 1,
      uuid,
      platform: 'linux',
    })
    // The same result once more, and one of a lease before: nothing of them is stored.
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

  it('that fails is put off the longer the oftener, says why and what helps, and is grouped by cause', async () => {
    ok(await post('connectiondetails', { connections: [{ computerName: 'down-1', password: 'p', userName: 'u' }] }))
    const w = await registerWorker()
    const waits: number[] = []
    for (let i = 0; i < 4; i++) {
      const [poll] = (await w.lease(8)).polls.filter((one) => one.host === 'down-1') as [Poll]
      await w.results([failure(poll, 'connect-timeout', 'no answer')])
      const next = Date.parse(`${(await status('down-1')).nextRun}Z`)
      waits.push(Math.round((next - t.clock.now()) / minute))
      t.clock.advance(next - t.clock.now() + 1)
    }
    expect(waits.map((m, i) => Math.abs(m / (15 * 2 ** i) - 1) < 0.2)).toEqual([true, true, true, true])
    const row = await status('down-1')
    expect(row).toMatchObject({ statusString: 'Failed', statusDescription: 'Failed 4 times in a row', failures: 4 })
    expect(row.statusErrorDescription).toMatch(/^The host does not answer \(no answer\)\. See that the host is on/)
    expect(row.prevRunningErrors.split(' | ')).toHaveLength(3)
    const causes = ok(await (await t.admin()).get(`${base}/connectiondetailsstatus/causes`))
    expect(causes.data).toMatchObject([{ cause: 'connect-timeout', count: 1, computerNames: ['down-1'] }])
    ok(await post('unregistration', { computerNames: ['down-1'] }))
    expect(ok(await (await t.admin()).get(`${base}/connectiondetailsstatus/causes`)).data).toEqual([])
    expect(await status('down-1')).toMatchObject({ statusString: 'Unregistered', cause: null, failures: 0 })
    ok(await post('registration', { computerNames: ['down-1'] }))
  })

  it('that is lost, comes back or shows another key is told of once', async () => {
    ok(await post('connectiondetails', { computerName: 'turns-1', password: 'p', userName: 'u' }))
    const w = await registerWorker()
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
    const { uuid } = await status('turns-1')
    const { data } = await pageOf<FleetEvent>(t, 'events/getevents?PageSize=1000&Category=Agentless')
    const told = data.filter((event) => event.eventEntityID.startsWith('turns-1'))
    expect(told.map(({ description }) => description).sort()).toEqual([
      'Computer can not be polled any more',
      'Computer is polled again',
      'Computer polled for the first time',
      'Host key of a polled computer is another one',
    ])
    const errors = ok<{ data: { uuid: string; errorsCount: number; lastError: string }[] }>(
      await (await t.admin()).get('/prime/webui/agents/errorTotal'),
    )
    expect(errors.data.find((row) => row.uuid === uuid)).toMatchObject({
      errorsCount: 4,
      lastError: expect.stringContaining('The host key is another one (it shows SHA256:x)'),
    })
  })

  it('whose worker dies is polled again by another one, and the late result counts for nothing', async () => {
    ok(await post('connectiondetails', { computerName: 'lost-1', password: 'p', userName: 'u' }))
    const [first, second] = [await registerWorker(), await registerWorker()]
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

  it('is one host however it is reached: by two names, and when it gets an agent', async () => {
    const machineIdHash = '5e'.repeat(32)
    const facts = hostFacts({ hostname: 'twin', agentVersion: '', enforcement: 'observe' })
    const said = (poll: Poll, port: string): PollResult => ({
      ...success(poll, [storageStick({ portPath: port })]),
      machineIdHash,
      facts,
    })
    const w = await registerWorker()
    const pollOf = async (name: string) => {
      const found = (await w.lease(50)).polls.find((one) => one.host === name)
      expect(found, name).toBeDefined()
      return found as Poll
    }
    ok(await post('connectiondetails', { computerName: 'twin-a', password: 'p', userName: 'u' }))
    await w.results([said(await pollOf('twin-a'), '1-1')])
    t.clock.advance(1_000)
    ok(await post('connectiondetails', { computerName: 'twin-b', password: 'p', userName: 'u' }))
    await w.results([said(await pollOf('twin-b'), '1-2')])
    const [a, b] = [await status('twin-a'), await status('twin-b')]
    expect([b.uuid, b.statusString]).toEqual([a.uuid, 'Success'])
    expect(b.statusDescription).toBe('1 device; counted under another name of this host')
    const ports = async () =>
      (await pageOf<{ hierarchy: string }>(t, `peripherals?hostUuid=${a.uuid}&Present=true`)).data.map(
        (d) => d.hierarchy,
      )
    expect(await ports()).toEqual(['1-1'])
    // Without the first name, the second one counts, whatever the fences of the first were.
    ok(await post('unregistration', { computerNames: ['twin-a'] }))
    t.clock.advance(17 * minute)
    await w.results([said(await pollOf('twin-b'), '1-2')])
    expect(await ports()).toEqual(['1-2'])

    const agent = await enrolAgent(t, {
      machineIdHash,
      facts: { hostname: 'twin' },
      devices: [storageStick({ portPath: '1-3' })],
    })
    expect(agent.agentId).toBe(a.uuid)
    t.clock.advance(17 * minute)
    await w.results([said(await pollOf('twin-b'), '1-4')])
    expect((await status('twin-b')).statusDescription).toBe('1 device; an agent runs there, and its reports count')
    expect(await ports()).toEqual(['1-3'])
    expect(ok<Agent>(await (await t.admin()).get(`/prime/webui/agents/agent/${a.uuid}`)).deploymentMode).toBe('Agent')
    // A copy of the machine has its identifier, and a name of its own.
    ok(await post('connectiondetails', { computerName: 'copy-1', password: 'p', userName: 'u' }))
    const copy = await pollOf('copy-1')
    await w.results([{ ...said(copy, '1-1'), facts: { ...facts, hostname: 'copy' } }])
    expect((await status('copy-1')).uuid).not.toBe(a.uuid)
  })

  it('that only says to be another one hides nothing: it is shown beside it, and named', async () => {
    const machineIdHash = '6f'.repeat(32)
    const w = await registerWorker()
    const poll = async (name: string, key: string, port: string) => {
      ok(await post('connectiondetails', { computerName: name, password: 'p', userName: 'u' }))
      const found = (await w.lease(50)).polls.find((one) => one.host === name) as Poll
      const facts = hostFacts({ hostname: 'victim', agentVersion: '', enforcement: 'observe' })
      const devices = [storageStick({ portPath: port })]
      await w.results([
        { ...success(found, devices), machineIdHash, facts, hostKeyFingerprint: `SHA256:${key.repeat(43)}` },
      ])
      return status(name)
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
    // An agent of another name that shares the identifier does not take a polled host over either.
    const clone = await enrolAgent(t, { machineIdHash, facts: { hostname: 'clone' } })
    expect([victim.uuid, liar.uuid]).not.toContain(clone.agentId)
    // Another machine answers by the name: it is another host from now on.
    t.clock.advance(17 * minute)
    const again = (await w.lease(50)).polls.find((one) => one.host === 'victim-1') as Poll
    const facts = hostFacts({ hostname: 'newcomer', agentVersion: '', enforcement: 'observe' })
    await w.results([{ ...success(again), machineIdHash: '70'.repeat(32), facts }])
    expect((await status('victim-1')).uuid).not.toBe(victim.uuid)
  })

  it('is pinned by its first contact, even when that one fails', async () => {
    ok(await post('connectiondetails', { computerName: 'pin-1', password: 'p', userName: 'u' }))
    const w = await registerWorker()
    const poll = (await w.lease(50)).polls.find((one) => one.host === 'pin-1') as Poll
    const key = `SHA256:${'k'.repeat(43)}`
    await w.results([{ ...failure(poll, 'sign-in-refused'), hostKeyFingerprint: key }])
    t.clock.advance(24 * 60 * minute)
    expect((await w.lease(50)).polls.find((one) => one.host === 'pin-1')).toMatchObject({ hostKeyFingerprint: key })
  })

  it('can not be kept for ever by a worker that only says it runs', async () => {
    ok(await post('connectiondetails', { computerName: 'kept-1', password: 'p', userName: 'u' }))
    const [holder, other] = [await registerWorker(), await registerWorker()]
    const poll = (await holder.lease(50)).polls.find((one) => one.host === 'kept-1') as Poll
    let stop: unknown[] = []
    for (let i = 0; i < 10; i++) {
      t.clock.advance(20_000)
      stop = (await holder.lease(0, [{ id: poll.id, fence: poll.fence, step: 'read' }])).stop
    }
    expect(stop).toEqual([{ id: poll.id, fence: poll.fence }])
    expect((await other.lease(50)).polls.some((one) => one.host === 'kept-1')).toBe(true)
  })

  it('gets the default password only when an Administrator has confirmed it, the default key always', async () => {
    const manager = await person(t, { profile: 20 })
    const key = '-----BEGIN OPENSSH PRIVATE KEY-----\nx\n-----END OPENSSH PRIVATE KEY-----'
    const defaults = { userName: 'svc', password: 'the default secret', privateKey: key }
    ok(await put('workerpollerdetails', { defaults }))
    for (const computerName of ['evil-1', 'evil-2'])
      ok(await manager.api.post(`${base}/connectiondetails`, { computerName }))
    ok(await manager.api.post(`${base}/connectiondetails/test`, { computerName: 'evil-3' }))
    ok(await post('connectiondetails', { computerName: 'good-1' }))
    ok(await post('registration', { computerNames: ['evil-1'] }))
    expect(
      (await manager.api.put(`${base}/connectiondetails`, { computerName: 'evil-2', isConfirmed: true })).statusCode,
    ).toBe(403)
    expect(ok(await put('connectiondetails', { computerName: 'evil-2', isConfirmed: true }))).toMatchObject({
      isConfirmed: true,
    })
    ok(await manager.api.put(`${base}/connectiondetails`, { computerName: 'good-1', newComputerName: 'evil-4' }))
    const w = await registerWorker()
    const { polls } = await w.lease(50)
    const given = new Map(polls.map((one) => [one.host, [one.userName, one.password, one.privateKey === key]]))
    expect(['evil-1', 'evil-2', 'evil-3', 'evil-4'].map((name) => given.get(name))).toEqual([
      ['svc', null, true],
      ['svc', 'the default secret', true],
      ['svc', null, true],
      ['svc', null, true],
    ])
    ok(await put('workerpollerdetails', { defaults: { password: '', privateKey: '' } }))
  })

  it('whose connection is deleted is disconnected, and stays', async () => {
    const { uuid } = await status('copy-1')
    const host = async () => ok<Agent>(await (await t.admin()).get(`/prime/webui/agents/agent/${uuid}`))
    expect((await host()).connectionStatus).toBe('Connected')
    ok(await (await t.admin()).delete(`${base}/connectiondetails?computerName=copy-1`))
    expect((await host()).connectionStatus).toBe('Disconnected')
  })

  it('deleted among the agents is not polled any more', async () => {
    const uuid = (await status('lost-1')).uuid
    ok(await (await t.admin()).post('/prime/webui/agents/deleteAgents', [uuid]))
    expect(await status('lost-1')).toMatchObject({ statusString: 'Unregistered', nextRun: null, uuid: '' })
  })
})

describe('the worker', () => {
  it('ends when it is deactivated or deleted, and its token serves once', async () => {
    const w = await registerWorker()
    expect((await w.register(w.token)).status).toBe(403)
    await activate(false)
    expect(await w.lease(8)).toMatchObject({ isActivated: false, polls: [] })
    expect(ok(await (await t.admin()).delete(`${base}/workerpollerdetails`))).toEqual({ deleted: true })
    expect((await w.lease(8)).code).toBe(401)
    expect(await worker()).toMatchObject({ id: null, adminStatus: null })
    const health = ok<{ name: string; status: string; description: string }[]>(
      await (await t.admin()).get('/prime/webui/admin/SubsystemHealth'),
    )
    expect(health.find(({ name }) => name === 'agentless worker')).toMatchObject({
      status: 'Warning',
      description: expect.stringContaining('not activated'),
    })
  })
})

describe('connections', () => {
  it('are refused with a message that says which, and nothing is stored', async () => {
    const total = async () => (await pageOf<Connection>(t, 'agents/agentless/connectiondetails')).recordsTotal
    const before = await total()
    for (const [body, message] of [
      [{ computerName: 'a b' }, 'body.computerName is neither'],
      [{ computerName: '999.1.1.1' }, 'body.computerName is neither'],
      [{ computerName: '169.254.169.254' }, 'body.computerName is an address of a cloud'],
      [{ computerName: '::ffff:169.254.169.254' }, 'body.computerName is an address of a cloud'],
      [{ computerName: 'x', privateKey: 'ssh-rsa AAAA' }, 'body.privateKey is no private key'],
      [{ connections: [{ computerName: 'ok-1' }, { computerName: '' }] }, 'body.connections[1].computerName is empty'],
      [{ connections: [{ computerName: 'ok-1' }, { computerName: 'OK-1.' }] }, 'is there twice'],
      [{ computerName: 'x', connections: [] }, 'either one connection or connections'],
    ] as const) {
      const answer = await post('connectiondetails', body)
      expect([answer.statusCode, answer.json().detail.replace(': ', ' ')]).toEqual([
        400,
        expect.stringContaining(message),
      ])
    }
    expect((await post('connectiondetails', { computerName: 'BUILD-7.example.org' })).statusCode).toBe(409)
    expect(await total()).toBe(before)
  })

  it('never show a secret, not in the database either, and ask for it again before it is sent elsewhere', async () => {
    const secret = 'correct horse battery'
    ok(await post('connectiondetails', { computerName: 'vault-1', userName: 'u', password: secret }))
    const list = await (await t.admin()).get(`${base}/connectiondetails?ComputerName=vault`)
    expect(list.body).not.toContain(secret)
    expect(list.json().data).toMatchObject([{ computerName: 'vault-1', hasPassword: true, isOverrideDefaults: true }])
    const [row] = await t.db.query<{ text: string }>(
      sql`select encode(c.password, 'escape') as text from connections c where c.name_key = 'vault-1'`,
    )
    expect(row?.text).not.toContain(secret)
    expect((await put('connectiondetails', { computerName: 'vault-1', port: 2222 })).json().detail).toMatch(
      /password.*needed again/,
    )
    expect(ok(await put('connectiondetails', { computerName: 'vault-1', port: 2222, password: secret }))).toMatchObject(
      { port: 2222 },
    )
    expect(
      ok(await put('connectiondetails', { computerName: 'vault-1', port: 0, intervalMinutes: 5, password: secret })),
    ).toMatchObject({ port: null, intervalMinutes: 5 })
    expect(ok(await put('connectiondetails', { computerName: 'vault-1', intervalMinutes: 0 }))).toMatchObject({
      port: null,
      intervalMinutes: null,
    })
    // A row that is moved to another connection opens nothing there.
    await t.db.execute(sql`
      update connections set password = (select password from connections where name_key = 'vault-1') where name_key = 'down-1'`)
    const w = await registerWorker()
    await activate()
    t.clock.advance(24 * 60 * minute)
    expect((await w.lease(50)).polls.some((one) => one.host === 'down-1')).toBe(false)
    expect(ok(await (await t.admin()).delete(`${base}/connectiondetails?computerName=vault-1,nobody`))).toEqual({
      accepted: ['vault-1'],
      notFound: ['nobody'],
    })
  })

  it('leave no trace of a secret in any answer, file, record or table', async () => {
    const canary = (n: number): string => `canary-${n}-7f3b9c`
    const key = (n: number): string =>
      `-----BEGIN OPENSSH PRIVATE KEY-----\n${canary(n)}\n-----END OPENSSH PRIVATE KEY-----`
    const said: string[] = []
    const hear = <T extends { body: string; rawPayload: Buffer }>(answer: T): T => {
      said.push(answer.body, answer.rawPayload.toString('latin1'))
      return answer
    }
    const name = 'canary-host'
    const secrets = { password: canary(1), privateKey: key(2), passphrase: canary(3) }
    hear(await post('connectiondetails', { computerName: name, userName: 'u', ...secrets }))
    hear(await post('connectiondetails', { computerName: name, userName: 'u', ...secrets }))
    hear(
      await post('connectiondetails', { computerName: 'a b', password: canary(4), privateKey: `no key ${canary(5)}` }),
    )
    hear(await post('connectiondetails', { computerName: 'x', password: [canary(6)] }))
    hear(await put('connectiondetails', { computerName: name, password: canary(7) }))
    hear(
      await put('workerpollerdetails', {
        defaults: { userName: 'd', password: canary(8), passphrase: canary(9) },
      }),
    )
    hear(await post('connectiondetails/test', { computerName: 'canary-try', userName: 'u', password: canary(10) }))
    const w = await registerWorker()
    const { polls } = await w.lease(50)
    // A host that says back what it was given.
    for (const poll of polls)
      if (poll.host.startsWith('canary')) await w.results([failure(poll, 'sign-in-refused', 'the server said no')])
    const admin = await t.admin()
    for (const path of [
      'connectiondetails',
      'connectiondetailsstatus',
      'connectiondetailsstatus/causes',
      'workerpollerdetails',
    ])
      ok(hear(await admin.get(`${base}/${path}`)))
    for (const path of ['exportagentlesscsv', 'exportagentlesspdf', 'exportcsvconnections'])
      hear(await post(path, null))
    ok(hear(await admin.get('/prime/webui/events/GetAuditsIntegration?PageSize=1000')))
    ok(hear(await admin.get('/prime/webui/events/getevents?PageSize=1000')))
    expect(said.filter((text) => /canary-\d/.test(text))).toEqual([])
    const tables = await t.db.query<{ name: string }>(
      sql`select c.table_name as name from information_schema.tables c where c.table_schema = 'public' and c.table_type = 'BASE TABLE'`,
    )
    expect(tables.length).toBeGreaterThan(30)
    for (const { name: table } of tables) {
      const rows = await t.db.query<{ n: number }>(
        sql`select count(*)::int as n from ${raw(`"${table}"`)} t where t::text ~ 'canary-[0-9]' or t::text ~ encode('canary-', 'hex')`,
      )
      expect([table, rows[0]?.n]).toEqual([table, 0])
    }
    hear(await admin.delete(`${base}/connectiondetails?computerName=${name}`))
  })

  it('are tried step by step, and nothing of it is stored', async () => {
    const test = ok<ConnectionTest>(
      await post('connectiondetails/test', { computerName: 'try-1', userName: 'u', password: 'p' }),
    )
    expect(test).toMatchObject({ state: 'waiting', ok: null })
    const w = await registerWorker()
    const [poll] = (await w.lease(1)).polls as [Poll]
    expect(poll).toMatchObject({ id: test.id, isTest: true, host: 'try-1', password: 'p' })
    const done1 = { step: 'resolve', ok: true, ms: 3, message: 'The name has an address.' } as const
    await w.lease(0, [{ id: poll.id, fence: poll.fence, step: 'connect', done: [done1] }])
    expect(ok(await (await t.admin()).get(`${base}/connectiondetails/test/${test.id}`))).toMatchObject({
      state: 'running',
      step: 'connect',
      steps: [done1],
    })
    await w.results([failure(poll, 'sign-in-refused')])
    const done = ok<ConnectionTest>(await (await t.admin()).get(`${base}/connectiondetails/test/${test.id}`))
    expect(done).toMatchObject({ state: 'done', ok: false, cause: 'sign-in-refused' })
    expect(done.cure).toMatch(/Check them/)
    expect((await pageOf<Connection>(t, 'agents/agentless/connectiondetails?ComputerName=try-1')).recordsFiltered).toBe(
      0,
    )
  })

  it('can be taken away as files, without a secret', async () => {
    const secret = 'never in a file 4711'
    ok(
      await post('connectiondetails', {
        computerName: 'file-1',
        userName: '=cmd()',
        password: secret,
        hashtags: ['lab'],
      }),
    )
    const csv = await post('exportagentlesscsv', {
      computerName: 'file-1',
      columns: ['computerName', 'userName', 'hasPassword', 'hashtags'],
    })
    expect([csv.statusCode, csv.body.replace('\ufeff', '').trim().split('\r\n')]).toEqual([
      200,
      ['computerName,userName,hasPassword,hashtags', "file-1,'=cmd(),true,lab"],
    ])
    const all = await post('exportagentlesscsv', null)
    expect(all.body).toContain('file-1')
    expect(all.body).not.toContain(secret)
    const runs = await post('exportcsvconnections', { statusString: 'Failed', columns: ['computerName', 'cause'] })
    expect(runs.body).toContain('down-1,no-credentials')
    const pdf = await post('exportagentlesspdf', { columns: ['computerName', 'platform'] })
    expect([pdf.statusCode, pdf.headers['content-type']]).toEqual([200, 'application/pdf'])
    expect((await post('exportagentlesscsv', { columns: ['password'] })).statusCode).toBe(400)
  })

  it('of a file: a preview says what the upload then does, line by line', async () => {
    const file = [
      'ComputerName,Port,UserName,Password,Tags',
      'csv-1,22,ann,secret one,lab;west',
      'csv 2,22,ann,x,',
      'csv-3,99999,ann,x,',
      '"csv-4",,,,',
      'CSV-1,22,ann,x,',
      'file-1,,bob,,',
      'csv-5,22,ann,hunter,2secret,lab',
      'csv-6,22,ann,x,a;#b',
      'ComputerName,Port,UserName,Password,Tags',
      'csv-7,0x16,ann,x,',
    ].join('\r\n')
    const upload = async (dryRun: boolean) => {
      const form = new FormData()
      form.append('file', new Blob([file]), 'hosts.csv')
      const answer = await fetch(`${serverUrl()}${base}/uploadconnectiondetailsfile?dryRun=${dryRun}`, {
        method: 'POST',
        headers: { authorization: `Bearer ${await t.signIn()}` },
        body: form,
      })
      expect(answer.status).toBe(200)
      return (await answer.json()) as ResponseOf<typeof uploadConnections>
    }
    const total = async () => (await pageOf<Connection>(t, 'agents/agentless/connectiondetails')).recordsTotal
    const before = await total()
    const preview = await upload(true)
    expect(preview).toMatchObject({ added: 2, updated: 1, failed: 7 })
    expect(preview.errors.map(({ line }) => line)).toEqual([3, 4, 6, 8, 9, 10, 11])
    expect(preview.errors.slice(3).map(({ message }) => message)).toEqual([
      'The line has 6 cells, the header 5: a comma in a cell needs quotes around it.',
      'A tag must not hold a comma, semicolon, # or control character.',
      'The line is a header.',
      'port is no whole number from 1 to 65,535.',
    ])
    expect(preview.errors.slice(0, 2).map(({ message }) => message)).toEqual([
      expect.stringMatching(/^computerName is neither a host name/),
      'port is no whole number from 1 to 65,535.',
    ])
    expect(preview.lines[1]).toMatchObject({ computerName: 'csv 2', outcome: 'failed' })
    expect(await total()).toBe(before)
    expect(await upload(false)).toEqual(preview)
    t.clock.advance(1_001)
    expect(await total()).toBe(before + 2)
    expect(await upload(true)).toMatchObject({ added: 0, failed: 7 })
  })

  it('belong to Managers, the worker to Administrators', async () => {
    const [user, manager] = [await person(t, { profile: 30 }), await person(t, { profile: 20 })]
    expect((await user.api.get(`${base}/connectiondetails`)).statusCode).toBe(200)
    expect((await user.api.post(`${base}/connectiondetails`, { computerName: 'u-1' })).statusCode).toBe(403)
    expect((await manager.api.post(`${base}/connectiondetails`, { computerName: 'm-1' })).statusCode).toBe(200)
    expect((await manager.api.delete(`${base}/workerpollerdetails`)).statusCode).toBe(403)
    expect((await manager.api.post(`${base}/workerpollerdetails/token`)).statusCode).toBe(403)
  })
})
