import { readdirSync, readFileSync, statSync } from 'node:fs'
import { join } from 'node:path'
import type { AuditRecord, ReportRun, ReportSchedule, ReportScheduleInput } from '@portcullis/contract'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { startTestApp, type TestApp } from '#test/app.ts'
import { pageOf } from '#test/builders.ts'
import { insertFleet } from '#test/fleet.ts'

const base = '/prime/webui/reports'
let t: TestApp

beforeAll(async () => {
  t = await startTestApp({ listen: true })
  await insertFleet(t, 300)
  t.clock.advance(2_000)
})
afterAll(() => t.close())

let names = 0
const input = (change: Partial<ReportScheduleInput> = {}): ReportScheduleInput => ({
  name: `schedule ${++names}`,
  list: 'agents',
  format: 'csv',
  cadence: { every: 'day', time: '06:00', timeZone: 'Europe/Berlin' },
  range: 'all',
  recipients: [],
  folder: null,
  keepFiles: 30,
  isEnabled: true,
  ...change,
})
const post = async (path: string, body?: unknown) => (await t.admin()).post(`${base}/${path}`, body)
const add = async (change: Partial<ReportScheduleInput> = {}): Promise<ReportSchedule> => {
  const answer = await post('schedules', input(change))
  expect(answer.statusCode, answer.body).toBe(200)
  return answer.json()
}
const schedule = async (id: string): Promise<ReportSchedule> =>
  (await (await t.admin()).get(`${base}/schedules`)).json().data.find((one: ReportSchedule) => one.id === id)
const runs = async (scheduleId: string): Promise<ReportRun[]> =>
  (await pageOf<ReportRun>(t, `reports/runs?scheduleId=${scheduleId}&PageSize=100`)).data
const runNow = async (id: string): Promise<ReportRun> => {
  const ordered = await post(`schedules/${id}/run`)
  expect(ordered.statusCode, ordered.body).toBe(200)
  await t.server.jobs.drain()
  return (await runs(id)).find((run) => run.id === ordered.json().runId) as ReportRun
}
const file = async (run: ReportRun) => (await t.admin()).get(`${base}/runs/${run.id}/file`)
const folder = (name: string): string => join(t.keyDir, 'reports', name)
const audits = async (): Promise<string[]> =>
  (await pageOf<AuditRecord>(t, 'events/GetAuditsIntegration?PageSize=50')).data.map(
    ({ action, entity, userName }) => `${userName} ${action} ${entity}`,
  )

describe('a schedule', () => {
  it('makes the file of its list, into its folder and for download, when it is run now', async () => {
    const made = await add({
      name: 'Hosts of the week',
      folder: 'weekly',
      filter: { severity: 50 },
      columns: ['hostIdentifier', 'severity'],
      sortBy: 'hostIdentifier_asc',
    })
    expect(made).toMatchObject({ owner: 'admin', problem: '', nextRunAt: '2031-05-05T04:00:00.000Z', lastRun: null })
    const run = await runNow(made.id)
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
    const downloaded = await file(run)
    expect(downloaded.headers['content-type']).toBe('text/csv; charset=utf-8')
    expect(downloaded.headers['content-disposition']).toContain(`filename="${run.fileName}"`)
    const exported = await (await t.admin()).post('/prime/webui/agents/exportagentcsv', {
      severity: 50,
      columns: ['hostIdentifier', 'severity'],
      sortBy: 'hostIdentifier_asc',
    })
    expect(downloaded.rawPayload.equals(exported.rawPayload)).toBe(true)
    expect(run.bytes).toBe(exported.rawPayload.length)
    const path = join(folder('weekly'), run.fileName)
    expect(readFileSync(path).equals(exported.rawPayload)).toBe(true)
    expect(statSync(path).mode & 0o777).toBe(0o640)
    expect(readdirSync(folder('weekly'))).toEqual([run.fileName])
    expect(await schedule(made.id)).toMatchObject({ lastRun: { id: run.id, state: 'completed', error: '' } })
    expect((await audits()).slice(0, 4)).toEqual([
      'admin report.downloaded Hosts of the week',
      'system report.made Hosts of the week',
      'admin report.ordered Hosts of the week',
      'admin report_schedule.created Hosts of the week',
    ])
  })
})
