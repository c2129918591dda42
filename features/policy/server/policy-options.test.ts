import { startTestApp, type TestApp } from '@portcullis/server/test/app.ts'
import { agentPost, enrolAgent, type TestAgent } from '@portcullis/server/test/builders.ts'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import type { PolicyPayload, SignedText } from '#features/contract.ts'

let t: TestApp
const base = '/prime/webui'

beforeAll(async () => {
  t = await startTestApp({ listen: true })
})
afterAll(() => t.close())

const post = async (path: string, body: unknown): Promise<void> => {
  const answer = await (await t.admin()).post(`${base}/generalconfig/${path}`, body)
  expect(answer.statusCode, answer.body).toBe(200)
}
const policyOf = async (agent: TestAgent, more: Record<string, unknown> = { understands: ['options'] }) => {
  const answer = await agentPost(t, '/agent/v1/policy', { nonce: 'n'.repeat(24), ...more }, agent.state.session)
  expect(answer.status, answer.text).toBe(200)
  return JSON.parse((JSON.parse(answer.text) as SignedText).payload) as PolicyPayload
}
const armed = { enforcement: { mode: 'Armed' as const, policyVersion: 1, reason: '' } }

describe('options of a signed policy', () => {
  it('are set by tags and sent to agents that support them', async () => {
    const [kiosk, other] = [await enrolAgent(t), await enrolAgent(t)]
    await kiosk.checkIn(armed)
    await other.checkIn(armed)
    expect(await policyOf(kiosk)).not.toHaveProperty('options')
    await post('AddOrUpdateVendorA', {
      VENDORA_NO_LAST_KEYBOARD_TAGS: 'Kiosk, lobby',
      VENDORA_FAIL_CLOSED_TAGS: 'vault',
    })
    await post('addhashtags', { hashtags: ['kiosk'], elementIds: [kiosk.agentId], entityType: 'Agent' })
    await t.policy.drain()
    expect(await kiosk.checkIn()).toMatchObject({ needPolicy: true })
    expect((await policyOf(kiosk)).options).toEqual({ keepsLastKeyboard: false, failsClosed: false })
    // An agent without support for this member would refuse the whole policy.
    expect(await policyOf(kiosk, {})).not.toHaveProperty('options')
    expect(await policyOf(other)).not.toHaveProperty('options')
    await post('addhashtags', { hashtags: ['VAULT'], elementIds: [kiosk.agentId], entityType: 'Agent' })
    expect((await policyOf(kiosk)).options).toEqual({ keepsLastKeyboard: false, failsClosed: true })
  })
})
