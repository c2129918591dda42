/** Acceptances that are not in force: their rows were changed in the database, or another finding is open. */

import { rubberDucky } from '@portcullis/domain/testing'
import { sql } from '@portcullis/platform/server/db/sql.ts'
import { startTestApp, type TestApp } from '@portcullis/server/test/app.ts'
import { agentPost, enrolAgent } from '@portcullis/server/test/builders.ts'
import { afterAll, beforeAll, expect, it } from 'vitest'
import type { PolicyPayload, SignedText } from '#features/contract.ts'

let t: TestApp
beforeAll(async () => {
  t = await startTestApp({ listen: true })
})
afterAll(() => t.close())

const findingOn = async (speedMbps: number): Promise<{ agentId: string; deviceID: string; attackTool: string }> => {
  const agent = await enrolAgent(t, { devices: [rubberDucky({ portPath: '1-5', speedMbps })] })
  const [device] = await agent.peripherals()
  return { agentId: agent.agentId, deviceID: device?.deviceID ?? '', attackTool: device?.attackTool ?? '' }
}

it('does not evaluate devices by an acceptance that this server did not write', async () => {
  const { agentId: uuid, deviceID } = await findingOn(12)
  const api = t.as(await t.signIn())
  const answer = await api.post('/prime/webui/policy/acceptedFindings', { uuid, deviceID, reason: 'our own' })
  expect(answer.statusCode, answer.body).toBe(200)
  expect((await findingOn(480)).attackTool).toBe('')
  await t.db.execute(sql`update accepted_findings set accepted_by = 'somebody else'`)
  expect((await findingOn(1.5)).attackTool).toBe('suspected')
})

it('is not sent to hosts while another finding with the same rule fingerprint is open', async () => {
  const agent = await enrolAgent(t, { devices: [rubberDucky({ portPath: '1-6', manufacturer: 'Other' })] })
  await agent.checkIn({ enforcement: { mode: 'Armed', policyVersion: 1, reason: '' } })
  const [device] = await agent.peripherals()
  const api = t.as(await t.signIn())
  const body = { uuid: agent.agentId, deviceID: device?.deviceID, reason: 'our own' }
  const answer = await api.post('/prime/webui/policy/acceptedFindings', body)
  expect(answer.statusCode, answer.body).toBe(200)
  const acceptedOf = async (): Promise<PolicyPayload['accepted']> => {
    const request = { nonce: 'n'.repeat(24), understands: ['accepted'] }
    const { text } = await agentPost(t, '/agent/v1/policy', request, agent.state.session)
    return JSON.parse((JSON.parse(text) as SignedText).payload).accepted
  }
  const { fingerprint } = answer.json().acceptance
  expect(await acceptedOf()).toEqual([fingerprint])
  await t.db.execute(sql`update designs set attack_tool = 1 where policy_rule_fingerprint = ${fingerprint}`)
  expect(await acceptedOf()).toBeUndefined()
})
