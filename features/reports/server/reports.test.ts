import { existsSync, mkdirSync, readdirSync, readFileSync, statSync, symlinkSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { sql } from '@portcullis/platform/server/db/sql.ts'
import { startTestApp, type TestApp } from '@portcullis/server/test/app.ts'
import { pageOf } from '@portcullis/server/test/builders.ts'
import { insertFleet } from '@portcullis/server/test/fleet.ts'
import { reportsBase, reportsOf, scheduleInput } from '@portcullis/server/test/reports.ts'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { type AuditRecord, reportLimits } from '#features/contract.ts'

let t: TestApp
let reports: ReturnType<typeof reportsOf>

beforeAll(async () => {
  t = await startTestApp()
  reports = reportsOf(t)
  await insertFleet(t, 300)
  t.clock.advance(2_000)
})
afterAll(() => t.close())

const post = async (path: string, body?: unknown) => (await t.admin()).post(`${reportsBase}/${path}`, body)
const folder = (name: string): string => join(t.keyDir, 'reports', name)
const audits = async (): Promise<AuditRecord[]> =>
  (await pageOf<AuditRecord>(t, 'events/GetAuditsIntegration?PageSize=50')).data

describe('a schedule', () => {
  it('makes the file of its list in its folder and for download when run manually', async () => {
    const made = await reports.add({
      name: 'Hosts of the week',
      folder: 'weekly',
      filter: { severity: 50 },
      columns: ['hostIdentifier', 'severity'],
      sortBy: 'hostIdentifier_asc',
    })
    expect(made).toMatchObject({ owner: 'admin', problem: '', nextRunAt: '2031-05-05T04:00:00.000Z', lastRun: null })
    const run = await reports.runNow(made.id)
    const listed = await pageOf(t, 'agents?Severity=50&SortBy=hostIdentifier_asc&PageSize=1000')
    expect(listed.recordsFiltered).toBeGreaterThan(10)
    expect(run).toMatchObject({
      state: 'completed',
      reason: 'manual',
      by: 'admin',
      rows: listed.recordsFiltered,
      error: '',
      hasFile: true,
      deliveries: [{ kind: 'folder', target: `weekly/${run.fileName}`, state: 'done', error: '' }],
    })
    const downloaded = await reports.file(run)
    expect(downloaded.headers['content-type']).toBe('text/csv; charset=utf-8')
    expect(downloaded.headers['content-disposition']).toContain(`filename="${run.fileName}"`)
    const exported = await (await t.admin()).post('/prime/webui/agents/exportagentcsv', {
      severity: 50,
      columns: ['hostIdentifier', 'severity'],
      sortBy: 'hostIdentifier_asc',
      form: 'readable',
    })
    expect(downloaded.rawPayload.equals(exported.rawPayload)).toBe(true)
    expect(run.bytes).toBe(exported.rawPayload.length)
    const path = join(folder('weekly'), run.fileName)
    expect(readFileSync(path).equals(exported.rawPayload)).toBe(true)
    expect(statSync(path).mode & 0o777).toBe(0o640)
    expect(readdirSync(folder('weekly'))).toEqual([run.fileName])
    expect(await reports.schedule(made.id)).toMatchObject({ lastRun: { id: run.id, state: 'completed', error: '' } })
    expect((await audits()).slice(0, 4).map(({ userName, action, entity }) => [userName, action, entity])).toEqual([
      ['admin', 'report.downloaded', 'Hosts of the week'],
      ['system', 'report.made', 'Hosts of the week'],
      ['admin', 'report.ordered', 'Hosts of the week'],
      ['admin', 'report_schedule.created', 'Hosts of the week'],
    ])
  })

  it('is changed, renamed and deleted; names are unique, ignoring case', async () => {
    const made = await reports.add({ name: 'Change me' })
    const admin = await t.admin()
    expect((await post('schedules', scheduleInput({ name: 'CHANGE ME' }))).json()).toMatchObject({ status: 409 })
    const input = scheduleInput({
      name: 'Changed',
      cadence: { every: 'month', day: 31, time: '23:59', timeZone: 'UTC' },
    })
    const changed = await admin.put(`${reportsBase}/schedules/${made.id}`, input)
    expect(changed.json()).toMatchObject({ id: made.id, name: 'Changed', nextRunAt: '2031-05-31T23:59:00.000Z' })
    expect((await audits())[0]).toMatchObject({
      action: 'report_schedule.changed',
      details: expect.stringContaining('was Change me; csv of agents; filter {}; every month at 23:59 UTC'),
    })
    expect((await admin.delete(`${reportsBase}/schedules/${made.id}`)).json()).toEqual({ deleted: true })
    expect((await admin.delete(`${reportsBase}/schedules/${made.id}`)).statusCode).toBe(404)
    expect((await admin.delete(`${reportsBase}/schedules/nothing`)).statusCode).toBe(404)
  })

  it('is not replaced if another person changed it meanwhile', async () => {
    const made = await reports.add({ name: 'two tabs' })
    const admin = await t.admin()
    const put = (change: object) => admin.put(`${reportsBase}/schedules/${made.id}`, { ...scheduleInput(), ...change })
    t.clock.advance(1_000)
    expect((await put({ name: 'first', ifUpdatedAt: made.updatedAt })).statusCode).toBe(200)
    const refused = await put({ name: 'second', ifUpdatedAt: made.updatedAt })
    expect([refused.statusCode, refused.json()]).toEqual([
      409,
      expect.objectContaining({ code: 'conflict', detail: expect.stringMatching(/^admin changed this schedule at /) }),
    ])
    expect((await put({ name: 'by a script' })).json()).toMatchObject({ name: 'by a script' })
    await admin.delete(`${reportsBase}/schedules/${made.id}`)
  })

  it('with too many rows for a PDF fails with a cure, and stores nothing', async () => {
    await insertFleet(t, 10_000)
    const made = await reports.add({ format: 'pdf', folder: 'toolarge' })
    const preview = await post('preview', { list: 'agents', format: 'pdf', range: 'all', cadence: made.cadence })
    expect(preview.json()).toMatchObject({ rows: 10_300, isTooLarge: true, rangeFrom: null })
    const run = await reports.runNow(made.id)
    expect(run).toMatchObject({
      state: 'failed',
      hasFile: false,
      error: expect.stringMatching(/at most 10,000 rows.*Choose XLSX or CSV/),
    })
    expect(existsSync(folder('toolarge'))).toBe(false)
    expect((await reports.schedule(made.id)).lastRun).toMatchObject({ state: 'failed', error: run.error })
    expect((await audits())[0]).toMatchObject({ action: 'report.failed', outcome: 'failure' })
  })

  it.each([
    [{ filter: { hostIdentifer: 'x' } }, 'body.filter.hostIdentifer', 'did you mean hostIdentifier?'],
    [{ filter: { pageSize: 1 } }, 'body.filter.pageSize', 'is unknown'],
    [{ filter: { severity: 'x' } }, 'body.filter.severity', 'must be a number'],
    [{ list: 'spoofed', filter: { vid: '1' } }, 'body.filter.vid', 'this list has no filters'],
    [{ list: 'attackTools', filter: { isKnownAttackTool: false } }, 'body.filter.isKnownAttackTool', 'is unknown'],
    [{ columns: ['hostIdentifier', 'sevirity'] }, 'body.columns[1]', 'did you mean severity?'],
    [{ list: 'spoofed', sortBy: 'vid_asc' }, 'body.sortBy', 'fixed order'],
    [{ sortBy: 'nothing_asc' }, 'body.sortBy', 'must be one of'],
    [{ list: 'passwords' }, 'body.list', 'must be'],
    [{ range: 'day', list: 'connections' }, 'body.range', 'have no time'],
    [{ cadence: { every: 'day', time: '24:00', timeZone: 'UTC' } }, 'body.cadence.time', ''],
    [{ cadence: { every: 'day', time: '06:00', timeZone: 'Europe/Atlantis' } }, 'body.cadence.timeZone', 'IANA'],
    [{ cadence: { every: 'day', time: '06:00', timeZone: '+02:00' } }, 'body.cadence.timeZone', 'IANA'],
    [{ cadence: { every: 'week', time: '06:00', timeZone: 'UTC' } }, 'body.cadence.weekday', 'required'],
    [{ cadence: { every: 'month', day: 32, time: '06:00', timeZone: 'UTC' } }, 'body.cadence.day', '31'],
    [{ cadence: { every: 'day', day: 1, time: '06:00', timeZone: 'UTC' } }, 'body.cadence.day', 'only'],
    [{ recipients: ['a@example.org', 'A@example.org'] }, 'body.recipients[1]', 'more than once'],
    [{ recipients: ['a@example.org, b@example.org'] }, 'body.recipients[0]', 'not a mail address'],
    [{ recipients: ['a@example.org\r\nbcc: x@y.z'] }, 'body.recipients[0]', 'not a mail address'],
    [{ recipients: Array.from({ length: 10_000 }, (_, i) => `user-${i}@example.org`) }, 'body.recipients', '50'],
    [{ folder: '../etc' }, 'body.folder', ''],
    [{ folder: 'a/b' }, 'body.folder', ''],
    [{ folder: '.ssh' }, 'body.folder', ''],
    [{ folder: '' }, 'body.folder', ''],
    [{ folder: 'x\n' }, 'body.folder', ''],
    [{ name: 'two\r\nlines' }, 'body.name', 'one line'],
    [{ name: 'right\u202eleft' }, 'body.name', 'one line'],
    [{ keepFiles: 0 }, 'body.keepFiles', '1'],
    [{ owner: 'somebody' }, 'body.owner', 'unknown'],
  ])('is rejected with %j, and the member is named', async (change, field, message) => {
    const answer = await post('schedules', { ...scheduleInput(), ...change })
    expect(answer.statusCode, answer.body).toBe(400)
    const fault = answer.json().errors.find((error: { field: string }) => error.field === field)
    expect(fault, answer.body.slice(0, 600)).toMatchObject({ message: expect.stringContaining(message) })
  })

  it('exists at most 200 times, even with concurrent requests', async () => {
    const { data } = (await (await t.admin()).get(`${reportsBase}/schedules`)).json() as { data: { id: string }[] }
    const ask = (times: number) =>
      Promise.all(Array.from({ length: times }, () => post('schedules', scheduleInput({ isEnabled: false }))))
    for (let left = reportLimits.schedules - data.length - 8; left > 0; left -= 16) await ask(Math.min(left, 16))
    const answers = await ask(11)
    expect(answers.filter(({ statusCode }) => statusCode === 422)).toHaveLength(3)
    expect(new Set(answers.map(({ statusCode }) => statusCode))).toEqual(new Set([200, 422]))
    await t.server.db.execute(sql`delete from report_schedules`)
  })
})

describe('a folder', () => {
  it('is not followed if it is a link, nor is a link in place of a file', async () => {
    const outside = join(t.keyDir, 'outside')
    mkdirSync(outside)
    mkdirSync(folder(''), { recursive: true })
    symlinkSync(outside, folder('linked'))
    const linked = await reports.add({ name: 'linked', folder: 'linked' })
    const run = await reports.runNow(linked.id)
    expect(run).toMatchObject({
      state: 'completed',
      hasFile: true,
      deliveries: [{ kind: 'folder', state: 'failed', error: expect.stringMatching(/symbolic link/) }],
    })
    expect(readdirSync(outside)).toEqual([])
    expect((await reports.schedule(linked.id)).lastRun?.error).toContain('symbolic link')

    writeFileSync(join(outside, 'target'), 'untouched')
    mkdirSync(folder('planted'))
    const planted = await reports.add({ name: 'planted', folder: 'planted' })
    // The name is predictable: somebody with access to the folder puts a link there.
    const { runId } = (await post(`schedules/${planted.id}/run`)).json() as { runId: string }
    const { reportFileName } = await import('./report-file.ts')
    const [{ at } = { at: new Date() }] = await t.server.db.query<{ at: Date }>(
      sql`select r.due_at as at from report_runs r where r.run_id = ${runId}::uuid`,
    )
    const name = reportFileName('planted', runId, at.getTime(), 'csv')
    symlinkSync(join(outside, 'target'), join(folder('planted'), name))
    symlinkSync(join(outside, 'target'), join(folder('planted'), `.${name}.part`))
    await t.server.jobs.drain()
    expect((await reports.runs(planted.id))[0]).toMatchObject({ fileName: name, deliveries: [{ state: 'done' }] })
    expect(readFileSync(join(outside, 'target'), 'utf8')).toBe('untouched')
    expect(statSync(join(folder('planted'), name)).size).toBeGreaterThan(1_000)
    expect(readdirSync(folder('planted')).filter((one) => !one.startsWith('.'))).toEqual([name])
  })

  it('causes a readable error if it is a file, and other files stay', async () => {
    writeFileSync(folder('file'), 'x')
    const made = await reports.add({ folder: 'file', name: 'into a file' })
    expect((await reports.runNow(made.id)).deliveries).toMatchObject([
      { state: 'failed', error: expect.stringMatching(/is not a folder/) },
    ])
    mkdirSync(folder('shared'))
    writeFileSync(join(folder('shared'), 'theirs.csv'), 'x')
    const shared = await reports.add({ folder: 'shared', keepFiles: 1 })
    await reports.runNow(shared.id)
    t.clock.advance(1_000)
    const { fileName } = await reports.runNow(shared.id)
    expect(readdirSync(folder('shared')).toSorted()).toEqual([fileName, 'theirs.csv'].toSorted())
  })

  it.each(['../../etc/passwd', 'C:\\Windows\\x', '=cmd|calc', '日本語', '"; rm -rf /', '....', 'a'.repeat(100)])(
    'gets a plain file of a schedule named %s',
    async (name) => {
      const made = await reports.add({ name, folder: 'names' })
      const run = await reports.runNow(made.id)
      expect(run.fileName).toMatch(/^[a-z0-9][a-z0-9-]{0,90}Z-[0-9a-f]{8}\.csv$/)
      expect(readdirSync(folder('names'))).toContain(run.fileName)
    },
  )
})
