import type { ReportRun, ReportSchedule, ReportScheduleInput } from '@portcullis/features/contract.ts'
import type { LightMyRequestResponse as Response } from 'fastify'
import type { TestApp } from './app.ts'
import { pageOf } from './builders.ts'

export const reportsBase = '/prime/webui/reports'

let names = 0
/** Returns a schedule to send: agents as CSV, daily at six in Berlin, without recipients. */
export const scheduleInput = (change: Partial<ReportScheduleInput> = {}): ReportScheduleInput => ({
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

/** Returns helpers for reports, as the administrator. */
export const reportsOf = (t: TestApp) => {
  const ok = <T>(answer: Response): T => {
    if (answer.statusCode !== 200) throw new Error(`${answer.statusCode} ${answer.body}`)
    return answer.json() as T
  }
  const runs = async (scheduleId: string): Promise<ReportRun[]> =>
    (await pageOf<ReportRun>(t, `reports/runs?scheduleId=${scheduleId}&PageSize=100`)).data
  return {
    add: async (change: Partial<ReportScheduleInput> = {}): Promise<ReportSchedule> =>
      ok(await (await t.admin()).post(`${reportsBase}/schedules`, scheduleInput(change))),
    schedule: async (id: string): Promise<ReportSchedule> => {
      const { data } = ok<{ data: ReportSchedule[] }>(await (await t.admin()).get(`${reportsBase}/schedules`))
      return data.find((one) => one.id === id) as ReportSchedule
    },
    runs,
    /** Runs a schedule now and waits for the result. */
    runNow: async (id: string): Promise<ReportRun> => {
      // Two runs at the same time would have no order.
      t.clock.advance(1)
      const { runId } = ok<{ runId: string }>(await (await t.admin()).post(`${reportsBase}/schedules/${id}/run`))
      await t.server.jobs.drain()
      return (await runs(id)).find((run) => run.id === runId) as ReportRun
    },
    /** Runs the timers: starts due schedules and waits for their results. */
    serve: async (): Promise<void> => {
      await t.server.reports.tick()
      await t.server.jobs.drain()
    },
    file: async (run: ReportRun): Promise<Response> => (await t.admin()).get(`${reportsBase}/runs/${run.id}/file`),
  }
}
