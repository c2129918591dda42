import { mustExist } from '@portcullis/domain'
import { plainKeyboard, storageStick } from '@portcullis/domain/testing'
import { sql } from '@portcullis/platform/server/db/sql.ts'
import { systemActor } from '@portcullis/platform/server/http/actor.ts'
import { startTestApp, type TestApp } from '@portcullis/server/test/app.ts'
import { readRequest } from '@portcullis/server/test/approvals.ts'
import { enrolAgent, type TestAgent } from '@portcullis/server/test/builders.ts'
import { type Person, person } from '@portcullis/server/test/people.ts'
import { afterAll, beforeAll, beforeEach, describe, expect, it } from 'vitest'

const base = '/prime/webui'
let t: TestApp
let alice: Person
let bob: Person

/** Two Administrators, and a limit of one host. */
beforeAll(async () => {
  t = await startTestApp({ listen: true })
  const admin = await t.admin()
  const { settings } = (await admin.get(`${base}/policy`)).json()
  await admin.put(`${base}/policy/settings`, { ...settings, twoPersonHosts: 1 })
  alice = await person(t, { profile: 10, userName: 'alice' })
  bob = await person(t, { profile: 10, userName: 'bob' })
})
afterAll(() => t.close())
beforeEach(async () => {
  t.clock.advance(16 * 60_000)
  await t.db.execute(sql`delete from account_influences`)
  await t.db.execute(sql`delete from policy_rules`)
  alice = { ...alice, api: t.as(await t.signIn(alice.userName, alice.password)) }
  bob = { ...bob, api: t.as(await t.signIn(bob.userName, bob.password)) }
})

const stickOf = (serial: string) => storageStick({ portPath: '1-1', serial })
const enrolled = () => Promise.all(['S1', 'S2'].map((serial) => enrolAgent(t, { devices: [stickOf(serial)] })))
const uuidsOf = (agents: readonly TestAgent[]) => agents.map(({ agentId }) => agentId)
const bulk = (agents: readonly TestAgent[]) =>
  alice.api.post(`${base}/agents/bulk`, { action: 'approveAll', uuids: uuidsOf(agents) })
const configure = (agents: readonly TestAgent[]) =>
  alice.api.post(
    `${base}/agents/configuration`,
    uuidsOf(agents).map((uuid) => ({ uuid, agentConfigViewResource: { approveAll: true } })),
  )
const linesOf = async (id: string): Promise<string[]> =>
  (await bob.api.get(`${base}/policy/changerequests/${id}/details?PageSize=50`)).json().data
const allowed = async () =>
  (await alice.api.get(`${base}/policy/rules`))
    .json()
    .data.map(({ vid, serial }: { vid: string; serial: string }) => `${vid} ${serial}`)
    .sort()

describe('a request to approve all attached devices', () => {
  it.each([
    ['in bulk', bulk],
    ['of a configuration', configure],
  ])('%s lists the devices, and the approval allows only these', async (_, order) => {
    const agents = await enrolled()
    const bare = await enrolAgent(t)
    const refused = await order([...agents, bare])
    expect(refused.statusCode).toBe(403)
    const [request] = (await bob.api.get(`${base}/policy/changerequests`)).json().data
    const lines = await linesOf(request.id)
    const devices = lines.filter((line) => line.startsWith('Allow '))
    expect(devices).toHaveLength(2)
    for (const [i, { agentId, facts }] of agents.entries())
      expect(devices).toContainEqual(
        expect.stringMatching(
          new RegExp(`^Allow 0781:5581 with serial number "S${i + 1}", .* on host ${facts.hostname} \\(${agentId}\\)$`),
        ),
      )
    expect(lines.at(-1)).toMatch(new RegExp(`\\(${bare.agentId}\\): no device$`))

    const approve = await readRequest(bob.api, request.id)
    await bare.plug(plainKeyboard({ portPath: '1-2' }))
    await agents[0]?.plug(plainKeyboard({ portPath: '1-2' }))
    await agents[1]?.change(stickOf('S3'))
    expect((await approve()).statusCode).toBe(200)
    await t.jobs.drain()
    expect(await allowed()).toEqual(['0781 S1'])
  })

  it('that an earlier release filed without its devices is refused', async () => {
    const uuids = uuidsOf(await enrolled())
    for (const [kind, change] of [
      ['bulk', { action: 'approveAll', uuids }],
      ['configuration', { items: uuids.map((uuid) => ({ uuid, mode: null, approveAll: true })) }],
    ] as const) {
      const { carryOut } = mustExist(t.server.changeRequests.kinds().get(kind), 'the kind')
      const approved = {
        requestedBy: 'alice',
        requestedByAccount: '',
        requestedAt: new Date(t.clock.now()),
        secret: null,
      }
      await expect(t.db.transaction((tx) => carryOut(tx, systemActor('test'), change, approved))).rejects.toMatchObject(
        {
          code: 'conflict',
          message: expect.stringContaining('Request the action again'),
        },
      )
    }
    expect(await allowed()).toEqual([])
  })
})
