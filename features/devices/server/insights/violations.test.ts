import { plainKeyboard, rubberDucky, storageStick } from '@portcullis/domain/testing'
import { sql } from '@portcullis/platform/server/db/sql.ts'
import { systemActor } from '@portcullis/platform/server/http/actor.ts'
import { startTestApp, type TestApp } from '@portcullis/server/test/app.ts'
import { enrolAgent, enrolmentToken } from '@portcullis/server/test/builders.ts'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import type { WhitelistViolation } from '#features/contract.ts'

let t: TestApp

beforeAll(async () => {
  t = await startTestApp({ listen: true })
})
afterAll(() => t.close())

const violations = async (): Promise<WhitelistViolation[]> => {
  const answer = await (await t.admin()).get('/prime/webui/agents/UniqueWhitelistViolation')
  expect(answer.statusCode, answer.body).toBe(200)
  return answer.json()
}

describe('allowlist violations', () => {
  it('are distinct by model and serial number, and absent before an allowlist applies', async () => {
    const stick = (serial: string, portPath = '1-2') => storageStick({ serial, portPath })
    const [first, second] = [
      await enrolAgent(t, { devices: [plainKeyboard(), stick('A')] }),
      await enrolAgent(t, { devices: [stick('A'), stick('A', '1-3'), stick('B', '1-4')] }),
    ]
    expect(await violations()).toEqual([])
    await t.server.db.execute(
      sql`update peripherals p set unapproved = true where p.device_id like '%VID_0781%' and p.present`,
    )
    await t.server.db.execute(sql`update agent_rows r set armed = true where r.agent_id = ${second.agentId}::uuid`)
    const stickOf = (serialNumber: string, agentsCount: number, peripheralsCount: number) => ({
      vid: '0781',
      pid: '5581',
      serialNumber,
      guiVid: 'SanDisk Corp.',
      guiPid: 'Ultra',
      devIcon: 3,
      devIconDescription: 'Mass Storage',
      agentsCount,
      peripheralsCount,
      firstSeen: '2031-05-04T10:11:12.000Z',
      lastSeen: '2031-05-04T10:11:12.000Z',
      enforced: true,
      isKnownAttackTool: false,
    })
    expect(await violations()).toEqual([stickOf('A', 2, 3), stickOf('B', 1, 1)])
    await second.unplug('1-4')
    expect((await violations()).map((v) => v.serialNumber)).toEqual(['A'])
    await t.server.db.execute(sql`update agent_rows r set armed = false`)
    expect((await violations())[0]?.enforced).toBe(false)
    await first.unplug('1-2')
    expect((await violations())[0]?.agentsCount).toBe(1)
  })

  it('list attack tools first, even on a single Free host', async () => {
    await enrolAgent(t, { devices: [rubberDucky({ portPath: '1-1' })] })
    await t.server.db.execute(sql`update peripherals p set unapproved = true where p.device_id like '%VID_03EB%'`)
    const all = await violations()
    expect(all.map(({ vid, isKnownAttackTool }) => [vid, isKnownAttackTool])).toEqual([
      ['03EB', true],
      ['0781', false],
    ])
    await t.server.db.execute(sql`update peripherals p set unapproved = false where p.device_id like '%VID_03EB%'`)
  })

  it('are streamed when there are many, with any characters in a serial number', async () => {
    const agent = await enrolAgent(t, { devices: [storageStick({ serial: 'many' })] })
    await t.server.db.execute(sql`
      insert into peripherals (agent_id, device_id, design_id, port_path, serial, serial_folded, first_seen, last_seen, present, unapproved)
      select p.agent_id, 'made up ' || n, p.design_id, '9-' || n, (array['"quoted", "', E'line\nfeed', '\\N', '日本'])[n % 4 + 1] || n, '', now(), now(), true, true
      from peripherals p, generate_series(1, 2500) n where p.agent_id = ${agent.agentId}::uuid`)
    const serials = new Set((await violations()).map((v) => v.serialNumber))
    expect(serials.size).toBe(2_501)
    for (const serial of ['"quoted", "4', 'line\nfeed1', '\\N2', '日本3']) expect(serials).toContain(serial)
  })
})

describe('errors of agents', () => {
  const errors = async (query = '') => {
    const answer = await (await t.admin()).get(`/prime/webui/agents/errorTotal${query}`)
    expect(answer.statusCode, answer.body).toBe(200)
    return answer.json()
  }

  it('are counted per agent over a period, both ends included', async () => {
    expect(await errors()).toEqual({ total: 0, recordsTotal: 0, recordsFiltered: 0, data: [] })
    const [one, two] = [await enrolAgent(t), await enrolAgent(t)]
    const report = (agent: typeof one, message: string) =>
      agent.checkIn({ errors: [{ at: t.clock.now(), code: 'spool_full', message }] })
    await report(one, 'an old one')
    t.clock.advance(8 * 86_400_000)
    for (const agent of [one, two]) {
      await agent.session()
      await report(agent, 'the spool is full')
    }
    t.clock.advance(1_000)
    await report(two, 'still full')
    const rows = await errors()
    expect(rows).toMatchObject({ total: 3, recordsTotal: 2, recordsFiltered: 2 })
    expect(rows.data).toEqual([
      {
        uuid: two.agentId,
        hostIdentifier: two.facts.hostname,
        localIpAddress: '10.1.2.3',
        errorsCount: 2,
        lastErrorTime: '2031-05-12T10:11:13.000Z',
        lastError: 'still full',
      },
      expect.objectContaining({ uuid: one.agentId, errorsCount: 1, lastError: 'the spool is full' }),
    ])
    expect((await errors('?FromDate=2031-05-04&toDate=2031-05-04')).total).toBe(1)
    expect((await errors('?FromDate=2031-05-04&ToDate=2031-05-12')).total).toBe(4)
    expect((await errors('?FromDate=2031-05-05&ToDate=2031-05-11')).total).toBe(0)
    expect(await errors('?PageSize=1&PageNumber=2')).toMatchObject({
      total: 3,
      recordsTotal: 2,
      data: [{ uuid: one.agentId }],
    })
  })

  it('include commands that failed', async () => {
    const agent = await enrolAgent(t, { token: await enrolmentToken(t) })
    const before = (await errors()).total
    const command = {
      agentId: agent.agentId,
      kind: 'configure' as const,
      title: 'Arm',
      body: { mode: 'Armed', applyToPresent: false },
    } as const
    await t.db.transaction((tx) => t.commands.queue(tx, systemActor('tester'), [command]))
    const { commands } = await agent.checkIn()
    const { id } = JSON.parse(commands?.[0]?.payload ?? '{}')
    await agent.checkIn({ acks: [{ commandId: id, outcome: 'failed', message: 'sysfs is read-only' }] })
    const rows = await errors()
    expect(rows.total).toBe(before + 1)
    expect(rows.data.find((row: { uuid: string }) => row.uuid === agent.agentId)).toMatchObject({
      errorsCount: 1,
      lastError: 'Arm: sysfs is read-only',
    })
  })

  it('are refused for an invalid date', async () => {
    const answer = await (await t.admin()).get('/prime/webui/agents/errorTotal?FromDate=yesterday')
    expect([answer.statusCode, answer.json().errors[0].field]).toEqual([400, 'query.FromDate'])
  })
})
