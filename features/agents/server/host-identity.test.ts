import { createHash } from 'node:crypto'
import { plainMouse, storageStick } from '@portcullis/domain/testing'
import { startTestApp, type TestApp } from '@portcullis/server/test/app.ts'
import { enrolAgent, type TestAgent } from '@portcullis/server/test/builders.ts'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'

let t: TestApp

beforeAll(async () => {
  t = await startTestApp({ listen: true })
})
afterAll(() => t.close())

const codesOf = async (agent: TestAgent): Promise<string[]> => (await agent.events()).map((e) => e.eventCode)

describe('the same host again', () => {
  const hash = (n: number) => n.toString(16).repeat(64).slice(0, 64)
  const machineOf = (n: number) => ({
    machineIdHash: hash(n),
    smbiosHash: hash(n + 1),
    facts: { hostname: `same-${n}` },
  })
  const disconnectAll = () => {
    t.clock.advance(181_000)
    return t.server.ingest.sweep()
  }
  const areLinked = async (one: TestAgent, two: TestAgent) => {
    expect((await one.detail()).possibleDuplicates).toMatchObject([
      { uuid: two.agentId, hostIdentifier: two.facts.hostname },
    ])
    expect((await two.detail()).possibleDuplicates).toMatchObject([
      { uuid: one.agentId, hostIdentifier: one.facts.hostname },
    ])
  }
  const duplicateText = async (agent: TestAgent) =>
    (await agent.events()).find(({ eventCode }) => eventCode === '0x120012')?.details

  it('takes over its disconnected predecessor, with id, devices and history', async () => {
    const machine = machineOf(1)
    const old = await enrolAgent(t, { ...machine, devices: [storageStick()] })
    await disconnectAll()
    const fresh = await enrolAgent(t, {
      ...machine,
      devices: [storageStick(), plainMouse({ portPath: '1-2' })],
    })
    expect([fresh.tookOver, fresh.agentId]).toEqual([true, old.agentId])
    expect(await codesOf(fresh)).toEqual(['0x120002', '0x120001', '0x120004', '0x110001'])
    await expect(old.session()).rejects.toMatchObject({ status: 403, problem: { code: 'agent_unknown' } })
    expect((await old.post(old.body())).status).toBe(409)
  })

  it('is a possible duplicate of an armed predecessor, which keeps its key even when disconnected', async () => {
    const machine = machineOf(6)
    const old = await enrolAgent(t, machine)
    await old.checkIn({ enforcement: { mode: 'Armed', policyVersion: 1, reason: '' } })
    await disconnectAll()
    expect((await old.detail()).connectionStatus).toBe('Disconnected')
    const fresh = await enrolAgent(t, machine)
    expect(fresh.tookOver).toBe(false)
    expect(fresh.agentId).not.toBe(old.agentId)
    await areLinked(fresh, old)
    await old.session()
    expect((await old.checkIn()).nextCheckInSeconds).toBeGreaterThan(0)
  })

  it('is a possible duplicate while its predecessor is connected', async () => {
    const machine = machineOf(2)
    const one = await enrolAgent(t, machine)
    const two = await enrolAgent(t, machine)
    expect(two.tookOver).toBe(false)
    await areLinked(one, two)
    expect(await duplicateText(two)).toBe('Same hardware and machine ID as same-2')
  })

  it('is another one if it has another name or only other network interfaces', async () => {
    const machine = machineOf(8)
    const nic = (mac: string) => [{ name: 'eth0', mac, addresses: [], isUp: true }]
    const old = await enrolAgent(t, { ...machine, facts: { ...machine.facts, nics: nic('00:1b:21:00:00:01') } })
    await disconnectAll()
    const renamed = await enrolAgent(t, { ...machine, facts: { hostname: 'renamed', nics: nic('00:1b:21:00:00:01') } })
    const copied = await enrolAgent(t, { ...machine, facts: { ...machine.facts, nics: nic('00:1b:21:00:00:02') } })
    expect([renamed.tookOver, copied.tookOver]).toEqual([false, false])
    await old.session()
    expect((await old.detail()).possibleDuplicates).toHaveLength(2)
  })

  it('cannot be replaced by someone who knows its machine ID and name', async () => {
    const { smbiosHash, ...known } = machineOf(10)
    const victims = [
      await enrolAgent(t, { ...known, smbiosHash }),
      await enrolAgent(t, { ...known, machineIdHash: hash(4) }),
    ]
    await disconnectAll()
    const thief = await enrolAgent(t, known)
    const second = await enrolAgent(t, { ...known, machineIdHash: hash(4) })
    expect([thief.tookOver, second.tookOver]).toEqual([false, false])
    await areLinked(thief, victims[0] as TestAgent)
    await areLinked(second, victims[1] as TestAgent)
    for (const victim of victims) await victim.session()
  })

  it('is linked if its system was installed anew on the same hardware', async () => {
    const machine = machineOf(12)
    const old = await enrolAgent(t, machine)
    await disconnectAll()
    const reinstalled = await enrolAgent(t, { ...machine, machineIdHash: hash(5) })
    expect(reinstalled.tookOver).toBe(false)
    await areLinked(reinstalled, old)
    expect(await duplicateText(reinstalled)).toBe('Same hardware as same-12, reinstalled or cloned')
  })

  it('is another host if only its machine ID is the same, as in a golden image', async () => {
    await enrolAgent(t, { machineIdHash: hash(3), smbiosHash: hash(4) })
    const clone = await enrolAgent(t, { machineIdHash: hash(3), smbiosHash: hash(5) })
    expect(await codesOf(clone)).toEqual(['0x120002', '0x120001'])
    const boards = [await enrolAgent(t, { machineIdHash: hash(9) })]
    await disconnectAll()
    boards.push(await enrolAgent(t, { machineIdHash: hash(9) }))
    const [first, second] = boards as [TestAgent, TestAgent]
    expect(second.agentId).not.toBe(first.agentId)
    await areLinked(first, second)
    expect(await duplicateText(second)).toBe(`Same machine ID as ${first.facts.hostname}`)
    await first.session()
  })

  it('is not recognised by placeholders, which earlier agents report as identities', async () => {
    const hashOf = (text: string) => createHash('sha256').update(`portcullis:${text}`).digest('hex')
    const machine = {
      machineIdHash: hashOf('uninitialized'),
      smbiosHash: hashOf('00020003-0004-0005-0006-000700080009'),
      facts: { hostname: 'board' },
    }
    await enrolAgent(t, machine)
    await disconnectAll()
    const other = await enrolAgent(t, machine)
    expect(other.tookOver).toBe(false)
    expect((await other.detail()).possibleDuplicates).toEqual([])
  })

  it('does not show placeholders of its vendor as its model', async () => {
    const facts = { vendor: 'To Be Filled By O.E.M.', model: 'System Product Name', sku: 'Default  string' }
    const board = await enrolAgent(t, { facts })
    expect(await board.detail()).toMatchObject({ pcModel: '||Notebook||', facts: { vendor: '', model: '', sku: '' } })
  })
})
