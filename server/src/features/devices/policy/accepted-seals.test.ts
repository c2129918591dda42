/** Rows of accepted findings that a database writer changed. */
import { rubberDucky } from '@portcullis/domain/testing'
import { afterAll, beforeAll, expect, it } from 'vitest'
import { sql } from '#platform/db/sql.ts'
import { startTestApp, type TestApp } from '#test/app.ts'
import { enrolAgent } from '#test/builders.ts'

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

it('does not judge devices by an acceptance that this server did not write', async () => {
  const { agentId: uuid, deviceID } = await findingOn(12)
  const api = t.as(await t.signIn())
  const answer = await api.post('/prime/webui/policy/acceptedFindings', { uuid, deviceID, reason: 'our own' })
  expect(answer.statusCode, answer.body).toBe(200)
  expect((await findingOn(480)).attackTool).toBe('')
  await t.db.execute(sql`update accepted_findings set accepted_by = 'somebody else'`)
  expect((await findingOn(1.5)).attackTool).toBe('suspected')
})
