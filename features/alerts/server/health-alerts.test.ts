import { append } from '@portcullis/server/test/alerts.ts'
import { startTestApp, type TestApp } from '@portcullis/server/test/app.ts'
import { afterAll, beforeEach, describe, expect, it } from 'vitest'

const base = '/prime/webui/systemNotification'
let t: TestApp
const open: TestApp[] = []
beforeEach(async () => {
  t = await startTestApp()
  open.push(t)
})
afterAll(() => Promise.all(open.map((one) => one.close())))

const run = () => t.alerts.run()

describe('health alerts', () => {
  const health = async () => (await (await t.admin()).get(`${base}/systemHealth`)).json()
  const report = async (entity: string, severity: number, details: string) => {
    await append(t, {
      kind: severity === 5 ? 'recovered' : 'degraded',
      agentId: null,
      entity,
      hashtags: '',
      details,
      severity,
    })
    await run()
  }

  it('follow the subsystems: opened, worse, recovered, closed', async () => {
    const admin = await t.admin()
    await report('mail', 4, 'slow')
    const [item] = (await health()).items
    expect(item).toMatchObject({ name: 'mail', status: 'Warning', description: 'slow', count: 1, isRead: false })
    await admin.post(`${base}/systemHealth/read`)
    expect((await health()).items[0].isRead).toBe(true)
    await report('mail', 3, 'away')
    expect((await health()).items).toMatchObject([{ id: item.id, status: 'Error', count: 2, isRead: false }])
    await report('mail', 5, 'Answers in 3 ms.')
    expect((await health()).items).toMatchObject([{ id: item.id, status: 'OK', count: 2 }])
    expect((await admin.post(`${base}/systemHealth/pin`, item.id)).json()).toBe(true)
    expect((await health()).items[0].isPinned).toBe(true)
    await admin.post(`${base}/systemHealth/pin`, item.id)
    expect((await health()).items[0].isPinned).toBe(false)
    t.clock.advance(25 * 3_600_000)
    await t.alerts.forget(90)
    expect((await health()).items).toEqual([])
    await report('mail', 3, 'away again')
    expect((await health()).items).toMatchObject([{ id: item.id, count: 3, isRead: false }])
    expect((await (await t.admin()).post(`${base}/systemHealth/dismiss`, item.id)).json()).toBe(true)
    expect((await health()).items).toEqual([])
    // Closed during the problem: its end is not news.
    await report('mail', 5, 'well')
    expect((await health()).items).toEqual([])
  })

  it('show the overall status and its time', async () => {
    const answer = await health()
    expect(answer).toMatchObject({ status: expect.stringMatching(/^(?:OK|Warning|Error)$/), items: [] })
    expect(answer.lastUpdated).toMatch(/^\d{4}-\d\d-\d\dT.*Z$/)
  })
})
