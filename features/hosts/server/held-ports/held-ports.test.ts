import { randomUUID } from 'node:crypto'
import { hub, storageStick } from '@portcullis/domain/testing'
import { startTestApp, type TestApp } from '@portcullis/server/test/app.ts'
import { approveRequest } from '@portcullis/server/test/approvals.ts'
import { enrolAgent, type TestAgent } from '@portcullis/server/test/builders.ts'
import { person } from '@portcullis/server/test/people.ts'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import type { AgentCommand, HeldPort, HeldPortRow } from '#features/contract.ts'

let t: TestApp

beforeAll(async () => {
  t = await startTestApp({ listen: true })
})
afterAll(() => t.close())

const mismatch = { bound: [{ interface: 0, claims: 'Hub' as const, driver: 'rtl8150' }] }
const liar = hub({ portPath: '1-3', vid: '0BDA', pid: '8150', interfaces: ['09:00:00'] })

const hold = (change: Partial<HeldPort> = {}): HeldPort => ({
  id: randomUUID(),
  portPath: '1-3',
  at: Date.now(),
  mismatch,
  vid: '0BDA',
  pid: '8150',
  serial: '',
  name: '4-Port USB 2.0 Hub',
  fingerprint: 'a'.repeat(32),
  ...change,
})
const armedWith = (...held: HeldPort[]) => ({
  enforcement: { mode: 'Armed' as const, policyVersion: 1, reason: '', held },
})
const heldOf = async (agent: TestAgent): Promise<HeldPortRow[]> =>
  (await (await t.admin()).get(`/prime/webui/heldPorts?AgentId=${agent.agentId}`)).json().data
const release = async (agent: TestAgent, id: string, acceptDrivers = false) =>
  (await t.admin()).post(`/prime/webui/heldPorts/${agent.agentId}/${id}/release`, { acceptDrivers })
const taken = async (agent: TestAgent): Promise<AgentCommand[]> =>
  ((await agent.checkIn()).commands ?? []).map((c) => JSON.parse(c.payload) as AgentCommand)
const criticalOf = async (agent: TestAgent) =>
  (await agent.events()).filter(({ eventCode }) => eventCode === '0x110015')

describe('held ports', () => {
  it('raise one critical event each with its evidence, and are listed until the host releases them', async () => {
    const agent = await enrolAgent(t)
    const held = hold()
    await agent.checkIn(armedWith(held))
    await agent.checkIn(armedWith(held))
    expect(await criticalOf(agent)).toMatchObject([
      { severity: 2, description: 'USB peripheral is not what it claims to be' },
    ])
    const [event] = await criticalOf(agent)
    expect(event?.details).toContain('claims hub, bound rtl8150; port 1-3 is held')
    expect(await heldOf(agent)).toMatchObject([
      { id: held.id, portPath: '1-3', evidence: 'claims hub, bound rtl8150', isEnforced: true, releaseAskedBy: null },
    ])
    // An agent of an older version reports no held ports, and the server keeps the known ones.
    await agent.checkIn({ enforcement: { mode: 'Armed', policyVersion: 2, reason: '' } })
    expect(await heldOf(agent)).toHaveLength(1)
    await agent.checkIn(armedWith())
    expect(await heldOf(agent)).toEqual([])
  })

  it('are released by a signed command, which later commands repeat until the host confirms', async () => {
    const agent = await enrolAgent(t)
    const [one, two] = [hold(), hold({ portPath: '1-4' })]
    await agent.checkIn(armedWith(one, two))
    expect((await release(agent, one.id)).json()).toEqual({ commands: 1 })
    expect((await release(agent, two.id, true)).statusCode).toBe(200)
    expect((await heldOf(agent)).map(({ releaseAskedBy }) => releaseAskedBy)).toEqual(['admin', 'admin'])
    const commands = (await taken(agent)).filter(({ kind }) => kind === 'release-ports')
    expect(commands).toHaveLength(1)
    expect(commands[0]).toMatchObject({
      releases: expect.arrayContaining([
        { id: one.id, accept: false },
        { id: two.id, accept: true },
      ]),
    })
    const trail = await (await t.admin()).get('/prime/webui/events/GetAuditsIntegration?PageSize=50')
    expect(trail.body).toContain('Port 1-4 released (claims hub, bound rtl8150); drivers accepted')
  })

  it('cannot be released if not held, or by users with read access only', async () => {
    const agent = await enrolAgent(t)
    const held = hold()
    await agent.checkIn(armedWith(held))
    expect((await release(agent, randomUUID())).statusCode).toBe(404)
    expect((await release(agent, 'none')).statusCode).toBe(404)
    const { api } = await person(t)
    const path = `/prime/webui/heldPorts/${agent.agentId}/${held.id}/release`
    expect((await api.post(path, { acceptDrivers: true })).statusCode).toBe(403)
    expect((await taken(agent)).filter(({ kind }) => kind === 'release-ports')).toEqual([])
    expect((await heldOf(agent))[0]?.releaseAskedBy).toBeNull()
  })

  it('raise a critical event if a host reaches its limit', async () => {
    const agent = await enrolAgent(t)
    await agent.checkIn({ errors: [{ at: 1, code: 'held_ports_full', message: '1-90: the port cannot be held' }] })
    const event = (await agent.events()).find(({ eventCode }) => eventCode === '0x120031')
    expect(event).toMatchObject({ severity: 2, details: '1-90: the port cannot be held' })
  })

  it('raise no critical event for an unknown driver, and neither does a Free host', async () => {
    const unknown = { bound: [{ interface: 0, claims: 'HID' as const, driver: 'hid-next-year' }], kernel: '7.4.1' }
    const agent = await enrolAgent(t)
    await agent.checkIn(armedWith(hold({ mismatch: unknown })))
    const stick = storageStick({ portPath: '1-5', configurationValue: 0, maxPowerMa: 510 })
    await agent.plug({ ...stick, mismatch: unknown, isOverNetwork: true })
    expect(await criticalOf(agent)).toEqual([])
    const events = (await agent.events()).filter(({ eventCode }) => eventCode === '0x110016')
    const text = 'claims hid, bound the unknown driver hid-next-year (kernel 7.4.1)'
    expect(events).toMatchObject([{ severity: 4 }, { severity: 4 }])
    expect(events.map(({ details }) => details).filter((details) => details.includes(text))).toHaveLength(2)
    expect((await agent.peripherals()).find(({ hierarchy }) => hierarchy === '1-5')).toMatchObject({
      driverMismatch: '',
      unknownDriver: text,
      notWorking: 'The kernel did not configure the device: it needs 510 mA, and a port supplies 500 mA.',
      isOverNetwork: true,
    })
  })

  it('need two people to accept drivers on more hosts than the limit', async () => {
    const agents = [await enrolAgent(t), await enrolAgent(t)] as const
    const holds = [hold(), hold()] as const
    for (const [i, agent] of agents.entries()) await agent.checkIn(armedWith(holds[i] as HeldPort))
    t.clock.advance(16 * 60_000)
    for (const agent of agents) await agent.session()
    const admin = await t.admin()
    const { settings } = (await admin.get('/prime/webui/policy')).json()
    await admin.put('/prime/webui/policy/settings', { ...settings, twoPersonHosts: 1 })
    const bob = await person(t, { profile: 10 })
    expect((await release(agents[0], holds[0].id, true)).statusCode).toBe(200)
    const refused = await release(agents[1], holds[1].id, true)
    expect([refused.statusCode, refused.json()]).toEqual([
      403,
      expect.objectContaining({
        code: 'second_person_required',
        requestId: expect.any(String),
        detail: expect.stringMatching(
          /^This affects 1 host\. With the changes of all people within 15 minutes, the total is more than \d+\. /,
        ),
      }),
    ])
    expect((await heldOf(agents[1]))[0]?.releaseAskedBy).toBeNull()
    expect((await taken(agents[1])).filter(({ kind }) => kind === 'release-ports')).toEqual([])
    const path = '/prime/webui/policy/changerequests'
    const [request] = (await bob.api.get(path)).json().data
    expect(request).toMatchObject({
      action: 'rules',
      hosts: 1,
      title: `Release port 1-3 of ${agents[1].facts.hostname} and accept its drivers (claims hub, bound rtl8150; fingerprint ${'a'.repeat(32)})`,
    })
    // The approver accepts what the request states, and nothing that the host reports later under the same id.
    await agents[1].checkIn(armedWith())
    await agents[1].checkIn(armedWith(hold({ id: holds[1].id, fingerprint: 'b'.repeat(32) })))
    const differs = await approveRequest(bob.api, request.id)
    expect([differs.statusCode, differs.json().detail]).toEqual([409, expect.stringContaining('Request the release')])
    await agents[1].checkIn(armedWith())
    await agents[1].checkIn(armedWith(holds[1]))
    expect((await approveRequest(bob.api, request.id)).statusCode).toBe(200)
    const [command] = (await taken(agents[1])).filter(({ kind }) => kind === 'release-ports')
    expect(command).toMatchObject({ releases: [{ id: holds[1].id, accept: true }] })
    // One person may release a port without its drivers.
    expect((await release(agents[1], holds[1].id)).statusCode).toBe(200)
  })

  it('report a mismatch on a Free host once, and count it in the preview of arming', async () => {
    const hostname = 'mismatch-host'
    const agent = await enrolAgent(t, { facts: { hostname } })
    await agent.plug({ ...liar, mismatch })
    await agent.change({ ...liar, mismatch, speedMbps: 12 })
    await agent.plug(storageStick({ portPath: '1-5' }))
    const events = await criticalOf(agent)
    expect(events).toHaveLength(1)
    expect(events[0]?.details).toContain('claims hub, bound rtl8150; the host blocks nothing')
    const preview = await (await t.admin()).post('/prime/webui/agents/bulk/preview', {
      filter: { hostIdentifier: hostname },
      action: 'arm',
    })
    expect(preview.json().mismatched).toEqual({ agents: 1, peripherals: 1 })
    const device = (await agent.peripherals()).find(({ hierarchy }) => hierarchy === '1-3')
    expect(device?.driverMismatch).toBe('claims hub, bound rtl8150')
  })
})
