import { rubberDucky, storageStick } from '@portcullis/domain/testing'
import { startTestApp, type TestApp } from '@portcullis/server/test/app.ts'
import { enrolAgent, type TestAgent } from '@portcullis/server/test/builders.ts'
import { person } from '@portcullis/server/test/people.ts'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import type { ChangeRequest } from '#features/contract.ts'

const base = '/prime/webui'
const stick = { vid: '0781', pid: '5581' }
const armed = { enforcement: { mode: 'Armed' as const, policyVersion: 1, reason: '' } }
let t: TestApp
let hosts: TestAgent[]

beforeAll(async () => {
  t = await startTestApp({ listen: true })
  const devices = [
    storageStick({ portPath: '1-1', authorized: false }),
    rubberDucky({ portPath: '1-2', authorized: false }),
  ]
  hosts = await Promise.all([1, 2].map(() => enrolAgent(t, { devices })))
  for (const host of hosts) await host.checkIn(armed)
})
afterAll(() => t.close())

const post = async (path: string, body: unknown) => {
  const answer = await (await t.admin()).post(`${base}/${path}`, body)
  expect(answer.statusCode, answer.body).toBe(200)
  return answer.json()
}
const uuids = () => hosts.map(({ agentId }) => agentId)

describe('the preview of a tag change', () => {
  it('evaluates all changes together and names blocked attack tools', async () => {
    await post('generalconfig/addhashtags', { hashtags: ['closed'], elementIds: uuids() })
    await post('generalconfig/addhashtags', { hashtags: ['open'] })
    await post('policy/rules', { effect: 'deny', ...stick, tag: 'closed', reason: 'no sticks' })
    await post('policy/rules', { effect: 'allow', ...stick, tag: 'open', reason: 'sticks' })
    await t.server.policy.drain()
    const changes = (...some: [string, string][]) => ({
      changes: some.map(([effect, name]) => ({ effect, hashtags: [name], uuids: uuids() })),
    })
    const none = { agents: 0, peripherals: 0, attackTools: 0 }
    const worksAgain = async (...some: [string, string][]) =>
      (await post('policy/tags/preview', changes(...some))).prediction.worksAgain
    expect(await worksAgain(['add', 'open'])).toEqual(none)
    expect(await worksAgain(['remove', 'closed'])).toEqual(none)
    expect(await worksAgain(['add', 'open'], ['remove', 'closed'])).toEqual({
      agents: 2,
      peripherals: 2,
      attackTools: 0,
    })

    const tool = { vid: '03EB', pid: '2401', overrideAttackTool: true }
    await post('policy/rules', { effect: 'allow', ...tool, tag: 'open', reason: 'exercise' })
    const both = await post('policy/tags/preview', changes(['add', 'open'], ['remove', 'closed']))
    expect(both).toMatchObject({
      newlyAllowed: 2,
      secondPerson: false,
      prediction: { agents: 2, peripherals: 4, worksAgain: { agents: 2, peripherals: 4, attackTools: 2 } },
    })
    const lines = ['Type,Identifier,Name,Tags', ...uuids().map((id) => `Agent,${id},,open`)].join('\r\n')
    const head =
      '--b\r\ncontent-disposition: form-data; name="file"; filename="a.csv"\r\ncontent-type: text/csv\r\n\r\n'
    const imported = await (await t.admin()).post(
      `${base}/generalconfig/importtags?dryRun=true`,
      `${head}${lines}\r\n--b--\r\n`,
      { 'content-type': 'multipart/form-data; boundary=b' },
    )
    expect(imported.json().worksAgain).toEqual(both.prediction.worksAgain)
  })

  it('matches the request for a second approver', async () => {
    const { settings } = (await (await t.admin()).get(`${base}/policy`)).json()
    await (await t.admin()).put(`${base}/policy/settings`, { ...settings, twoPersonHosts: 1 })
    await person(t, { profile: 10 })
    const order = { hashtags: ['open'], elementIds: uuids() }
    const refused = await (await t.admin()).post(`${base}/generalconfig/addhashtags`, order)
    expect(refused.statusCode).toBe(403)
    const { data } = (await (await t.admin()).get(`${base}/policy/changerequests`)).json() as { data: ChangeRequest[] }
    expect(data[0]?.details).toContain('2 blocked attack tools will work again on 2 hosts.')
  })
})
