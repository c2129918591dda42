import { randomUUID } from 'node:crypto'
import { append, deviceEvent } from '@portcullis/server/test/alerts.ts'
import { startTestApp, type TestApp } from '@portcullis/server/test/app.ts'
import { type Person, person } from '@portcullis/server/test/people.ts'
import fc from 'fast-check'
import { afterAll, beforeEach, describe, expect, it } from 'vitest'
import type { AlertCounts, AlertTimeline, RiskNotification } from '#features/contract.ts'

const base = '/prime/webui/systemNotification'
let t: TestApp
const open: TestApp[] = []
beforeEach(async () => {
  t = await startTestApp()
  open.push(t)
})
afterAll(() => Promise.all(open.map((one) => one.close())))

type Api = Person['api']
const risk = async (api: Api, query = ''): Promise<RiskNotification[]> => {
  const answer = await api.get(`${base}/riskNotifications${query}`)
  expect(answer.statusCode, answer.body).toBe(200)
  return answer.json()
}
const counts = async (api: Api): Promise<AlertCounts> => (await api.get(base)).json()
const run = () => t.alerts.run()

describe('risk alerts', () => {
  it('are created from events, and aggregate and count repetitions', async () => {
    const admin = await t.admin()
    expect([await risk(admin), (await counts(admin)).total]).toEqual([[], 0])
    const agentId = randomUUID()
    await append(t, deviceEvent('attached'), deviceEvent('attackTool', { agentId }), deviceEvent('gone'))
    await run()
    t.clock.advance(60_000)
    await append(
      t,
      deviceEvent('attackTool', { agentId }),
      deviceEvent('vulnerable', { vid: '046D', pid: 'C52B', name: 'Unifying' }),
    )
    await run()
    await run()
    const [tool, vulnerable] = await risk(admin)
    expect(tool).toMatchObject({
      kind: 'attackTool',
      title: 'O.MG Cable (attack tool) on HOST-1',
      severityString: 'Critical',
      creationTime: '2031-05-04T10:11:12.000Z',
      lastTime: '2031-05-04T10:12:12.000Z',
      count: 2,
      isRead: false,
      isPinned: false,
      isDismissed: false,
      entityType: 'Model',
      entityId: '1209:6667',
      link: '/peripherals?vid=1209&pid=6667',
      hosts: [{ uuid: agentId, hostIdentifier: 'HOST-1' }],
      hostsCount: 1,
    })
    expect(vulnerable).toMatchObject({ kind: 'vulnerable', entityType: 'Model', entityId: '046D:C52B', count: 1 })
    expect(await counts(admin)).toEqual({
      total: 2,
      unread: 2,
      riskNotifications: 2,
      riskUnread: 2,
      systemHealth: 0,
      systemHealthUnread: 0,
      bySeverity: [
        { key: 'Critical', count: 1 },
        { key: 'Warning', count: 1 },
      ],
    })
    const story: AlertTimeline = (await admin.get(`${base}/notices/${tool?.id}`)).json()
    expect(story.events).toHaveLength(2)
    expect(story.why).toContain('attack tools')
  })

  it('merge a flood into one alert with a count', async () => {
    const admin = await t.admin()
    // One subject.
    const one = deviceEvent('blocked')
    for (let i = 0; i < 10; i++) {
      await append(t, ...Array.from({ length: 1_000 }, () => one))
      await run()
    }
    expect((await risk(admin)).map(({ count, title }) => [count, title])).toEqual([
      [10_000, 'O.MG Cable (blocked by policy) on HOST-1'],
    ])
    // Ten thousand hosts with the same model.
    for (let i = 0; i < 10; i++) {
      await append(t, ...Array.from({ length: 1_000 }, () => deviceEvent('attackTool', { agentId: randomUUID() })))
      await run()
    }
    const tools = await risk(admin, '?kind=attackTool')
    expect(tools.map(({ count, title, hostsCount }) => [count, title, hostsCount])).toEqual([
      [10_000, 'O.MG Cable (attack tool) on 10,000 hosts', 10_000],
    ])
    // Ten thousand subjects.
    for (let i = 0; i < 10; i++) {
      await append(t, ...Array.from({ length: 1_000 }, () => deviceEvent('keyClone', { agentId: randomUUID() })))
      await run()
    }
    const clones = await risk(admin, '?kind=keyClone')
    expect(clones.map(({ count, title, entityType, severity }) => [count, title, entityType, severity])).toEqual([
      [10_000, 'Many copied agent keys on 10,000 hosts', 'Many', 2],
    ])
  })

  it('name the model, the cause and up to three hosts, whatever number of hosts report it', async () => {
    const admin = await t.admin()
    const hosts = Array.from({ length: 12 }, (_, n) => ({
      agentId: `0197a1b2-7c3d-7000-8000-${String(n).padStart(12, '0')}`,
      entity: `KIOSK-${n} (10.0.0.${n})`,
    }))
    for (const host of hosts) {
      await append(t, deviceEvent('attackTool', { ...host, name: 'Rubber Ducky' }))
      await run()
      t.clock.advance(1_000)
    }
    const [tool, ...others] = await risk(admin)
    expect(others).toEqual([])
    expect(tool).toMatchObject({ title: 'Rubber Ducky (attack tool) on 12 hosts', count: 12, hostsCount: 12 })
    expect(tool?.hosts.map(({ hostIdentifier }) => hostIdentifier)).toEqual(['KIOSK-11', 'KIOSK-10', 'KIOSK-9'])
    expect((await risk(admin, '?host=KIOSK-7')).map(({ id }) => id)).toEqual([tool?.id])
    expect((await risk(admin, `?host=${hosts[3]?.agentId}`)).map(({ id }) => id)).toEqual([tool?.id])
    expect((await risk(admin, '?search=kiosk-2')).map(({ id }) => id)).toEqual([tool?.id])
    expect(await risk(admin, '?search=kiosk-12')).toEqual([])
    // A closed alert starts again with the hosts that report it then.
    await admin.post(`${base}/riskNotifications/dismiss`, { id: tool?.id })
    await append(t, deviceEvent('attackTool', { ...hosts[5], name: 'Rubber Ducky' }))
    await run()
    expect(await risk(admin)).toMatchObject([
      { id: tool?.id, title: 'Rubber Ducky (attack tool) on KIOSK-5', count: 13, hostsCount: 1 },
    ])
  })

  it('about attack tools are unread again on each further host, and other alerts are not', async () => {
    const admin = await t.admin()
    const raise = async (n: number) => {
      const host = { agentId: `0197a1b2-7c3d-7000-8000-${String(n).padStart(12, '0')}`, entity: `WS-${n} (10.0.0.1)` }
      await append(t, deviceEvent('attackTool', host), deviceEvent('blocked', host))
      await run()
      const unread = (await risk(admin, '?isRead=false')).map(({ kind }) => kind)
      await admin.post(`${base}/riskNotifications/read`)
      t.clock.advance(1_000)
      return unread
    }
    expect(await raise(0)).toEqual(['attackTool', 'blocked'])
    expect(await raise(0)).toEqual([])
    expect(await raise(1)).toEqual(['attackTool'])
    // Many further hosts within a minute are news once an hour.
    for (let n = 2; n < 30; n++) await raise(n)
    expect(await raise(30)).toEqual([])
  })

  it('about attack tools are unread at least once an hour while they spread', async () => {
    const hosts = Array.from({ length: 70 }, () => randomUUID())
    const turned: number[] = []
    for (const [minute, agentId] of hosts.entries()) {
      // Eleven hosts per minute are too many for one notification each.
      await append(
        t,
        ...[agentId, ...Array.from({ length: 10 }, () => randomUUID())].map((id) =>
          deviceEvent('attackTool', { agentId: id }),
        ),
      )
      await run()
      const admin = await t.admin()
      if ((await counts(admin)).riskUnread > 0) turned.push(minute)
      await admin.post(`${base}/riskNotifications/read`)
      t.clock.advance(59_000)
    }
    expect(turned).toEqual([0, 62])
  })

  it('keep one alert per model after a change that concerns many models on many hosts', async () => {
    const admin = await t.admin()
    const events = Array.from({ length: 40 }, (_, model) =>
      Array.from({ length: 25 }, (_, host) =>
        deviceEvent('blocked', {
          agentId: `0197a1b2-7c3d-7000-8000-${String(host).padStart(12, '0')}`,
          entity: `WS-${host} (10.0.0.1)`,
          pid: String(1_000 + model),
          name: `Stick ${model}`,
        }),
      ),
    ).flat()
    await append(t, ...events)
    await run()
    const alerts = await risk(admin)
    expect(alerts).toHaveLength(40)
    expect(
      alerts.every(({ hostsCount, title }) => hostsCount === 25 && title.endsWith('(blocked by policy) on 25 hosts')),
    ).toBe(true)
  })

  it('are listed with the most severe first, then the newest, or in another order', async () => {
    const admin = await t.admin()
    for (const [kind, pid] of [
      ['attackTool', '0001'],
      ['vulnerable', '0002'],
      ['driverMismatch', '0003'],
      ['vulnerable', '0004'],
    ] as const) {
      await append(t, deviceEvent(kind, { pid, name: '' }))
      await run()
      t.clock.advance(1_000)
    }
    const pids = async (query: string) => (await risk(admin, query)).map(({ entityId }) => entityId.slice(-1)).join('')
    expect(await pids('')).toBe('3142')
    expect(await pids('?sortBy=severity_asc')).toBe('3142')
    expect(await pids('?sortBy=lastTime_desc')).toBe('4321')
    expect(await pids('?SortBy=LASTTIME_ASC')).toBe('1234')
    expect(await pids('?sortBy=severity_desc&pageSize=2&pageNumber=2')).toBe('31')
    expect(await pids(`?riskNotificationViewQuery=${encodeURIComponent('{"sortBy":"lastTime_desc"}')}`)).toBe('4321')
    const [, , , last] = await risk(admin)
    await admin.post(`${base}/riskNotifications/pin`, { id: last?.id, isPinned: true })
    expect(await pids('')).toBe('2314')
    const refused = await admin.get(`${base}/riskNotifications?sortBy=title_asc`)
    expect([refused.statusCode, refused.json().errors?.[0]?.field]).toEqual([400, 'query.sortBy'])
  })

  it('are reported one by one, and merged as soon as there are many', async () => {
    const admin = await t.admin()
    const raise = async (n: number) => {
      await append(t, deviceEvent('attackTool', { agentId: randomUUID(), pid: String(1_000 + n) }))
      await run()
    }
    for (let i = 0; i < 15; i++) {
      await raise(i)
      t.clock.advance(1_000)
    }
    const all = await risk(admin)
    expect(all.map(({ entityType }) => entityType).filter((type) => type === 'Model')).toHaveLength(10)
    expect(all.find(({ entityType }) => entityType === 'Many')).toMatchObject({
      count: 5,
      title: 'Many attack tools on 5 hosts',
    })
    // The flood ends ten minutes after its last event.
    t.clock.advance(11 * 60_000)
    await raise(20)
    expect(await risk(admin)).toHaveLength(12)
  })

  it('about devices that are left unapproved when many hosts are armed are one alert', async () => {
    const admin = await t.admin()
    const left = Array.from({ length: 21 }, (_, n) =>
      deviceEvent('violation', { agentId: randomUUID(), pid: String(1_000 + n), severity: 4 }),
    )
    await append(t, ...left)
    await run()
    expect((await risk(admin)).map(({ title, count }) => [title, count])).toEqual([
      ['Many devices not on the allowlist on 21 hosts', 21],
    ])
  })

  it('of a flooding host do not hide those of other hosts', async () => {
    const admin = await t.admin()
    const loud = randomUUID()
    for (let i = 0; i < 30; i++) {
      await append(t, deviceEvent('attackTool', { agentId: loud, pid: String(1_000 + i) }))
      await run()
      t.clock.advance(1_000)
    }
    const own = await risk(admin, `?host=${loud}`)
    expect(own.length).toBe(6)
    expect(own.find(({ title }) => title === 'Many attack tools on HOST-1')?.count).toBe(25)
    const quiet = randomUUID()
    await append(t, deviceEvent('attackTool', { agentId: quiet, entity: 'DC-1 (10.0.0.9)' }))
    await run()
    expect((await risk(admin, `?host=${quiet}`)).map(({ title }) => title)).toEqual([
      'O.MG Cable (attack tool) on DC-1',
    ])
  })

  it('accept thousands of events while thousands are open', async () => {
    const some = Array.from({ length: 4_000 }, (_, i) => deviceEvent('keyClone', { entity: `HOST-${i}`, details: '' }))
    // Five hosts per run stay below a flood; the clock advances between runs.
    for (let i = 0; i < 4_000; i += 10) {
      await append(t, ...some.slice(i, i + 10))
      await run()
      t.clock.advance(61_000)
    }
    expect((await counts(await t.admin())).total).toBe(4_000)
    await append(t, ...some, deviceEvent('attackTool', { agentId: randomUUID() }))
    await run()
    expect(await t.alerts.behind()).toBe(0)
    expect((await risk(await t.admin(), '?kind=attackTool')).length).toBe(1)
  }, 60_000)

  it('are read and pinned per account, and closed for all until the next event', async () => {
    const admin = await t.admin()
    const [user, manager] = await Promise.all([person(t), person(t, { profile: 20 })])
    await append(t, deviceEvent('blocked'), deviceEvent('vulnerable'))
    await run()
    const [first, second] = (await risk(user.api)) as [RiskNotification, RiskNotification]
    const post = async (api: Api, path: string, body?: unknown) => {
      const answer = await api.post(`${base}/${path}`, body)
      return [answer.statusCode, answer.statusCode === 200 ? answer.json() : answer.json().code]
    }
    expect(await post(user.api, 'riskNotifications/read')).toEqual([200, true])
    expect(await post(user.api, 'riskNotifications/read')).toEqual([200, false])
    expect([(await counts(user.api)).riskUnread, (await counts(admin)).riskUnread]).toEqual([0, 2])
    expect(await risk(user.api, '?isRead=false')).toEqual([])
    expect(await post(user.api, 'riskNotifications/pin', { id: second.id, isPinned: true })).toEqual([200, true])
    expect(await post(user.api, 'riskNotifications/pin', { id: second.id, isPinned: true })).toEqual([200, false])
    expect((await risk(user.api)).map(({ id }) => id)).toEqual([second.id, first.id])
    expect((await risk(admin)).map(({ id }) => id)).toEqual([first.id, second.id])
    // A User may not dismiss; a Manager may, and can send back the alert as read.
    expect(await post(user.api, 'riskNotifications/dismiss', second)).toEqual([403, 'forbidden'])
    expect(await post(manager.api, 'riskNotifications/dismiss', second)).toEqual([200, true])
    expect(await post(manager.api, 'riskNotifications/dismiss', { id: second.id })).toEqual([200, false])
    expect((await risk(user.api)).map(({ id }) => id)).toEqual([first.id])
    expect((await counts(user.api)).total).toBe(1)
    expect((await risk(user.api, '?isDismissed=true')).map(({ id, isPinned }) => [id, isPinned])).toEqual([
      [second.id, false],
    ])
    expect(await post(user.api, 'riskNotifications/pin', { id: second.id, isPinned: true })).toEqual([409, 'conflict'])
    const audited = (await admin.get('/prime/webui/events/GetAuditsIntegration?PageSize=1')).json().data[0]
    expect(audited).toMatchObject({ action: 'notice.dismissed', userName: manager.userName })
    // After another event: the same alert with its id and count, unread for everybody.
    await append(t, deviceEvent(second.kind === 'blocked' ? 'blocked' : 'vulnerable'))
    await run()
    const again = (await risk(user.api)).find(({ id }) => id === second.id)
    expect(again).toMatchObject({ count: 2, isRead: false, isDismissed: false })
    expect((await counts(user.api)).riskUnread).toBe(1)
  })

  it('are filtered by bare names or an object, and reject unknown filters', async () => {
    const admin = await t.admin()
    await append(t, deviceEvent('blocked'), deviceEvent('vulnerable'), deviceEvent('keyClone', { details: 'twice' }))
    await run()
    const kinds = async (query: string) => (await risk(admin, query)).map(({ kind }) => kind).sort()
    expect(await kinds('?kind=blocked,keyClone')).toEqual(['blocked', 'keyClone'])
    expect(await kinds('?riskNotificationViewQuery[kind]=blocked')).toEqual(['blocked'])
    expect(await kinds('?RISKNOTIFICATIONVIEWQUERY%5BKind%5D=blocked&Title=blocked')).toEqual(['blocked'])
    expect(await kinds('?severity=%3C%3D2')).toEqual(['keyClone'])
    expect(await kinds('?severityString=error')).toEqual([])
    expect(await kinds('?severityString=warning')).toEqual(['blocked', 'vulnerable'])
    expect(await kinds('?title=%25')).toEqual([])
    expect(await kinds('?entityId=1209:6667')).toEqual(['blocked', 'vulnerable'])
    expect(await kinds('?entityId=209:66')).toEqual(['blocked', 'vulnerable'])
    expect(await kinds('?link=PID%3D6667')).toEqual(['blocked', 'vulnerable'])
    expect(await kinds('?fromDate=2031-05-05')).toEqual([])
    expect(await kinds('?toDate=2031-05-04')).toHaveLength(3)
    expect(await kinds('?pageSize=2')).toHaveLength(2)
    expect(await kinds('?pageSize=2&pageNumber=2')).toHaveLength(1)
    const view = (text: string) => `?riskNotificationViewQuery=${encodeURIComponent(text)}`
    expect(await kinds(view(''))).toHaveLength(3)
    expect(await kinds(view('{}'))).toHaveLength(3)
    expect(await kinds(view('null'))).toHaveLength(3)
    expect(await kinds(view('{"Kind":"blocked","isRead":false,"title":null}'))).toEqual(['blocked'])
    expect(await kinds(`${view('{"pageSize":"1"}')}&kind=blocked`)).toEqual(['blocked'])
    const [first] = await risk(admin, '?kind=keyClone')
    expect(await kinds(`?creationTime=${first?.creationTime}&kind=keyClone`)).toEqual(['keyClone'])
    expect(await kinds(`?lastTime=${first?.lastTime}..&kind=keyClone`)).toEqual(['keyClone'])
    expect(await kinds('?lastTime=..2031-05-03')).toEqual([])
    expect(await kinds('?count=%3E%3D2')).toEqual([])
    expect(await kinds('?count=1')).toHaveLength(3)
    expect(await kinds(`?link=${encodeURIComponent(first?.link ?? '')}&kind=keyClone`)).toEqual(['keyClone'])
    for (const [query, field] of [
      [view('[]'), 'query.riskNotificationViewQuery'],
      [view('kind'), 'query.riskNotificationViewQuery'],
      [view('{"kind":["blocked"]}'), 'query.riskNotificationViewQuery'],
      [view('{"colour":"red"}'), 'query.colour'],
      [view('{"pageSize":"0"}'), 'query.pageSize'],
      [`${view('{"kind":"blocked"}')}&kind=blocked`, 'query.kind'],
      ['?lastTime=soon', 'query.lastTime'],
      ['?kind=nothing', 'query.kind'],
      ['?colour=red', 'query.colour'],
      ['?riskNotificationViewQuery[colour]=red', 'query.riskNotificationViewQuery[colour]'],
      ['?kind=blocked&riskNotificationViewQuery[kind]=blocked', 'query.kind'],
      ['?pageSize=0', 'query.pageSize'],
      ['?fromDate=soon', 'query.fromDate'],
    ] as const) {
      const answer = await admin.get(`${base}/riskNotifications${query}`)
      expect([answer.statusCode, answer.json().errors?.[0]?.field], query).toEqual([400, field])
    }
  })

  it('answer 404 for an unknown id, and for one of the other list', async () => {
    const admin = await t.admin()
    await append(t, deviceEvent('blocked'))
    await append(t, { kind: 'degraded', agentId: null, entity: 'mail', hashtags: '', details: 'away', severity: 3 })
    await run()
    const [notice] = await risk(admin)
    const [item] = (await admin.get(`${base}/systemHealth`)).json().items
    for (const [path, body] of [
      ['riskNotifications/dismiss', { id: 999 }],
      ['riskNotifications/dismiss', { id: item.id }],
      ['riskNotifications/pin', { id: item.id, isPinned: true }],
      ['systemHealth/dismiss', 999],
      ['systemHealth/dismiss', notice?.id],
      ['systemHealth/pin', notice?.id],
    ] as const)
      expect((await admin.post(`${base}/${path}`, body)).statusCode, path).toBe(404)
    for (const [path, body] of [
      ['riskNotifications/dismiss', { id: 'x' }],
      ['riskNotifications/dismiss', { id: 1, colour: 'red' }],
      ['riskNotifications/dismiss', {}],
      ['systemHealth/dismiss', 'x'],
      ['systemHealth/dismiss', 2_147_483_648],
      ['systemHealth/pin', {}],
    ] as const)
      expect((await admin.post(`${base}/${path}`, body)).statusCode, `${path} ${JSON.stringify(body)}`).toBe(400)
    expect((await risk(admin)).length).toBe(1)
  })

  it('are aggregated once by two replicas', async () => {
    const other = await startTestApp({ database: t.database, keyDir: t.keyDir, clock: t.clock })
    try {
      for (let i = 0; i < 20; i++) {
        await append(t, ...Array.from({ length: 50 }, () => deviceEvent('blocked')))
        await Promise.all([t.alerts.run(), other.alerts.run()])
      }
      await run()
      expect((await risk(await t.admin())).map(({ count }) => count)).toEqual([1_000])
    } finally {
      await other.close()
    }
  })

  it('have the counts of the lists, whatever happens', async () => {
    const admin = await t.admin()
    const user = await person(t)
    const action = fc.oneof(
      fc.record({
        do: fc.constant('event' as const),
        kind: fc.constantFrom('blocked', 'vulnerable', 'attackTool', 'keyClone'),
        pid: fc.integer({ min: 1, max: 3 }),
      }),
      fc.record({
        do: fc.constant('health' as const),
        what: fc.constantFrom('mail', 'disk'),
        severity: fc.constantFrom(3, 4, 5),
      }),
      fc.record({ do: fc.constantFrom('read', 'readHealth', 'dismiss', 'pin', 'tick') }),
    )
    await fc.assert(
      fc.asyncProperty(fc.array(action, { maxLength: 12 }), async (actions) => {
        for (const one of actions) {
          if (one.do === 'event') await append(t, deviceEvent(one.kind as 'blocked', { pid: `000${one.pid}` }))
          else if (one.do === 'health')
            await append(t, {
              kind: one.severity === 5 ? 'recovered' : 'degraded',
              agentId: null,
              entity: one.what,
              hashtags: '',
              details: '',
              severity: one.severity,
            })
          else if (one.do === 'read') await user.api.post(`${base}/riskNotifications/read`)
          else if (one.do === 'readHealth') await user.api.post(`${base}/systemHealth/read`)
          else if (one.do === 'tick') t.clock.advance(13 * 3_600_000)
          else {
            const [first] = await risk(await t.admin())
            if (first !== undefined && one.do === 'dismiss')
              await (await t.admin()).post(`${base}/riskNotifications/dismiss`, first)
            if (first !== undefined && one.do === 'pin')
              await (await t.admin()).post(`${base}/riskNotifications/pin`, { id: first.id, isPinned: true })
          }
          await run()
        }
        for (const api of [await t.admin(), t.as(await t.signIn(user.userName, user.password))]) {
          const list = await risk(api)
          const health: { isRead: boolean }[] = (await api.get(`${base}/systemHealth`)).json().items
          const shown = await counts(api)
          expect(shown).toMatchObject({
            total: list.length + health.length,
            riskNotifications: list.length,
            riskUnread: list.filter(({ isRead }) => !isRead).length,
            systemHealth: health.length,
            systemHealthUnread: health.filter(({ isRead }) => !isRead).length,
          })
          expect(shown.unread).toBe(shown.riskUnread + shown.systemHealthUnread)
          expect(shown.bySeverity.reduce((n, { count }) => n + count, 0)).toBe(shown.total)
        }
      }),
      { numRuns: 15 },
    )
    void admin
  })
})
