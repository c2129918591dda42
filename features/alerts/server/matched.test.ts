import { rubberDucky, unifyingReceiver1207 } from '@portcullis/domain/testing'
import { append, deviceEvent } from '@portcullis/server/test/alerts.ts'
import { startTestApp, type TestApp } from '@portcullis/server/test/app.ts'
import { enrolAgent } from '@portcullis/server/test/builders.ts'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import type { AlertTimeline } from '#features/contract.ts'

const base = '/prime/webui/systemNotification'
let t: TestApp
beforeAll(async () => {
  t = await startTestApp({ listen: true })
})
afterAll(() => t.close())

const timelineOf = async (kind: string): Promise<AlertTimeline> => {
  const admin = await t.admin()
  await t.alerts.run()
  const [notice] = (await admin.get(`${base}/riskNotifications?kind=${kind}`)).json()
  return (await admin.get(`${base}/notices/${notice.id}`)).json()
}

describe('the cause of an alert', () => {
  it('names the entry in the list of attack tools, and the advisory', async () => {
    const agent = await enrolAgent(t)
    await agent.plug(rubberDucky({ portPath: '1-1' }))
    await agent.plug(unifyingReceiver1207({ portPath: '1-2' }))
    const rows = await agent.peripherals()
    const tool = rows.find(({ attackTool }) => attackTool !== '')
    const receiver = rows.find(({ isVulnerablePeripheral }) => isVulnerablePeripheral)
    expect((await timelineOf('attackTool')).matched).toEqual(tool?.evidence)
    expect(tool?.evidence.length).toBeGreaterThan(0)
    const { matched } = await timelineOf('vulnerable')
    const advisories = (receiver?.vulnerabilities ?? []).filter(({ confidence }) => confidence !== 'family')
    expect(advisories.length).toBeGreaterThan(0)
    expect(matched.map((line, i) => line.startsWith(advisories[i]?.id ?? '?'))).toEqual(advisories.map(() => true))
    expect(matched[0]).toContain(`: ${advisories[0]?.weakness}`)
  })

  it('is empty for a device that was removed from the inventory, and for other kinds', async () => {
    await append(t, deviceEvent('blocked'), deviceEvent('attackTool', { entity: 'GONE (10.0.0.7)', pid: '0001' }))
    expect((await timelineOf('blocked')).matched).toEqual([])
    const admin = await t.admin()
    const [gone] = (await admin.get(`${base}/riskNotifications?kind=attackTool&title=GONE`)).json()
    expect((await admin.get(`${base}/notices/${gone.id}`)).json().matched).toEqual([])
  })
})
