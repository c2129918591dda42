// Invariant: The events of attachments say whether a device is new on its host, came back, or moved.

import { randomUUID } from 'node:crypto'
import { storageStick } from '@portcullis/domain/testing'
import { startTestApp, type TestApp } from '@portcullis/server/test/app.ts'
import { enrolAgent, type TestAgent } from '@portcullis/server/test/builders.ts'
import { afterAll, beforeAll, expect, it } from 'vitest'

let t: TestApp

beforeAll(async () => {
  t = await startTestApp({ listen: true })
})
afterAll(() => t.close())

const stick = (serial: string, portPath = '1-1') => storageStick({ serial, portPath })
/** Returns the newest event, with what its details add to the name of the device. */
const newest = async (agent: TestAgent) => {
  const event = (await agent.events()).at(-1)
  return [event?.eventCode, event?.severityString, event?.details.replace(/^[^)]*\)(: )?/, '')]
}

it('tells first, repeated and moved attachments apart', async () => {
  const [one, two] = [await enrolAgent(t), await enrolAgent(t)]
  await one.plug(stick('M1'))
  expect(await newest(one)).toEqual(['0x110001', 'Notice', ''])
  // Both hosts have a device with this serial number, so none of them moved.
  await two.plug(stick('M1'))
  expect(await newest(two)).toEqual(['0x110001', 'Notice', ''])
  await two.unplug('1-1')
  t.clock.advance(1_000)
  await one.unplug('1-1')
  await two.plug(stick('M1'))
  expect(await newest(two)).toEqual(['0x110005', 'Notice', `last attached to ${one.facts.hostname}`])
  await two.unplug('1-1')
  await two.plug(stick('M1'))
  expect(await newest(two)).toEqual(['0x110004', 'Notice', ''])
  await two.unplug('1-1')
  await two.plug(stick('M1', '1-2'))
  expect(await newest(two)).toEqual(['0x110005', 'Notice', 'last attached to port 1-1'])
  t.clock.advance(1_000)
  await two.unplug('1-2')
  await one.plug(stick('M1'))
  expect(await newest(one)).toEqual(['0x110005', 'Notice', `last attached to ${two.facts.hostname}`])
})

it('says that a device moved although one transaction stores its removal, too', { retry: 2 }, async () => {
  const serial = randomUUID()
  const [one, two] = [await enrolAgent(t, { devices: [stick(serial)] }), await enrolAgent(t)]
  const removed = one.body({ changes: [{ op: 'removed', at: t.clock.now(), portPath: '1-1' }] })
  const attached = two.body({ changes: [{ op: 'attached', at: t.clock.now(), device: stick(serial) }] })
  expect((await Promise.all([one.post(removed), two.post(attached)])).map(({ status }) => status)).toEqual([200, 200])
  expect(await newest(two)).toEqual(['0x110005', 'Notice', `last attached to ${one.facts.hostname}`])
})

it('follows no serial number of many hosts', async () => {
  for (let i = 0; i < 7; i++) {
    const agent = await enrolAgent(t)
    await agent.plug(stick('MANY'))
    const [code] = await newest(agent)
    expect([i, code]).toEqual([i, i === 0 || i > 5 ? '0x110001' : '0x110005'])
    await agent.unplug('1-1')
  }
})
