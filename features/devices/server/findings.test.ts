import { flipperBadUsb, plainMouse, rubberDucky, unifyingReceiver1207 } from '@portcullis/domain/testing'
import { startTestApp, type TestApp } from '@portcullis/server/test/app.ts'
import { enrolAgent, pageOf, type TestAgent } from '@portcullis/server/test/builders.ts'
import { afterAll, beforeAll, beforeEach, describe, expect, it } from 'vitest'
import type { HostFinding } from '#features/contract.ts'

const base = '/prime/webui'
const week = 7 * 86_400_000
let t: TestApp

beforeAll(async () => {
  t = await startTestApp({ listen: true })
})
afterAll(() => t.close())
// A new session is fresh.
beforeEach(() => t.clock.advance(16 * 60_000))

const admin = async () => t.as(await t.signIn())
const ofHost = async ({ agentId }: TestAgent): Promise<HostFinding[]> =>
  (await pageOf<HostFinding>(t, `findings?hostUuid=${agentId}&SortBy=id_asc`)).data
const only = async (agent: TestAgent): Promise<HostFinding> => {
  const [finding, ...others] = await ofHost(agent)
  if (finding === undefined || others.length > 0) throw new Error(`the host has ${others.length + 1} findings`)
  return finding
}
const close = async (ids: readonly number[], verdict = 'true', comment = '') =>
  (await admin()).post(`${base}/findings/close`, { ids, verdict, comment })
const reopen = async (ids: readonly number[]) => (await admin()).post(`${base}/findings/reopen`, { ids })
const duckyHost = () => enrolAgent(t, { devices: [rubberDucky({ portPath: '1-5' }), plainMouse({ portPath: '1-1' })] })

describe('a finding about a device', () => {
  it('stays open after the device was removed, with all consequences for the host', async () => {
    const agent = await duckyHost()
    const attached = await only(agent)
    expect(attached).toMatchObject({
      ...{ state: 'Open', severity: 40, attached: true, detachedAt: null, attachments: 1 },
      ...{ verdict: null, closedAt: null, closedBy: '', comment: '', hostIdentifier: agent.facts.hostname },
    })
    expect(attached.finding).toContain('Suspected attack tool')
    const before = await agent.detail()
    expect(before).toMatchObject({ severity: 40, hasKnownAttackTools: true, riskScore: 50 })

    await agent.unplug('1-5')
    expect(await only(agent)).toMatchObject({ id: attached.id, state: 'Open', attached: false })
    expect(await agent.detail()).toMatchObject({ severity: 40, hasKnownAttackTools: true, riskScore: 50 })
    expect((await agent.detail()).riskFactors[0]?.evidence).toMatch(/^Removed on \d{4}-\d\d-\d\d\. /)
    const found = await pageOf(t, `agents?HasKnownAttackTools=true&Uuid=${agent.agentId}`)
    expect(found.recordsFiltered).toBe(1)
    const summary = (
      await (await admin()).get(`${base}/agents/agentsclassificationsummary?Uuid=${agent.agentId}`)
    ).json()
    expect(summary.knownAttackTools).toBe(1)

    await agent.plug(rubberDucky({ portPath: '1-6' }))
    const again = (await ofHost(agent)).at(-1)
    expect(again).toMatchObject({ state: 'Open', attached: true })
  })

  it('opens if the device was attached and removed between two check-ins', async () => {
    const agent = await enrolAgent(t, { devices: [plainMouse()] })
    const at = t.clock.now()
    await agent.checkIn({
      changes: [
        { op: 'attached', at, device: rubberDucky({ portPath: '1-5' }) },
        { op: 'removed', at, portPath: '1-5' },
      ],
    })
    expect(await only(agent)).toMatchObject({ state: 'Open', attached: false, attachments: 1 })
    expect(await agent.detail()).toMatchObject({ severity: 40, riskScore: 50 })
  })

  it('is not hidden by a harmless device with the same ids and serial number', async () => {
    const agent = await enrolAgent(t, { devices: [rubberDucky({ portPath: '1-5', serial: 'S1' })] })
    const { vid, pid } = await only(agent)
    await agent.unplug('1-5')
    const mouse = plainMouse({ portPath: '1-5', serial: 'S1' })
    const posed = Buffer.from(mouse.descriptors, 'base64')
    posed.writeUInt16LE(Number.parseInt(vid, 16), 8)
    posed.writeUInt16LE(Number.parseInt(pid, 16), 10)
    await agent.plug({ ...mouse, descriptors: posed.toString('base64') })
    expect((await ofHost(agent))[0]).toMatchObject({ state: 'Open', severity: 40 })
    expect(await agent.detail()).toMatchObject({ severity: 40, hasKnownAttackTools: true })
  })
})

describe('closing findings', () => {
  it('needs a verdict, ends the consequences, and names who closed it and why', async () => {
    const agent = await duckyHost()
    const { id } = await only(agent)
    await agent.unplug('1-5')
    const done = await close([id], 'true', 'Handed over to forensics.')
    expect([done.statusCode, done.json()]).toEqual([200, { closed: 1 }])
    expect(await only(agent)).toMatchObject({
      ...{ state: 'Closed', verdict: 'true', comment: 'Handed over to forensics.', closedBy: 'admin' },
      closedAt: expect.stringMatching(/Z$/),
    })
    expect(await agent.detail()).toMatchObject({ severity: 10, hasKnownAttackTools: false, riskScore: 0 })
    const trail = (await (await admin()).get(`${base}/events/GetAuditsIntegration?PageSize=5`)).json()
    const entry = trail.data.find(({ action }: { action: string }) => action === 'finding.closed')
    expect(entry).toMatchObject({
      entity: expect.stringContaining(agent.facts.hostname),
      details: expect.stringContaining('True positive: Handed over to forensics.'),
    })
    const told = (await agent.events()).at(-1)
    expect(told).toMatchObject({
      eventCode: '0x110018',
      severityString: 'Notice',
      details: expect.stringMatching(
        /VID\/PID are 03EB\/2401 .*closed as true positive by admin\. Comment: Handed over to forensics\./,
      ),
    })
    const twice = await close([id])
    expect([twice.statusCode, twice.json().code]).toEqual([409, 'conflict'])
  })

  it('as true or test needs a removed device, and the next attachment opens a new finding', async () => {
    const agent = await duckyHost()
    const { id } = await only(agent)
    const refused = await close([id], 'test')
    expect(refused.json()).toMatchObject({ status: 409, detail: expect.stringContaining('is still attached') })
    expect(await only(agent)).toMatchObject({ state: 'Open' })
    await agent.unplug('1-5')
    expect((await close([id], 'test')).statusCode).toBe(200)
    await agent.plug(rubberDucky({ portPath: '1-5' }))
    expect(await ofHost(agent)).toMatchObject([
      { id, state: 'Closed', verdict: 'test' },
      { state: 'Open', verdict: null, attachments: 1 },
    ])
    expect(await agent.detail()).toMatchObject({ severity: 40 })
    const old = await reopen([id])
    expect(old.json()).toMatchObject({ status: 409, detail: expect.stringContaining('has a later finding') })
  })

  it('as benign or false keeps the device quiet on this host, but not a worse one and not on other hosts', async () => {
    const [agent, other] = [await duckyHost(), await duckyHost()]
    expect((await close([(await only(agent)).id], 'benign', 'Our macro pad.')).statusCode).toBe(200)
    expect(await agent.detail()).toMatchObject({ severity: 10, riskScore: 0 })
    const closed = await only(agent)
    await agent.unplug('1-5')
    const removed = await only(agent)
    expect(removed).toEqual({ ...closed, attached: false, detachedAt: expect.stringMatching(/^2/) })
    await agent.plug(rubberDucky({ portPath: '1-5' }))
    expect(await only(agent)).toEqual({ ...closed, lastAttached: expect.any(String), attachments: 2 })
    expect(await agent.detail()).toMatchObject({ severity: 10, riskScore: 0 })
    expect(await other.detail()).toMatchObject({ severity: 40, riskScore: 50 })
    await agent.plug(flipperBadUsb({ portPath: '1-7' }))
    expect((await agent.detail()).severity).toBeGreaterThanOrEqual(40)
  })

  it('closes all of them or none', async () => {
    const [one, two] = [await duckyHost(), await duckyHost()]
    const ids = [(await only(one)).id, (await only(two)).id]
    await one.unplug('1-5')
    expect((await close(ids, 'true')).statusCode).toBe(409)
    expect([(await only(one)).state, (await only(two)).state]).toEqual(['Open', 'Open'])
    const unknown = await close([...ids, 9_999_999], 'false')
    expect(unknown.json()).toMatchObject({ status: 404, detail: 'Finding 9999999 does not exist.' })
    expect((await close(ids, 'false')).json()).toEqual({ closed: 2 })
    for (const [body, field] of [
      [{ ids: [], verdict: 'true' }, 'body.ids'],
      [{ ids: [1], verdict: 'accepted' }, 'body.verdict'],
      [{ ids: [1], verdict: 'true', comment: 'a\u0007b' }, 'body.comment'],
      [{ ids: [1], verdict: 'true', comment: 'a\n\u2066b' }, 'body.comment'],
      [{ ids: [1], verdict: 'true', comment: 'x'.repeat(4_001) }, 'body.comment'],
    ] as const) {
      const answer = await (await admin()).post(`${base}/findings/close`, body)
      expect([answer.statusCode, answer.json().errors[0].field]).toEqual([400, field])
    }
  })

  it('can be undone', async () => {
    const agent = await duckyHost()
    const { id } = await only(agent)
    await close([id], 'false', 'oops')
    expect((await reopen([id])).json()).toEqual({ reopened: 1 })
    expect((await agent.events()).at(-1)).toMatchObject({ eventCode: '0x110019', description: 'Finding reopened' })
    expect(await only(agent)).toMatchObject({ state: 'Open', verdict: null, comment: '', closedBy: '', closedAt: null })
    expect(await agent.detail()).toMatchObject({ severity: 40, riskScore: 50 })
    expect((await reopen([id])).statusCode).toBe(409)
  })
})

describe('the acceptance of a finding', () => {
  it('closes it on all hosts, also for removed devices, and its revocation opens it again', async () => {
    const [agent, removed] = [await duckyHost(), await duckyHost()]
    await removed.unplug('1-5')
    const [device] = (await agent.peripherals()).filter(({ attackTool }) => attackTool !== '')
    const accepted = await (await admin()).post(`${base}/policy/acceptedFindings`, {
      ...{ uuid: agent.agentId, deviceID: device?.deviceID, reason: 'our own macro pad' },
    })
    expect(accepted.statusCode, accepted.body).toBe(200)
    for (const host of [agent, removed]) {
      expect(await only(host)).toMatchObject({
        ...{ state: 'Closed', verdict: 'accepted', comment: 'Accepted by admin: our own macro pad' },
      })
      expect(await host.detail()).toMatchObject({ severity: 10, riskScore: 0, hasKnownAttackTools: false })
    }
    expect((await reopen([(await only(agent)).id])).statusCode).toBe(409)
    const { id } = accepted.json().acceptance
    expect((await (await admin()).delete(`${base}/policy/acceptedFindings/${id}?reason=over`)).statusCode).toBe(200)
    for (const host of [agent, removed]) {
      expect(await only(host)).toMatchObject({ state: 'Open', verdict: null, comment: '' })
      expect(await host.detail()).toMatchObject({ severity: 40, hasKnownAttackTools: true })
    }
  })
})

describe('the list of findings', () => {
  it('shows open ones first, the worst first, and has filters', async () => {
    const agent = await enrolAgent(t, {
      devices: [unifyingReceiver1207({ portPath: '1-2' }), rubberDucky({ portPath: '1-5' })],
    })
    const page = (await pageOf<HostFinding>(t, `findings?hostIdentifier=${agent.facts.hostname}`)).data
    expect(page.map(({ severity }) => severity)).toEqual([40, 30])
    await close([page[0]?.id ?? 0], 'false')
    const after = (await pageOf<HostFinding>(t, `findings?hostIdentifier=${agent.facts.hostname}`)).data
    expect(after.map(({ severity, state }) => [severity, state])).toEqual([
      [30, 'Open'],
      [40, 'Closed'],
    ])
    const { vid, serialNumber } = after[0] as HostFinding
    for (const [query, rows] of [
      ['state=Open', 1],
      ['state=Closed&verdict=false', 1],
      ['verdict=true', 0],
      ['severity=>=40', 1],
      ['attached=true', 2],
      [`vid=${vid}`, 1],
      [`serialNumber=${serialNumber}`, serialNumber === '' ? 2 : 1],
      ['vendor=logitech', 2],
      ['closedBy=admin', 1],
      ['openedAt=2000-01-01..', 2],
      ['GlobalSearch=receiver', 1],
      ['hashtags=none', 0],
    ] as const)
      expect([query, (await pageOf(t, `findings?hostUuid=${agent.agentId}&${query}`)).recordsFiltered]).toEqual([
        query,
        rows,
      ])
  })
})

// Last: the enrolment token of the other tests has expired.
describe('the risk of a removed device', () => {
  it('loses half of its points with each week after the removal, but never all', async () => {
    const agent = await duckyHost()
    await agent.unplug('1-5')
    const scores = []
    for (let i = 0; i < 9; i++) {
      await t.server.peripherals.halveFindings()
      scores.push((await agent.detail()).riskScore)
      t.clock.advance(week)
    }
    expect(scores).toEqual([50, 25, 13, 6, 3, 2, 1, 1, 1])
    expect(await agent.detail()).toMatchObject({ severity: 40, hasKnownAttackTools: true })
    await agent.session()
    await agent.plug(rubberDucky({ portPath: '1-5' }))
    expect((await agent.detail()).riskScore).toBe(50)
  })
})
