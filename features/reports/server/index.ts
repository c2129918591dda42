import { Readable } from 'node:stream'
import { notFound } from '@portcullis/platform/server/app-error.ts'
import { exportFileName, FileAnswer } from '@portcullis/platform/server/http/answer.ts'
import type { HttpApp } from '@portcullis/platform/server/http/http-app.ts'
import { isId } from '@portcullis/platform/server/ids.ts'
import { createList } from '@portcullis/platform/server/list/list.ts'
import {
  addReportSchedule,
  deleteReportSchedule,
  exportReport,
  listReportRuns,
  listReportSchedules,
  previewReport,
  reportRunFile,
  runReportSchedule,
  updateReportSchedule,
} from '#features/contract.ts'
import { MailError } from '#features/deliveries/server/mail/index.ts'
import type { ReportsContext } from './context.ts'
import type { FilesApi } from './exports/index.ts'
import { createFolders } from './folder.ts'
import { reportsHealth } from './health.ts'
import { createUpkeep } from './maintenance.ts'
import { createMaker } from './maker.ts'
import { assertMayRead } from './owner.ts'
import { fitsMail, mediaTypes } from './report-file.ts'
import { attachmentOf } from './report-mail.ts'
import { runsList } from './reports.read.ts'
import { createReportsStore } from './reports.store.ts'
import { createOrders, reportJob } from './runs.service.ts'
import { createSchedules } from './schedules.service.ts'

/** Wires scheduled reports: lists as files that are mailed, written to folders and kept for a while. */
export const reportsFeature = (app: HttpApp, context: ReportsContext & { files: FilesApi }) => {
  const { config, db, audit, jobs, mail, clock, files } = context
  const store = createReportsStore(db)
  const folders = createFolders(config.reportsDir, clock)
  const schedules = createSchedules(context)
  const orders = createOrders(context)
  const upkeep = createUpkeep(context, folders)
  const maker = createMaker(context, folders)
  const runs = createList(runsList, context)

  jobs.handle(reportJob, {
    ...maker.handler,
    run: async (job) => {
      const outcome = await maker.handler.run(job)
      const run = await store.run((job.data as { runId: string }).runId)
      if (run?.schedule_id != null) await upkeep.ofSchedule(run.schedule_id, run.definition.keepFiles)
      return outcome
    },
  })

  app.register(listReportSchedules, () => schedules.list())
  app.register(addReportSchedule, ({ actor, body }) => schedules.add(actor, body))
  app.register(updateReportSchedule, ({ actor, params, body }) => schedules.update(actor, params.id, body))
  app.register(deleteReportSchedule, ({ actor, params }) => schedules.remove(actor, params.id))
  app.register(runReportSchedule, ({ actor, params }) => orders.run(actor, params.id))
  app.register(previewReport, ({ actor, body }) => schedules.preview(actor, body))
  app.register(exportReport, async ({ actor, body }) => {
    assertMayRead(actor, body.list)
    const { list, filter, sortBy, columns, format, form } = body
    const file = files.prepare(list, { filter: filter ?? {}, sortBy: sortBy ?? null, columns: columns ?? null }, null)
    const { content } = await file.open({ format, form: form ?? 'fixed' }, actor.userName)
    return new FileAnswer(exportFileName(list, clock.now(), format), mediaTypes[format], content)
  })
  app.register(listReportRuns, ({ query }) => runs.page(query))
  app.register(reportRunFile, async ({ actor, params }) => {
    const run = isId(params.id) ? await store.run(params.id) : undefined
    if (run === undefined) throw notFound('No report run has this id.')
    if (!run.has_file) throw notFound('The file of this run is no longer stored, or does not exist yet.')
    const { list, format } = run.definition
    assertMayRead(actor, list)
    await db.transaction((tx) =>
      audit.write(tx, actor, { action: 'report.downloaded', entity: run.name, details: run.file_name }),
    )
    return new FileAnswer(run.file_name, mediaTypes[format], Readable.from(maker.chunksOf(run)))
  })

  /** Supplies the attachments of mails and records their outcome. */
  mail.follow({
    attachment: async (ref) => {
      const [runId = ''] = ref.split('/')
      const run = await store.run(runId)
      if (run === undefined) return null
      // The mail may have waited for two days.
      const problem = await maker.problemOf(run)
      if (problem !== '') throw new MailError('send', problem, undefined, true)
      if (!run.has_file || !fitsMail(run.bytes)) return null
      const chunks: Buffer[] = []
      for await (const chunk of maker.chunksOf(run)) chunks.push(chunk)
      return {
        fileName: attachmentOf(run),
        mediaType: mediaTypes[run.definition.format],
        content: Buffer.concat(chunks),
      }
    },
    outcome: async (tx, ref, { state, error }) => {
      const [runId, n] = ref.split('/') as [string, string]
      await store.setDelivery(tx, runId, Number(n), new Date(clock.now()), { state, error })
      await context.hint(tx, 'reports')
    },
  })

  return {
    /** Starts due runs and closes abandoned ones; every few seconds, on any replica. */
    tick: async (): Promise<void> => {
      await orders.orderDue()
      await maker.settle()
    },
    maintain: upkeep.all,
    health: () => reportsHealth(context, schedules),
  }
}
