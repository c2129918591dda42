import { plainKeyboard, storageStick } from '@portcullis/domain/testing'
import { sql } from '@portcullis/platform/server/db/sql.ts'
import { startTestApp, type TestApp } from '@portcullis/server/test/app.ts'
import { enrolAgent } from '@portcullis/server/test/builders.ts'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import type { getModelPassport, ResponseOf } from '#features/contract.ts'

type Passport = ResponseOf<typeof getModelPassport>

let t: TestApp

beforeAll(async () => {
  t = await startTestApp({ listen: true })
})
afterAll(() => t.close())

const day = 86_400_000
const dayOf = (at: number): string => new Date(at).toISOString().slice(0, 10)
const read = async (model: string): Promise<Passport> => {
  const answer = await (await t.admin()).get(`/prime/webui/models/${model}`)
  expect(answer.statusCode, answer.body).toBe(200)
  return answer.json()
}

describe('the page of a model', () => {
  it('counts hosts by day, decisions, variants and serial numbers', async () => {
    const first = await enrolAgent(t)
    await first.plug(storageStick({ portPath: '1-2', serial: '4C530001230615112500' }))
    await first.plug(storageStick({ portPath: '1-3', serial: '4C530001230615112501' }))
    const started = t.clock.now() - 100 * day
    await t.db.execute(sql`update peripherals set first_seen = ${new Date(started)}::timestamptz`)
    await t.db.execute(sql`update models set first_seen = ${new Date(started)}::timestamptz`)
    const second = await enrolAgent(t)
    const third = await enrolAgent(t)
    await second.plug(storageStick({ portPath: '1-2', serial: '4C530001230615112500' }))
    await second.plug(storageStick({ portPath: '1-3', serial: '000000' }))
    await third.plug(storageStick({ portPath: '1-2', serial: '', interfaces: ['08:06:50', '03:01:01'] }))
    const admin = await t.admin()
    const rule = { effect: 'allow', vid: '0781', pid: '5581', serial: '4C530001230615112500', reason: 'stick of Ada' }
    expect((await admin.post('/prime/webui/policy/rules', rule)).statusCode).toBe(200)
    await t.policy.drain()
    const passport = await read('0781:5581')
    expect(passport.model).toMatchObject({ vid: '0781', pid: '5581', agentsCount: 3, peripheralsCount: 5 })
    expect(passport.model.firstSeen).toBe(new Date(started).toISOString().slice(0, 23))
    expect(passport.days).toEqual([{ day: dayOf(t.clock.now()), hosts: 2 }])
    expect(passport).toMatchObject({ earlierHosts: 1, isComplete: true })
    expect(passport.serials).toEqual({ none: 1, placeholder: 1, unique: 1, shared: 2 })
    expect(passport.decisions).toEqual([
      {
        decision: 'allow',
        reason: 'Allowed on all hosts: stick of Ada',
        ruleID: expect.any(String),
        hosts: 2,
        devices: 2,
      },
      { decision: 'block', reason: 'No rule allows it', ruleID: null, hosts: 2, devices: 2 },
      { decision: 'block', reason: 'Attack-tool finding', ruleID: null, hosts: 1, devices: 1 },
    ])
    expect(passport.fingerprints.map(({ hosts, devices }) => [hosts, devices])).toEqual([
      [2, 4],
      [1, 1],
    ])
    expect(await read('0781:5581')).toEqual(await read('0781:5581'.toLowerCase()))
  })

  it('counts devices of one host with the same serial number as shared', async () => {
    const host = await enrolAgent(t)
    const twins = { vid: '0951', pid: '1666', serial: '001A92053B6ABE9081370C21' }
    await host.plug(storageStick({ ...twins, portPath: '1-2' }))
    await host.plug(storageStick({ ...twins, portPath: '1-3' }))
    const { model, serials } = await read('0951:1666')
    expect([model.peripheralsCount, serials]).toEqual([2, { none: 0, placeholder: 0, unique: 0, shared: 2 }])
  })

  it('counts findings by verdict', async () => {
    const admin = await t.admin()
    const open = async () =>
      (await admin.get('/prime/webui/findings?state=Open&vid=0781&pid=5581')).json<{ recordsFiltered: number }>()
        .recordsFiltered
    const { findings } = await read('0781:5581')
    expect(findings.find(({ verdict }) => verdict === null)?.count ?? 0).toBe(await open())
  })

  it('refuses a model that was never seen, and text that is no model', async () => {
    await (await enrolAgent(t)).plug(plainKeyboard())
    const admin = await t.admin()
    for (const model of ['FFFF:FFFF', '0781', '0781:55811', 'zzzz:5581', "0781:55'1"])
      expect((await admin.get(`/prime/webui/models/${encodeURIComponent(model)}`)).statusCode, model).toBe(404)
  })
})
