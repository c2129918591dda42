import { plainKeyboard } from '@portcullis/domain/testing'
import { sql } from '@portcullis/platform/server/db/sql.ts'
import { startTestApp, type TestApp } from '@portcullis/server/test/app.ts'
import { enrolAgent, pageOf } from '@portcullis/server/test/builders.ts'
import { insertFleet } from '@portcullis/server/test/fleet.ts'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import type { AuditRow, Job, PolicyRuleResource } from '#features/contract.ts'

let t: TestApp

beforeAll(async () => {
  t = await startTestApp({ listen: true })
})
afterAll(() => t.close())

const post = async (path: string, body: unknown) => (await t.admin()).post(`/prime/webui/${path}`, body)
const job = async (id: string): Promise<Job> => (await (await t.admin()).get(`/prime/webui/jobs/${id}`)).json()
const rulesOf = async (query = ''): Promise<PolicyRuleResource[]> =>
  (await pageOf<PolicyRuleResource>(t, `policy/rules?PageSize=1000&${query}`)).data
const approve = async (uuids: readonly string[], reason?: string): Promise<string> => {
  const answer = await post('agents/bulk', { uuids, action: 'approveAll', ...(reason === undefined ? {} : { reason }) })
  const { jobId } = answer.json()
  await t.jobs.drain()
  expect(await job(jobId)).toMatchObject({ state: 'completed' })
  return jobId
}
const undo = (jobId: string, body: object = {}) => post(`policy/jobs/${jobId}/undo`, body)

describe('a bulk approval', () => {
  it('is one record with its hosts, and its rules state the reason', async () => {
    const agents = await Promise.all([1, 2, 3].map(() => enrolAgent(t, { devices: [plainKeyboard()] })))
    const uuids = agents.map(({ agentId }) => agentId)
    await approve(uuids, 'Baseline of the lobby')
    const ours = (await rulesOf()).filter(({ host }) => uuids.includes(host ?? ''))
    expect(ours.map(({ reason }) => reason)).toEqual(Array(3).fill('Baseline of the lobby'))
    for (const uuid of uuids) {
      const { data } = await pageOf<AuditRow>(t, `admin/audit/records?host=${uuid}`)
      const approvals = data.filter(
        ({ variant, action }) => variant === 'approveAll' || action.startsWith('peripheral'),
      )
      expect(approvals).toMatchObject([{ action: 'peripheral.allApproved', reason: 'Baseline of the lobby', hosts: 3 }])
      expect(approvals[0]?.objects.map(({ id }) => id).toSorted()).toEqual(uuids.toSorted())
    }
  })

  it('is undone as a whole, even if its job made several versions', async () => {
    const before = await rulesOf()
    // More hosts than one step of the job changes.
    await insertFleet(t, 501)
    const rows = await t.db.query<{ id: string }>(sql`select a.agent_id as id from agents a where a.version = '9.9.9'`)
    const jobId = await approve(rows.map(({ id }) => id))
    const { data: versions } = await pageOf<{ summary: string }>(t, 'policy/history?PageSize=2')
    expect(versions.filter(({ summary }) => summary.startsWith('Approved all devices'))).toHaveLength(2)
    const approved = await rulesOf()
    expect(approved.length).toBeGreaterThan(before.length + 500)
    const { deleted, version } = (await undo(jobId, { dryRun: true })).json()
    expect(deleted).toBe(approved.length - before.length)
    const done = (await undo(jobId)).json()
    expect(done).toMatchObject({ deleted, version: version + 1 })
    expect(await rulesOf()).toEqual(before)
    expect((await undo(jobId)).statusCode).toBe(409)
  })

  it('cannot be undone if its job changed no rules', async () => {
    const { agentId } = await enrolAgent(t, { devices: [plainKeyboard()] })
    await approve([agentId])
    const tagging = (await post('agents/bulk', { uuids: [agentId], action: 'tag', hashtags: ['lobby'] })).json().jobId
    const approvedAgain = await approve([agentId])
    await t.jobs.drain()
    for (const jobId of [tagging, approvedAgain])
      for (const dryRun of [true, false]) {
        const refused = await undo(jobId, { dryRun })
        expect([refused.statusCode, refused.json().detail]).toEqual([
          409,
          'This job changed no rules, so there is nothing to undo.',
        ])
      }
  })

  it('is not undone if one of its rules changed since, or if the job is unknown', async () => {
    const agent = await enrolAgent(t, { devices: [plainKeyboard()] })
    const jobId = await approve([agent.agentId])
    const [rule] = await rulesOf(`host=${agent.agentId}`)
    await (await t.admin()).delete(`/prime/webui/policy/rules/${rule?.id}`)
    const refused = await undo(jobId)
    expect([refused.statusCode, refused.json().code]).toEqual([409, 'conflict'])
    for (const id of ['00000000-0000-4000-8000-000000000000', 'x']) expect((await undo(id)).statusCode).toBe(404)
  })
})
