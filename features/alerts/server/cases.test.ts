import { append, deviceEvent } from '@portcullis/server/test/alerts.ts'
import { startTestApp, type TestApp } from '@portcullis/server/test/app.ts'
import { type Person, person } from '@portcullis/server/test/people.ts'
import { afterAll, beforeAll, beforeEach, describe, expect, it } from 'vitest'
import type { AlertTimeline, RiskNotification } from '#features/contract.ts'

const base = '/prime/webui/systemNotification'
let t: TestApp
let admin: Person['api']
let manager: Person
beforeAll(async () => {
  t = await startTestApp()
  manager = await person(t, { profile: 20 })
})
/** Signs in again, because time passed. */
const fresh = async () => {
  admin = await t.admin()
  manager = { ...manager, api: t.as(await t.signIn(manager.userName, manager.password)) }
}
beforeEach(fresh)
afterAll(() => t.close())

const post = async (path: string, body: unknown, api: Person['api'] = manager.api) => {
  const answer = await api.post(`${base}/${path}`, body)
  return { status: answer.statusCode, ...answer.json() }
}
const list = async (query = '', api: Person['api'] = manager.api): Promise<RiskNotification[]> =>
  (await api.get(`${base}/riskNotifications${query}`)).json()
const ids = async (query = '', api?: Person['api']) => (await list(query, api)).map(({ id }) => id)
const one = async (id: number): Promise<AlertTimeline> => (await manager.api.get(`${base}/notices/${id}`)).json()
const historyOf = async (id: number) => (await one(id)).history.map(({ action, detail }) => [action, detail])
let models = 0x1000
/** Raises an alert of its own model and returns its id. */
const raise = async (kind: 'blocked' | 'attackTool' | 'vulnerable' = 'vulnerable') => {
  models++
  const pid = models.toString(16).toUpperCase()
  const again = async () => {
    await append(t, deviceEvent(kind, { pid }))
    await t.alerts.run()
  }
  // One model per minute is not a flood.
  t.clock.advance(61_000)
  await again()
  const [alert] = await list(`?entityId=1209:${pid}`)
  return { id: alert?.id as number, again }
}
/** Returns the newest event with a name. */
const event = async (name: string) =>
  (await admin.get(`/prime/webui/events/getevents?globalSearch=${encodeURIComponent(name)}&PageSize=1`)).json().data[0]
const audited = async () => (await admin.get('/prime/webui/events/GetAuditsIntegration?PageSize=1')).json().data[0]

describe('an alert as a case', () => {
  it('is assigned, closed with a verdict, and reopened with its history', async () => {
    const { id } = await raise()
    expect((await list(`?id=${id}`))[0]).toMatchObject({ state: 'open', owner: '', verdict: '' })
    t.clock.advance(60_000)
    expect(await post('notices/assign', { ids: [id], owner: manager.userName })).toMatchObject({
      status: 200,
      changed: [id],
    })
    expect(await post('notices/assign', { ids: [id], owner: manager.userName })).toMatchObject({ changed: [] })
    expect((await list('?isMine=true&state=assigned'))[0]).toMatchObject({
      id,
      owner: manager.userName,
    })
    expect(await ids('?isMine=true', admin)).toEqual([])
    expect(await ids(`?owner=${manager.userName}`, admin)).toEqual([id])
    expect(await audited()).toMatchObject({ action: 'notice.assigned', userName: manager.userName })
    t.clock.advance(60_000)
    const closing = { ids: [id], verdict: 'benign', comment: ' Known scanner ' }
    expect(await post('notices/close', closing)).toMatchObject({ status: 200, changed: [id] })
    expect(await post('notices/close', closing)).toMatchObject({ status: 200, changed: [] })
    expect(await ids(`?id=${id}`)).toEqual([])
    expect((await list('?state=closed&verdict=benign'))[0]).toMatchObject({ id, state: 'closed', isDismissed: true })
    expect(await one(id)).toMatchObject({ verdict: 'benign', comment: 'Known scanner', dismissedBy: manager.userName })
    expect(await audited()).toMatchObject({ action: 'notice.closed' })
    expect(await event('Alert closed')).toMatchObject({ eventEntityID: `Alert ${id}` })
    expect((await event('Alert closed')).details).toContain(
      `closed as benign by ${manager.userName}. Comment: Known scanner`,
    )
    // A closed alert accepts no owner and no snooze, but comments.
    expect(await post('notices/assign', { ids: [id], owner: null })).toMatchObject({ status: 409, code: 'conflict' })
    expect((await post('notices/comment', { ids: [id], comment: 'Later' })).changed).toEqual([id])
    expect(await post('notices/reopen', { ids: [id] })).toMatchObject({ changed: [id] })
    expect((await list(`?id=${id}`))[0]).toMatchObject({ state: 'assigned', verdict: '', owner: manager.userName })
    expect(await historyOf(id)).toEqual([
      ['undone', ''],
      ['commented', ''],
      ['closed', 'benign'],
      ['assigned', manager.userName],
      ['opened', ''],
    ])
  })

  it('needs a verdict if it is critical, and closes all or none', async () => {
    const [critical, other] = [await raise('attackTool'), await raise()]
    expect((await one(critical.id)).needsVerdict).toBe(true)
    const refused = await post('notices/close', { ids: [other.id, critical.id] })
    expect([refused.status, refused.errors[0].field]).toEqual([400, 'body.verdict'])
    expect(await ids(`?id=${other.id}`)).toEqual([other.id])
    expect((await post('notices/close', { ids: [other.id] })).changed).toEqual([other.id])
    const missing = await post('notices/close', { ids: [critical.id, 999_999], verdict: 'test' })
    expect([missing.status, missing.detail]).toEqual([404, 'Alert 999999 does not exist.'])
    expect((await post('notices/close', { ids: [critical.id], verdict: 'true' })).changed).toEqual([critical.id])
    // The call of the specification closes without a verdict.
    const third = await raise('attackTool')
    expect((await manager.api.post(`${base}/riskNotifications/dismiss`, { id: third.id })).json()).toBe(true)
    expect((await list(`?id=${third.id}&state=closed`))[0]).toMatchObject({ verdict: '' })
  })

  it('becomes a new case when it happens again after it was closed', async () => {
    const { id, again } = await raise()
    await post('notices/assign', { ids: [id], owner: manager.userName })
    await post('notices/close', { ids: [id], verdict: 'false', comment: 'x' })
    t.clock.advance(3_600_000)
    await fresh()
    await again()
    expect((await list(`?id=${id}`))[0]).toMatchObject({
      state: 'open',
      owner: '',
      verdict: '',
      count: 2,
      isRead: false,
    })
    expect((await one(id)).comment).toBe('')
    expect((await historyOf(id))[0]).toEqual(['reopened', 'It happened again.'])
  })

  it('is hidden while it is snoozed, and returns unread', async () => {
    const { id, again } = await raise('blocked')
    await manager.api.post(`${base}/riskNotifications/read`)
    const before = (await manager.api.get(base)).json().total
    const until = new Date(t.clock.now() + 3 * 86_400_000).toISOString()
    expect((await post('notices/snooze', { ids: [id], until })).changed).toEqual([id])
    expect(await ids(`?id=${id}`)).toEqual([])
    expect((await list('?state=snoozed'))[0]).toMatchObject({ id, snoozedUntil: until })
    expect((await manager.api.get(base)).json().total).toBe(before - 1)
    // Repetitions do not end the snooze, not even after a quiet day.
    t.clock.advance(26 * 3_600_000)
    await fresh()
    await again()
    expect(await ids('?state=snoozed')).toEqual([id])
    t.clock.advance(2 * 86_400_000)
    await t.alerts.run()
    await fresh()
    expect((await list(`?id=${id}`))[0]).toMatchObject({ state: 'open', isRead: false, count: 2 })
    expect((await historyOf(id))[0]).toEqual(['woken', 'The snooze is over.'])
  })

  it('refuses snoozes into the past or for too long, unknown owners and empty comments', async () => {
    const { id } = await raise()
    for (const [path, body, field] of [
      ['snooze', { until: '2020-01-01T00:00:00Z' }, 'body.until'],
      ['snooze', { until: new Date(t.clock.now() + 91 * 86_400_000).toISOString() }, 'body.until'],
      ['snooze', { until: 'soon' }, 'body.until'],
      ['assign', { owner: 'nobody' }, 'body.owner'],
      ['comment', { comment: ' ' }, 'body.comment'],
      ['comment', { comment: 'x'.repeat(4_001) }, 'body.comment'],
      ['close', { verdict: 'guilty' }, 'body.verdict'],
      ['close', { ids: [] }, 'body.ids'],
      ['close', { ids: [id, id] }, 'body.ids'],
    ] as const) {
      const refused = await post(`notices/${path}`, { ids: [id], ...body })
      expect([refused.status, refused.errors[0].field], `${path} ${JSON.stringify(body)}`).toEqual([400, field])
    }
    expect(await historyOf(id)).toEqual([['opened', '']])
    const user = await person(t)
    expect((await post('notices/close', { ids: [id], verdict: 'test' }, user.api)).status).toBe(403)
  })
})

describe('a muted model', () => {
  const muteIds = async (): Promise<number[]> =>
    (await manager.api.get(`${base}/mutes`)).json().map((mute: { id: number }) => mute.id)

  it('raises no alerts until the mute ends, and then reopens if it happened', async () => {
    const { id, again } = await raise('vulnerable')
    const until = new Date(t.clock.now() + 7 * 86_400_000).toISOString()
    const mute = await post('mutes', { id, until, reason: 'Known scanners' })
    expect(mute.status).toBe(200)
    await again()
    await again()
    expect(await ids(`?id=${id}`)).toEqual([])
    expect((await manager.api.get(`${base}/mutes`)).json()).toMatchObject([
      { id: mute.id, kind: 'vulnerable', until, reason: 'Known scanners', createdBy: manager.userName, suppressed: 2 },
    ])
    expect((await historyOf(id))[0]).toEqual(['muted', until])
    expect(await audited()).toMatchObject({ action: 'notice.muted', userName: manager.userName })
    t.clock.advance(8 * 86_400_000)
    await fresh()
    await t.alerts.run()
    expect((await manager.api.get(`${base}/mutes`)).json()).toEqual([])
    expect((await list(`?id=${id}`))[0]).toMatchObject({ state: 'open', isRead: false })
    expect((await historyOf(id))[0]).toEqual(['reopened', 'The mute is over. It held back 2 events.'])
  })

  it('reopens at the end even if the mute was extended after it happened', async () => {
    const { id, again } = await raise('vulnerable')
    const inDays = (days: number) => new Date(t.clock.now() + days * 86_400_000).toISOString()
    await post('mutes', { id, until: inDays(1), reason: 'x' })
    await again()
    expect((await post('mutes', { id, until: inDays(2), reason: 'Longer' })).status).toBe(200)
    const listed = (await manager.api.get(`${base}/mutes`)).json()
    expect(listed).toMatchObject([{ reason: 'Longer', suppressed: 1 }])
    t.clock.advance(3 * 86_400_000)
    await fresh()
    await t.alerts.run()
    expect((await list(`?id=${id}`))[0]).toMatchObject({ state: 'open' })
  })

  it('keeps the verdict and the closing of an alert that was closed before', async () => {
    const { id } = await raise('vulnerable')
    await post('notices/close', { ids: [id], verdict: 'true', comment: 'Real' }, admin)
    const { dismissedBy } = await one(id)
    const until = new Date(t.clock.now() + 86_400_000).toISOString()
    await post('mutes', { id, until, reason: 'x' })
    expect(await one(id)).toMatchObject({ state: 'closed', verdict: 'true', comment: 'Real', dismissedBy })
    expect((await historyOf(id))[0]).toEqual(['muted', until])
  })

  it('reopens when the mute is ended early, if it happened', async () => {
    const { id, again } = await raise('vulnerable')
    const until = new Date(t.clock.now() + 86_400_000).toISOString()
    const mute = await post('mutes', { id, until, reason: 'x' })
    await again()
    expect((await manager.api.delete(`${base}/mutes/${mute.id}`)).json()).toBe(true)
    expect(await muteIds()).not.toContain(mute.id)
    await t.alerts.run()
    expect((await list(`?id=${id}`))[0]).toMatchObject({ state: 'open', isRead: false })
    expect((await historyOf(id))[0]).toEqual(['reopened', 'The mute is over. It held back 1 event.'])
    expect(await event('Alert reopened')).toMatchObject({
      eventEntityID: `Alert ${id}`,
      details: expect.stringContaining('reopened. The mute is over. It held back 1 event.'),
    })
  })

  it('is no longer muted after a person reopened its alert', async () => {
    const { id, again } = await raise('vulnerable')
    const until = new Date(t.clock.now() + 86_400_000).toISOString()
    const mute = await post('mutes', { id, until, reason: 'x' })
    expect(await post('notices/reopen', { ids: [id] })).toMatchObject({ changed: [id] })
    expect(await muteIds()).not.toContain(mute.id)
    expect((await historyOf(id))[0]).toEqual(['undone', 'This also ended the mute.'])
    await again()
    expect((await list(`?id=${id}`))[0]).toMatchObject({ state: 'open', count: 2 })
  })

  it('can be unmuted, and attacks cannot be muted', async () => {
    const { id, again } = await raise('blocked')
    const until = new Date(t.clock.now() + 86_400_000).toISOString()
    const mute = await post('mutes', { id, until, reason: 'x' })
    expect((await manager.api.delete(`${base}/mutes/${mute.id}`)).json()).toBe(true)
    expect((await manager.api.delete(`${base}/mutes/${mute.id}`)).statusCode).toBe(404)
    expect(await audited()).toMatchObject({ action: 'notice.unmuted' })
    await again()
    expect((await list(`?id=${id}`))[0]).toMatchObject({ state: 'open' })
    const attack = await raise('attackTool')
    expect((await post('mutes', { id: attack.id, until, reason: 'x' })).status).toBe(409)
    expect(await ids(`?id=${attack.id}`)).toEqual([attack.id])
    for (const [body, field] of [
      [{ id, until: '2020-01-01T00:00:00Z', reason: 'x' }, 'body.until'],
      [{ id, until, reason: ' ' }, 'body.reason'],
      [{ id, until, reason: 'gpj.\u202Eexe' }, 'body.reason'],
    ] as const)
      expect((await post('mutes', body)).errors[0].field).toBe(field)
  })
})

describe('the times of handling', () => {
  it('are medians of acknowledged and closed alerts, without undone closings', async () => {
    const other = await startTestApp()
    try {
      const api = await other.admin()
      const times = async () => (await api.get(`${base}/responseTimes`)).json().days7
      expect(await times()).toEqual({ acknowledged: 0, medianToAcknowledge: null, closed: 0, medianToClose: null })
      for (const pid of ['0001', '0002', '0003']) await append(other, deviceEvent('vulnerable', { pid }))
      await other.alerts.run()
      const alerts: RiskNotification[] = (await api.get(`${base}/riskNotifications`)).json()
      const [a, b, c] = alerts.map(({ id }) => id)
      other.clock.advance(60_000)
      await api.post(`${base}/notices/comment`, { ids: [a, b], comment: 'x' })
      other.clock.advance(60_000)
      await api.post(`${base}/notices/close`, { ids: [a] })
      other.clock.advance(60_000)
      await api.post(`${base}/notices/close`, { ids: [b, c] })
      await api.post(`${base}/notices/reopen`, { ids: [c] })
      expect(await times()).toEqual({ acknowledged: 3, medianToAcknowledge: 60, closed: 2, medianToClose: 150 })
      // Opening a later case again undoes no closing of an earlier one.
      for (const pid of ['0001', '0002', '0003']) await append(other, deviceEvent('vulnerable', { pid }))
      await other.alerts.run()
      const until = new Date(other.clock.now() + 86_400_000).toISOString()
      expect((await api.post(`${base}/mutes`, { id: a, until, reason: 'x' })).statusCode).toBe(200)
      await api.post(`${base}/notices/reopen`, { ids: [a] })
      expect(await times()).toMatchObject({ closed: 2 })
    } finally {
      await other.close()
    }
  })
})
