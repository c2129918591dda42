import { startTestApp, type TestApp } from '@portcullis/server/test/app.ts'
import { enrolAgent, pageOf, type TestAgent } from '@portcullis/server/test/builders.ts'
import { person } from '@portcullis/server/test/people.ts'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import type { Agent } from '#features/contract.ts'

let t: TestApp

beforeAll(async () => {
  t = await startTestApp({ listen: true })
})
afterAll(() => t.close())

const path = ({ agentId }: Pick<TestAgent, 'agentId'>): string => `/prime/webui/agents/agent/${agentId}/owner`

describe('the owner of a host', () => {
  it('is a column and a filter of the list, and the notes are on the page', async () => {
    const [one, other] = [await enrolAgent(t), await enrolAgent(t)]
    const admin = await t.admin()
    const answer = await admin.put(path(one), { owner: 'Front desk', notes: 'Key at reception' })
    expect([answer.statusCode, answer.json()]).toEqual([200, { owner: 'Front desk', notes: 'Key at reception' }])
    expect((await admin.put(path(other), { owner: 'Lab 50%' })).json()).toEqual({ owner: 'Lab 50%', notes: '' })
    const owners = async (query: string) => (await pageOf<Agent>(t, `agents?${query}`)).data.map(({ owner }) => owner)
    expect(await owners('Owner=front')).toEqual(['Front desk'])
    expect(await owners('Owner=50%25')).toEqual(['Lab 50%'])
    expect(await owners('SortBy=owner_desc')).toEqual(['Lab 50%', 'Front desk'])
    expect(await one.detail()).toMatchObject({ owner: 'Front desk', notes: 'Key at reception' })
  })

  it('is audited with its earlier value, and only if it changes', async () => {
    const host = await enrolAgent(t)
    const admin = await t.admin()
    await admin.put(path(host), { owner: 'Ada' })
    await admin.put(path(host), { owner: 'Ben' })
    await admin.put(path(host), { owner: 'Ben' })
    const { data } = (await admin.get(`/prime/webui/events/GetAuditsIntegration?PageSize=50`)).json()
    const details = data
      .filter(
        ({ action, entity }: { action: string; entity: string }) =>
          action === 'agent.owner_changed' && entity === host.facts.hostname,
      )
      .map((record: { details: string }) => record.details)
    expect(details).toEqual(['owner "Ada" changed to "Ben"', 'owner "" changed to "Ada"'])
  })

  it('keeps the stored values if the request is refused', async () => {
    const host = await enrolAgent(t)
    const admin = await t.admin()
    await admin.put(path(host), { owner: 'Ada' })
    expect((await admin.put(path(host), { owner: 'x'.repeat(201) })).statusCode).toBe(400)
    expect((await admin.put(path(host), { owner: 'Ada\u202e' })).json().errors[0].field).toBe('body.owner')
    expect((await admin.put(path(host), {})).statusCode).toBe(400)
    expect((await admin.put(path({ agentId: 'nobody' }), { owner: 'x' })).statusCode).toBe(404)
    expect((await (await person(t)).api.put(path(host), { owner: 'x' })).statusCode).toBe(403)
    expect((await host.detail()).owner).toBe('Ada')
  })
})
