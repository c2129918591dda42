import { rubberDucky } from '@portcullis/domain/testing'
import { createFakeClock, startTestApp, type TestApp } from '@portcullis/server/test/app.ts'
import { enrolAgent, enrolmentToken } from '@portcullis/server/test/builders.ts'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import type { getTrends, ResponseOf } from '#features/contract.ts'

const dayMs = 86_400_000

describe('trends of the fleet', () => {
  const clock = createFakeClock(Date.UTC(2031, 4, 4, 23, 50))
  let t: TestApp
  beforeAll(async () => {
    t = await startTestApp({ clock, listen: true })
  })
  afterAll(() => t.close())

  const trends = async (days?: number): Promise<ResponseOf<typeof getTrends>> =>
    (await (await t.admin()).get(`/prime/webui/trends${days === undefined ? '' : `?days=${days}`}`)).json()

  it('keeps the last numbers of a day, and returns the current ones for today', async () => {
    await t.overview.note()
    await enrolAgent(t, { facts: { hostname: 'kiosk-1' }, devices: [rubberDucky({ portPath: '1-1' })] })
    clock.advance(5 * 60_000)
    await t.overview.note()
    clock.advance(dayMs)
    const { data, newModels } = await trends()
    expect(data.map(({ day, hosts, attackTools, openFindings }) => [day, hosts, attackTools, openFindings])).toEqual([
      ['2031-05-04', 1, 1, 1],
      ['2031-05-05', 1, 1, 1],
    ])
    expect(newModels).toEqual([{ day: '2031-05-04', count: 1 }])
  })

  it('does not replace numbers by those of an earlier moment', async () => {
    await t.overview.note()
    clock.advance(-60_000)
    await enrolAgent(t, { token: await enrolmentToken(t), facts: { hostname: 'kiosk-2' } })
    await t.overview.note()
    clock.advance(dayMs)
    const { data } = await trends(2)
    expect(data.map(({ day, hosts }) => [day, hosts])).toEqual([
      ['2031-05-05', 1],
      ['2031-05-06', 2],
    ])
  })

  it('agrees with the summary, and refuses other numbers of days', async () => {
    const summary = (await (await t.admin()).get('/prime/webui/agents/AgentsClassificationSummary')).json()
    const { data } = await trends(1)
    const findings = await (await t.admin()).get('/prime/webui/findings?state=Open&PageSize=1')
    expect(data[0]?.openFindings).toBe(findings.json().recordsFiltered)
    expect(data).toEqual([
      expect.objectContaining({ hosts: summary.total, connected: summary.connected, ...summary.protection }),
    ])
    for (const days of ['0', '367', 'x']) {
      const answer = await (await t.admin()).get(`/prime/webui/trends?days=${days}`)
      expect([answer.statusCode, answer.json().code]).toEqual([400, 'validation_failed'])
    }
  })
})
