import { sql } from '@portcullis/platform/server/db/sql.ts'
import { createMetrics } from '@portcullis/platform/server/metrics.ts'
import { createRate } from '@portcullis/platform/server/rate.ts'
import { Secret } from '@portcullis/platform/server/secret.ts'
import { adminPassword, startTestApp, type TestApp } from '@portcullis/server/test/app.ts'
import { createDatabaseProxy } from '@portcullis/server/test/database-proxy.ts'
import { person } from '@portcullis/server/test/people.ts'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { configGroups } from '#features/contract.ts'
import type { Thresholds } from '#features/settings/server/index.ts'
import { overall } from './health.service.ts'
import {
  agentGatewayProbe,
  backupsProbe,
  clockProbe,
  databaseProbe,
  diskProbe,
  evaluateReplication,
  eventProcessingProbe,
  knowledgeProbe,
  type ProbeResult,
} from './probes.ts'

const admin = '/prime/webui/admin'
const defaults: Thresholds = (name) => Number(configGroups.health.items[`VENDORA_HEALTH_${name}`].default)

describe('health', () => {
  let t: TestApp
  beforeAll(async () => {
    // The database clock is real, so this one is too.
    t = await startTestApp()
  })
  afterAll(() => t.close())

  it('lists every subsystem, and shows which are not configured', async () => {
    const user = await person(t)
    const items = (await user.api.get(`${admin}/SubsystemHealth`)).json()
    expect(items.map((item: { name: string }) => item.name)).toEqual([
      'database',
      'agent gateway',
      'event processing',
      'job queue',
      'agentless worker',
      'mail',
      'LDAP',
      'ISE',
      'CACT',
      'asset stream',
      'disk',
      'licence',
      'clock',
      'backups',
      'deliveries',
      'knowledge',
      'reports',
      'audit',
      'policy rules',
    ])
    const by = Object.fromEntries(items.map((item: { name: string }) => [item.name, item]))
    expect(by.database).toMatchObject({ status: 'OK', latencyMs: expect.any(Number) })
    expect(by.disk.description).toContain('GB free')
    expect(by['asset stream']).toMatchObject({ status: 'Unknown', description: 'Not configured' })
    expect(by['job queue']).toMatchObject({ status: 'OK', whatToDo: '' })
    for (const item of items) expect([item.name, item.whatToDo === '']).toEqual([item.name, item.status === 'OK'])
    // The fake clock of the test is years ahead of the database clock.
    expect(by.clock.status).toBe('Error')
  })

  it('returns the status and versions of the server', async () => {
    const user = await person(t)
    const status = (await user.api.get(`${admin}/systemstatus`)).json()
    expect(status).toMatchObject({
      status: 'Error',
      serverTime: '2031-05-04T10:11:12.000Z',
      licenseStatus: 'Activated',
      agents: { total: 0, connected: 0 },
      queueDepth: 0,
      database: { status: 'OK' },
    })
    expect(status.disk.totalBytes).toBeGreaterThan(status.disk.freeBytes)
    expect(status.database.sizeBytes).toBeGreaterThan(1_000_000)
    const version = (await user.api.get(`${admin}/PrimeVersion`)).json()
    expect(version).toMatchObject({ nodeVersion: process.versions.node, schemaVersion: t.schemaVersion })
    expect(version.databaseVersion).toMatch(/^\d+\.\d+/)
    expect(version.commit).toMatch(/^(?:[0-9a-f]{40})?$/)
    expect(version.version).toMatch(/^\d+\.\d+\.\d+$/)
  })

  it('requires a token, except from a load balancer or Prometheus on this machine', async () => {
    const nobody = t.as(undefined)
    for (const path of ['SubsystemHealth', 'systemstatus', 'PrimeVersion'])
      expect((await nobody.get(`${admin}/${path}`)).statusCode).toBe(401)
    expect((await nobody.get('/healthz')).json()).toEqual({ status: 'OK' })
    expect((await nobody.get('/readyz')).json()).toEqual({ status: 'OK' })
    expect((await nobody.get('/metrics')).statusCode).toBe(200)
    const elsewhere = (headers: Record<string, string> = {}, remoteAddress = '192.0.2.1') =>
      t.request({ method: 'GET', url: '/metrics', remoteAddress, headers })
    expect((await elsewhere()).statusCode).toBe(401)
    // Forwarded by a proxy on this machine: the caller may be anywhere.
    expect((await elsewhere({ 'x-forwarded-for': '192.0.2.1' }, '127.0.0.1')).statusCode).toBe(401)
    expect((await elsewhere({ authorization: 'Bearer nonsense' }, '127.0.0.1')).statusCode).toBe(401)
    const user = await person(t)
    expect((await elsewhere({ authorization: `Bearer ${user.token}` })).statusCode).toBe(200)
  })

  it('answers Prometheus in its format', async () => {
    const answer = await t.as(undefined).get('/metrics')
    expect(answer.headers['content-type']).toBe('text/plain; version=0.0.4; charset=utf-8')
    expect(answer.body).toMatch(/^portcullis_check_ins_total 0$/m)
    expect(answer.body).toMatch(/^portcullis_agents 0$/m)
    expect(answer.body).toMatch(/^portcullis_http_requests_total\{operation="localLogin",status="200"\} [1-9]/m)
    for (const line of answer.body.trim().split('\n'))
      expect(line).toMatch(/^(?:# (?:HELP|TYPE) .+|[a-z_]+(?:\{[^}]*\})? [\d.e+-]+)$/)
  })
})

describe('a backup', () => {
  it('is recorded after its client has read it completely', async () => {
    const t = await startTestApp()
    const part = async () =>
      (await (await t.admin()).get(`${admin}/SubsystemHealth`))
        .json()
        .find(({ name }: { name: string }) => name === 'backups')
    expect(await part()).toMatchObject({ status: 'Unknown', whatToDo: expect.stringContaining('Settings, Backups') })
    expect((await (await t.admin()).post(`${admin}/backup`, {})).statusCode).toBe(200)
    await expect.poll(async () => (await t.db.query(sql`select 1 from backups_made`)).length).toBe(1)
    // The page reuses a result for 20 s; the watch probes again.
    await t.health.watch()
    expect(await part()).toMatchObject({ status: 'OK', whatToDo: '' })
    await t.close()
  })
})

describe('thresholds', () => {
  it('are refused if they contradict each other', async () => {
    const t = await startTestApp()
    const api = await t.admin()
    const set = (items: object) => api.post('/prime/webui/generalconfig/AddOrUpdateHealthThresholds', items)
    const refused = await set({ VENDORA_HEALTH_DISK_ERROR_PERCENT: '50' })
    expect([refused.statusCode, refused.json().errors[0].field]).toEqual([
      400,
      'body.VENDORA_HEALTH_DISK_ERROR_PERCENT',
    ])
    for (const items of [
      { VENDORA_HEALTH_DATABASE_WARNING_MS: '3000' },
      { VENDORA_HEALTH_CLOCK_WARNING_SECONDS: '31' },
      { VENDORA_HEALTH_BACKUP_WARNING_DAYS: '0' },
      { VENDORA_HEALTH_QUEUE_ERROR: 'many' },
      { VENDORA_CHECKIN_SECONDS: '30' },
    ])
      expect([items, (await set(items)).statusCode]).toEqual([items, 400])
    expect((await set({ VENDORA_HEALTH_DISK_ERROR_PERCENT: '9' })).statusCode).toBe(200)
    const read = await api.get('/prime/webui/generalconfig/GetConfigItemsByPrefixVendorA/HEALTH_DISK_ERROR')
    expect(read.json()).toEqual({ VENDORA_HEALTH_DISK_ERROR_PERCENT: '9', VENDORA_HEALTH_DISK_ERROR_GB: '1' })
    await t.close()
  })
})

describe('readiness', () => {
  it('fails within three seconds of losing the database', async () => {
    const t = await startTestApp()
    expect((await t.as(undefined).get('/readyz')).statusCode).toBe(200)
    await t.db.close()
    const startedAt = performance.now()
    const answer = await t.as(undefined).get('/readyz')
    expect([answer.statusCode, answer.json().code, answer.headers['retry-after']]).toEqual([503, 'unavailable', '2'])
    expect(performance.now() - startedAt).toBeLessThan(3_000)
    expect((await t.as(undefined).get('/healthz')).statusCode).toBe(200)
    await t.close().catch(() => {})
  })

  it('succeeds after the first start has committed, and so does the first sign-in', async () => {
    const t = await startTestApp()
    await t.db.execute(sql`delete from accounts`)
    const readyz = () => t.as(undefined).get('/readyz')
    expect([(await readyz()).statusCode, (await readyz()).json().code]).toEqual([503, 'unavailable'])
    // A first start on another replica has not committed yet.
    const { starting } = await t.db.transaction(async (tx) => {
      await tx.execute(sql`lock table accounts in share row exclusive mode`)
      const made = t.accounts.ensureFirstAdministrator(new Secret(adminPassword))
      expect((await readyz()).statusCode).toBe(503)
      return { starting: made }
    })
    await starting
    expect((await readyz()).statusCode).toBe(200)
    expect(await t.signIn()).toMatch(/\./)
    await t.close()
  })

  it('fails while the server drains, which still answers and closes each connection', async () => {
    const t = await startTestApp({ listen: true })
    t.app.drain()
    for (const [path, status] of [
      ['/readyz', 503],
      ['/healthz', 200],
      ['/agent/v1/check-in', 401],
    ] as const) {
      const answer = await fetch(t.address + path, { method: path.startsWith('/agent') ? 'POST' : 'GET' })
      expect([path, answer.status, answer.headers.get('connection')]).toEqual([path, status, 'close'])
    }
    await t.close()
  })

  it('fails if the database does not answer', async () => {
    const proxy = await createDatabaseProxy()
    const t = await startTestApp({ listen: true, through: proxy.through })
    const probe = async (path: string) => {
      // A load balancer gives up after five seconds.
      const answer = await fetch(t.address + path, { signal: AbortSignal.timeout(5_000) })
      return [path, answer.status]
    }
    try {
      expect([await probe('/readyz'), await probe('/healthz')]).toEqual([
        ['/readyz', 200],
        ['/healthz', 200],
      ])
      proxy.hang()
      expect([await probe('/readyz'), await probe('/healthz')]).toEqual([
        ['/readyz', 503],
        ['/healthz', 200],
      ])
      proxy.heal()
      await expect.poll(() => probe('/readyz'), { timeout: 10_000 }).toEqual(['/readyz', 200])
    } finally {
      proxy.heal()
      await t.close()
      proxy.close()
    }
  })
})

describe('probes', () => {
  it('distinguish failing, slow and healthy subsystems', async () => {
    const ingest = (queueDepth: number) => () => ({ queueDepth, checkInsPerSecond: 1 })
    const read = (over: object) =>
      ({
        ping: async () => {},
        replication: async () => ({ synchronous: '', standbys: 0, confirming: 0, lagSeconds: null }),
        now: async () => new Date(0),
        newestEventId: async () => 7,
        ...over,
      }) as never
    const wrong = (seconds: number) => async (limit: number) =>
      Math.abs(seconds) > limit ? { hosts: 2, worst: { hostIdentifier: 'HOST-1', seconds } } : { hosts: 0, worst: null }
    const at = (skew: number, host = 0) =>
      clockProbe(read({ now: async () => new Date(skew) }), { now: () => 0 }, wrong(host), defaults)()
    expect(await at(0, 299)).toEqual({ status: 'OK', description: '0.0 s difference from the database clock.' })
    expect(await at(0, 301)).toMatchObject({
      status: 'Warning',
      description: expect.stringContaining('2 hosts have wrong clocks; HOST-1 is 5 min ahead.'),
    })
    expect((await at(0, -86_400)).description).toContain('HOST-1 is 24 h behind.')
    expect((await at(60_000, 301)).status).toBe('Error')
    expect((await at(1_000)).status).toBe('OK')
    expect((await at(-10_000)).status).toBe('Warning')
    expect((await at(60_000)).status).toBe('Error')
    expect((await databaseProbe(read({}), defaults)()).status).toBe('OK')
    const events = (queue: number, behind: number[] = []) =>
      eventProcessingProbe(
        read({}),
        ingest(queue),
        async () => behind.map((n, i) => ({ name: `follower ${i}`, behind: n })),
        defaults,
      )()
    expect((await events(0)).description).toContain('newest event is 7')
    expect((await events(20_000)).status).toBe('Warning')
    expect((await events(100_000)).status).toBe('Error')
    expect((await events(0, [3, 9])).status).toBe('OK')
    expect(await events(0, [3, 60_000])).toMatchObject({
      status: 'Warning',
      description: expect.stringContaining('follower 1, by 60000 events'),
    })
    const gateway = (total: number, connected: number) =>
      agentGatewayProbe(ingest(0), async () => ({ total, connected }), defaults)()
    expect((await gateway(0, 0)).status).toBe('OK')
    expect((await gateway(3, 0)).status).toBe('OK')
    expect((await gateway(100, 20)).status).toBe('Warning')
  })

  it('distinguish old and new', async () => {
    const day = 86_400_000
    const backup = (days: number | null, scheduled: ProbeResult | null = null) =>
      backupsProbe(
        async () => (days === null ? null : new Date(100 * day - days * day)),
        async () => scheduled,
        { clock: { now: () => 100 * day }, thresholds: defaults },
      )()
    expect((await backup(null)).status).toBe('Unknown')
    expect(await backup(0.5)).toEqual({ status: 'OK', description: 'The newest backup was made less than a day ago.' })
    expect((await backup(7)).status).toBe('OK')
    expect(await backup(8)).toEqual({ status: 'Warning', description: 'The newest backup was made 8 days ago.' })
    expect((await backup(31)).status).toBe('Error')
    const plan = (status: ProbeResult['status']) => ({ status, description: 'The plan.' })
    expect(await backup(null, plan('OK'))).toEqual({
      status: 'OK',
      description: 'No backup has been made yet. The plan.',
    })
    expect(await backup(0.5, plan('Error'))).toEqual({
      status: 'Error',
      description: 'The plan. The newest backup was made less than a day ago.',
    })
    expect((await backup(31, plan('Warning'))).status).toBe('Error')
    const knowledge = (ageDays: number) => knowledgeProbe(() => ({ version: '1', ageDays }), defaults)()
    expect([(await knowledge(365)).status, (await knowledge(366)).status]).toEqual(['OK', 'Warning'])
  })

  it.each([
    ['', 0, 0, null, null, ''],
    ['', 1, 0, 0.25, 'OK', '1 standby connected, the slowest 0.3 s behind. Replication is asynchronous.'],
    ['ANY 1 (a, b)', 2, 2, null, 'OK', '2 standbys connected. 2 can confirm commits; 1 must.'],
    ['ANY 1 (a, b)', 2, null, null, 'OK', '2 standbys connected.'],
    ['ANY 1 (a, b)', 0, 0, null, 'Warning', 'Changes cannot be stored: 1 of the standbys'],
    ['ANY 1 (a, b)', 1, 0, null, 'Warning', 'must confirm each commit, and 0 can.'],
  ] as const)(
    'evaluate replication: "%s", %s connected, %s confirm',
    (synchronous, standbys, confirming, lagSeconds, status, text) => {
      const evaluated = evaluateReplication({ synchronous, standbys, confirming, lagSeconds })
      expect(evaluated?.status ?? null).toBe(status)
      expect(evaluated?.description ?? '').toContain(text)
    },
  )

  it('use the configured thresholds', async () => {
    const all =
      (value: number): Thresholds =>
      () =>
        value
    const replication = async () => ({ synchronous: '', standbys: 0, confirming: 0, lagSeconds: null })
    const ping = () => new Promise((done) => setTimeout(done, 20))
    const slow = databaseProbe({ ping, replication } as never, all(1))
    expect((await slow()).status).toBe('Error')
    expect((await diskProbe('/', all(0))()).status).toBe('OK')
    expect((await diskProbe('/', all(100))()).status).toBe('Error')
    const silent = (percent: number) =>
      agentGatewayProbe(
        () => ({ queueDepth: 0, checkInsPerSecond: 0 }),
        async () => ({ total: 100, connected: 80 }),
        all(percent),
      )()
    expect([(await silent(10)).status, (await silent(30)).status]).toEqual(['Warning', 'OK'])
  })

  it('ignores unconfigured subsystems in the overall status', () => {
    const status = (...all: ('OK' | 'Warning' | 'Error' | 'Unknown')[]) => overall(all.map((one) => ({ status: one })))
    expect(status('OK', 'Unknown')).toBe('OK')
    expect(status('OK', 'Warning', 'Unknown')).toBe('Warning')
    expect(status('Warning', 'Error')).toBe('Error')
    expect(status('Unknown')).toBe('Unknown')
  })
})

describe('figures', () => {
  it('count by label, escape label values, and stay bounded', async () => {
    const metrics = createMetrics()
    const plain = metrics.counter('plain_total', 'Plain.')
    const labelled = metrics.counter('labelled_total', 'With labels.', ['name'])
    expect(await metrics.text()).toContain('plain_total 0\n')
    plain.inc()
    plain.inc({}, 4)
    labelled.inc({ name: 'a"b\\c\nd' })
    for (let i = 0; i < 3_000; i++) labelled.inc({ name: `n${i}` })
    const lines = (await metrics.text()).split('\n')
    expect(lines).toContain('plain_total 5')
    expect(lines).toContain('labelled_total{name="a\\"b\\\\c\\nd"} 1')
    expect(lines).toContain('labelled_total{name="other"} 2001')
    expect(lines.length).toBeLessThan(1_010)
    expect(() => metrics.counter('plain_total', 'Again.')).toThrow('twice')
  })

  it('sort durations into buckets', async () => {
    const metrics = createMetrics()
    const seconds = metrics.histogram('took_seconds', 'Took.', [], [0.1, 1])
    for (const value of [0.05, 0.1, 0.5, 5]) seconds.observe(value)
    expect((await metrics.text()).split('\n').slice(2, 7)).toEqual([
      'took_seconds_bucket{le="0.1"} 2',
      'took_seconds_bucket{le="1"} 3',
      'took_seconds_bucket{le="+Inf"} 4',
      'took_seconds_sum 5.65',
      'took_seconds_count 4',
    ])
  })

  it('omit figures that cannot be read', async () => {
    const metrics = createMetrics()
    metrics.read('broken', 'gauge', 'Broken.', async () => {
      throw new Error('away')
    })
    metrics.read('fine', 'gauge', 'Fine.', () => 3)
    expect(await metrics.text()).toBe(
      '# HELP broken Broken.\n# TYPE broken gauge\n# HELP fine Fine.\n# TYPE fine gauge\nfine 3\n',
    )
  })

  it('show a rate over the last minute', () => {
    let now = 1_000
    const rate = createRate(() => now)
    rate.add(10)
    expect(rate.perSecond()).toBe(10)
    now += 9
    expect(rate.perSecond()).toBe(1)
    now += 50
    rate.add(50)
    expect(rate.perSecond()).toBe(1)
    now += 1
    expect(rate.perSecond()).toBeCloseTo(50 / 60)
    now += 3_600
    expect(rate.perSecond()).toBe(0)
  })
})
