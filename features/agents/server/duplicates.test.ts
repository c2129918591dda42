import { flipperBadUsb, rubberDucky, storageStick } from '@portcullis/domain/testing'
import { sql } from '@portcullis/platform/server/db/sql.ts'
import { startTestApp, type TestApp } from '@portcullis/server/test/app.ts'
import { enrolAgent, enrolmentToken, pageOf, Refused, type TestAgent } from '@portcullis/server/test/builders.ts'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import type { Agent, AgentDetail, AuditRecord, HostFinding } from '#features/contract.ts'

let t: TestApp
beforeAll(async () => {
  t = await startTestApp({ listen: true })
})
afterAll(() => t.close())

let machines = 0
/** Enrols a host and the same computer with a new system. */
const reinstalled = async (): Promise<[TestAgent, TestAgent]> => {
  machines++
  const smbiosHash = machines.toString(16).padStart(64, '5')
  const system = (n: string) => ({ smbiosHash, machineIdHash: machines.toString(16).padStart(64, n) })
  const old = await enrolAgent(t, {
    ...system('a'),
    token: await enrolmentToken(t, { hashtags: ['lab', `pc-${machines}`] }),
  })
  return [old, await enrolAgent(t, { ...system('b'), token: await enrolmentToken(t, { hashtags: ['lab', 'new'] }) })]
}
const decide = async (agentId: string, uuid: string, isSameMachine: boolean) =>
  (await t.admin()).post(`/prime/webui/agents/agent/${agentId}/possibleduplicates`, { uuid, isSameMachine })
const listed = async (value: string) =>
  (await pageOf<Agent>(t, `agents?PageSize=1000&PossibleDuplicate=${value}`)).data.map(({ uuid }) => uuid).sort()
const linksOf = async (agent: TestAgent) => ((await agent.detail()) as AgentDetail).possibleDuplicates
const removeHost = async ({ agentId }: TestAgent) =>
  (await t.admin()).post('/prime/webui/agents/deleteAgents', [agentId])
const alertsOf = async ({ agentId }: TestAgent): Promise<unknown[]> => {
  await t.alerts.run()
  const query = `kind=duplicate&entityId=${agentId}`
  return (await (await t.admin()).get(`/prime/webui/systemNotification/riskNotifications?${query}`)).json()
}

describe('a possible duplicate', () => {
  it('is listed until a person decides that the computers are different', async () => {
    const [old, fresh] = await reinstalled()
    const alone = await enrolAgent(t)
    expect(await listed('true')).toEqual([old.agentId, fresh.agentId].sort())
    expect(await listed('false')).toContain(alone.agentId)
    const answer = await decide(fresh.agentId, old.agentId, false)
    expect([answer.statusCode, answer.json()]).toEqual([200, { removed: false }])
    expect([await linksOf(old), await linksOf(fresh)]).toEqual([[], []])
    expect(await listed('true')).toEqual([])
    await old.checkIn()
  })

  it('raises an alert that leads to the host', async () => {
    const [old, fresh] = await reinstalled()
    expect(await alertsOf(fresh)).toMatchObject([
      {
        title: `Possible duplicate: ${fresh.facts.hostname}`,
        description: expect.stringContaining(`Same hardware as ${old.facts.hostname}, reinstalled or cloned`),
        severity: 4,
      },
    ])
  })

  it('of a host with a hundred of them is only on its own page', async () => {
    const [old, fresh] = await reinstalled()
    const ids = Array.from({ length: 99 }, (_, i) => `00000000-0000-7000-8000-${String(i).padStart(12, '0')}`)
    await t.db.execute(sql`
      update agents a set possible_duplicates = a.possible_duplicates || ${ids}::uuid[] where a.agent_id = ${old.agentId}`)
    const smbiosHash = machines.toString(16).padStart(64, '5')
    const next = await enrolAgent(t, { smbiosHash, machineIdHash: machines.toString(16).padStart(64, 'c') })
    expect((await linksOf(old)).map(({ uuid }) => uuid)).toEqual([fresh.agentId])
    expect((await linksOf(next)).map(({ uuid }) => uuid).sort()).toEqual([old.agentId, fresh.agentId].sort())
    expect((await decide(next.agentId, old.agentId, false)).statusCode).toBe(200)
    expect((await linksOf(next)).map(({ uuid }) => uuid)).toEqual([fresh.agentId])
  })

  it.each([
    ['the same computer', async (old: TestAgent, fresh: TestAgent) => decide(fresh.agentId, old.agentId, true)],
    ['different computers', async (old: TestAgent, fresh: TestAgent) => decide(old.agentId, fresh.agentId, false)],
    ['removed', async (_: TestAgent, fresh: TestAgent) => removeHost(fresh)],
    ['removed, the older one', async (old: TestAgent) => removeHost(old)],
  ])('closes its alert when the hosts are %s', async (_, end) => {
    const [old, fresh] = await reinstalled()
    expect(await alertsOf(fresh)).toHaveLength(1)
    expect((await end(old, fresh)).statusCode).toBe(200)
    expect(await alertsOf(fresh)).toEqual([])
  })

  it('keeps its alert while another host looks like it', async () => {
    const [old, fresh] = await reinstalled()
    const third = await enrolAgent(t, {
      smbiosHash: machines.toString(16).padStart(64, '5'),
      machineIdHash: machines.toString(16).padStart(64, 'c'),
    })
    await decide(third.agentId, old.agentId, false)
    expect(await alertsOf(third)).toHaveLength(1)
    await decide(third.agentId, fresh.agentId, false)
    expect(await alertsOf(third)).toEqual([])
  })

  it('that is the same computer is removed, and the host gets its tags', async () => {
    const [old, fresh] = await reinstalled()
    expect((await decide(fresh.agentId, old.agentId, true)).json()).toEqual({ removed: true })
    expect((await fresh.detail()).hashtags.split(',').sort()).toEqual(['lab', 'new', `pc-${machines}`])
    expect(await linksOf(fresh)).toEqual([])
    await expect(old.session()).rejects.toThrow(Refused)
    const { data } = await pageOf<AuditRecord>(t, 'events/GetAuditsIntegration?PageSize=50')
    expect(data.find(({ action }) => action === 'agent.duplicate_decided')?.details).toBe(
      `same machine as ${old.facts.hostname}, agent ${old.agentId}`,
    )
  })

  it('that is the same computer leaves its devices, findings, decisions, owner and notes', async () => {
    const [old, fresh] = await reinstalled()
    const api = await t.admin()
    const findingsOf = async ({ agentId }: TestAgent) =>
      (await pageOf<HostFinding>(t, `findings?hostUuid=${agentId}&SortBy=id_asc`)).data
    const stick = storageStick({ serial: `KEPT-${machines}`, portPath: '1-3' })
    for (const agent of [old, fresh]) await agent.plug(rubberDucky({ portPath: '1-5' }))
    await old.plug(stick)
    await old.unplug('1-3')
    await old.plug(flipperBadUsb({ portPath: '1-7' }))
    await old.unplug('1-7')
    const { owner, notes } = { owner: 'jane', notes: 'Kiosk\nGround floor' }
    const path = ({ agentId }: TestAgent) => `/prime/webui/agents/agent/${agentId}`
    expect((await api.put(`${path(old)}/owner`, { owner, notes })).statusCode).toBe(200)
    expect((await api.put(`${path(fresh)}/owner`, { notes: 'Own' })).statusCode).toBe(200)
    const [before, own] = [await findingsOf(old), await findingsOf(fresh)]
    expect([before.length, own.length]).toEqual([2, 1])
    expect((await decide(fresh.agentId, old.agentId, true)).json()).toEqual({ removed: true })
    expect(await findingsOf(fresh)).toMatchObject(
      [
        { ...before[1], uuid: fresh.agentId, hostIdentifier: fresh.facts.hostname, hashtags: expect.any(String) },
        { id: own[0]?.id, attached: true, attachments: 2, openedAt: before[0]?.openedAt },
      ].toSorted((a, b) => Number(a.id) - Number(b.id)),
    )
    expect(await fresh.detail()).toMatchObject({ owner, notes: 'Own', severity: expect.any(Number) })
    const devices = await fresh.peripherals()
    const kept = devices.find(({ serialNumber }) => serialNumber === stick.serial)
    expect(kept).toMatchObject({ present: false })
    const passport = (
      await api.get(
        `/prime/webui/peripherals/${fresh.agentId}/passport?deviceID=${encodeURIComponent(kept?.deviceID as string)}`,
      )
    ).json()
    expect(passport.decisions).toHaveLength(1)
    await fresh.unplug('1-5')
    expect((await findingsOf(fresh)).map(({ state, attached }) => [state, attached])).toEqual([
      ['Open', false],
      ['Open', false],
    ])
  })

  it('is refused for hosts that are not linked, and changes nothing', async () => {
    const [old, fresh] = await reinstalled()
    const other = await enrolAgent(t)
    for (const [one, two] of [
      [fresh.agentId, other.agentId],
      [other.agentId, fresh.agentId],
      [fresh.agentId, fresh.agentId],
      [fresh.agentId, 'nobody'],
      ['nobody', old.agentId],
    ] as const) {
      const answer = await decide(one, two, true)
      expect([answer.statusCode, answer.json().detail]).toEqual([
        404,
        'These hosts are not possible duplicates of each other.',
      ])
    }
    expect(await linksOf(old)).toHaveLength(1)
    for (const agent of [old, fresh, other]) await agent.checkIn()
  })

  it('loses its link when the other host is removed', async () => {
    const [old, fresh] = await reinstalled()
    await removeHost(old)
    expect(await listed('true')).not.toContain(fresh.agentId)
  })
})
