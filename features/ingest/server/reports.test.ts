import { plainKeyboard, storageStick } from '@portcullis/domain/testing'
import { startTestApp, type TestApp } from '@portcullis/server/test/app.ts'
import { enrolAgent } from '@portcullis/server/test/builders.ts'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'

let t: TestApp
beforeAll(async () => {
  t = await startTestApp({ listen: true })
})
afterAll(() => t.close())

describe('a report', () => {
  it('of an earlier boot changes nothing', async () => {
    const agent = await enrolAgent(t, { devices: [plainKeyboard()] })
    const old = { bootId: agent.state.bootId, session: agent.state.session }
    await agent.session(true)
    const report = {
      ...agent.body({ changes: [{ op: 'removed', at: 1, portPath: '1-1' }] }),
      bootId: old.bootId,
      seq: 99,
    }
    const answer = await agent.post(report, old.session)
    expect([answer.status, JSON.parse(answer.text).code]).toEqual([409, 'agent_session_superseded'])
    expect((await agent.peripherals()).map(({ present }) => present)).toEqual([true])
  })

  it('is answered with a request for facts that differ from the stored ones', async () => {
    const agent = await enrolAgent(t)
    const error = { at: 1, code: 'disk_full', message: 'the disk is full' }
    expect(await agent.checkIn({ errors: [error], factsHash: 'f'.repeat(32) })).toMatchObject({ needFacts: true })
    expect(await agent.checkIn({ errors: [error] })).not.toHaveProperty('needFacts')
  })

  it('is answered with a request for the inventory if the previous report was lost', async () => {
    const agent = await enrolAgent(t, { devices: [plainKeyboard()] })
    agent.devices.set('1-2', storageStick({ portPath: '1-2' }))
    agent.body() // is lost
    const errors = [{ at: 1, code: 'disk_full', message: 'the disk is full' }]
    expect(await agent.checkIn({ errors })).toMatchObject({ needInventory: true })
  })

  it('with a new address creates events with that address', async () => {
    const agent = await enrolAgent(t, { facts: { hostname: 'moved-7', address: '10.1.1.1' } })
    const facts = { ...agent.facts, hostname: 'moved-7', address: '10.1.1.2' }
    await agent.checkIn({ facts, changes: [{ op: 'attached', at: 1, device: storageStick() }] })
    expect((await agent.events()).map((e) => [e.eventCode, e.eventEntityID]).at(-1)).toEqual([
      '0x110001',
      'moved-7 (10.1.1.2)',
    ])
  })

  it('of a host with a wrong clock is accepted', async () => {
    const agent = await enrolAgent(t)
    const changes = [{ op: 'attached' as const, at: 1, device: storageStick() }]
    agent.devices.set('1-1', storageStick())
    await agent.checkIn({ changes, clock: Number.MAX_SAFE_INTEGER })
    expect((await agent.detail()).clockSkewSeconds).toBe(2_147_483_647)
  })

  it('of changes before the first inventory shows no device until the requested inventory arrives', async () => {
    const agent = await enrolAgent(t, { only: 'enrol' })
    await agent.session()
    const stick = storageStick()
    const keyboard = plainKeyboard({ portPath: '1-2' })
    for (const device of [stick, keyboard]) agent.devices.set(device.portPath, device)
    const changes = [{ op: 'attached' as const, at: 1, device: stick }]
    expect(await agent.checkIn({ changes })).toMatchObject({ needInventory: true })
    expect(await agent.peripherals()).toEqual([])
    expect((await agent.inventory()).needInventory).toBeUndefined()
    expect((await agent.events()).map((e) => [e.eventCode, e.details])).toEqual([
      ['0x120002', expect.anything()],
      ['0x120001', '2 devices attached'],
    ])
  })
})
