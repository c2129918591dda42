import { plainMouse, rubberDucky, storageStick, unifyingReceiver1207 } from '@portcullis/domain/testing'
import { sql } from '@portcullis/platform/server/db/sql.ts'
import { startTestApp, type TestApp } from '@portcullis/server/test/app.ts'
import { enrolAgent, pageOf } from '@portcullis/server/test/builders.ts'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'

let t: TestApp

beforeAll(async () => {
  t = await startTestApp({ listen: true })
})
afterAll(() => t.close())

describe('the risk of a peripheral', () => {
  it('is the sum of the same factors as the risk of its host', async () => {
    for (const device of [rubberDucky(), unifyingReceiver1207(), plainMouse()]) {
      const agent = await enrolAgent(t, { devices: [device] })
      const [row] = await agent.peripherals()
      const host = await agent.detail()
      expect(row?.riskScore).toBe(host.riskScore)
      expect(row?.riskScore).toBe(row?.riskFactors.reduce((sum, f) => sum + f.points, 0))
      expect(row?.riskFactors.map((f) => [f.factor, f.points])).toEqual(
        host.riskFactors.map((f) => [f.factor, f.points]),
      )
      for (const [i, factor] of (row?.riskFactors ?? []).entries())
        expect(host.riskFactors[i]?.evidence.endsWith(`: ${factor.evidence}`), factor.evidence).toBe(true)
    }
  })

  it('includes points for being unapproved, and sorts the list', async () => {
    const agent = await enrolAgent(t, { devices: [storageStick({ portPath: '1-1' }), plainMouse({ portPath: '1-2' })] })
    await t.server.db.execute(
      sql`update peripherals p set unapproved = true where p.agent_id = ${agent.agentId}::uuid and p.port_path = '1-1'`,
    )
    const rows = await agent.peripherals('')
    expect(rows.map((row) => [row.hierarchy, row.riskScore, row.riskFactors.map((f) => f.factor)])).toEqual([
      ['1-2', 0, []],
      ['1-1', 10, ['Not on the allowlist']],
    ])
    const sorted = (await pageOf<{ riskScore: number }>(t, 'peripherals?SortBy=riskScore_desc')).data
    expect(sorted.map((row) => row.riskScore)).toEqual(sorted.map((row) => row.riskScore).sort((a, b) => b - a))
    expect(sorted[0]?.riskScore).toBeGreaterThan(10)
  })
})
