import { cleanText, isOddText } from '@portcullis/domain'
import { AppError, invalid, notFound } from '@portcullis/platform/server/app-error.ts'
import { isPgError, isUnavailable, type Tx } from '@portcullis/platform/server/db/db.ts'
import type { Actor } from '@portcullis/platform/server/http/actor.ts'
import { isId, newId } from '@portcullis/platform/server/ids.ts'
import { fold } from '@portcullis/platform/server/list/columns.ts'
import { isZone } from '@portcullis/platform/server/wall-clock.ts'
import {
  type BodyOf,
  maxPdfRows,
  type previewReport,
  type ReportSchedule,
  type ReportScheduleInput,
  type ResponseOf,
  reportLimits,
  reportLists,
  reportTraits,
  type updateReportSchedule,
} from '#features/contract.ts'
import { isMailAddress } from '#features/deliveries/server/mail/index.ts'
import { nextRun, rangeStart } from './cadence.ts'
import type { ReportsContext } from './context.ts'
import type { FilesApi } from './exports/index.ts'
import { assertMayRead, ownerProblem } from './owner.ts'
import { createReportsRead, type LastRun, type Owner } from './reports.read.ts'
import { createReportsStore, type Definition, formOf, type ScheduleRow } from './reports.store.ts'

type Content = BodyOf<typeof previewReport>

const isoOf = (at: Date | number | null): string | null => (at === null ? null : new Date(at).toISOString())

export type SchedulesService = ReturnType<typeof createSchedules>

/** Manages schedules. Saving checks everything, so that a run can fail only for its owner's permissions. */
export const createSchedules = ({
  config,
  db,
  clock,
  audit,
  files,
  hint,
  mail,
}: ReportsContext & { files: FilesApi }) => {
  function assertContent(actor: Actor, { list, filter, sortBy, columns, cadence, range }: Content): void {
    assertMayRead(actor, list)
    files.prepare(list, { filter: filter ?? {}, sortBy: sortBy ?? null, columns: columns ?? null }, null)
    if ((cadence.every === 'week') !== (cadence.weekday !== undefined))
      throw invalid(
        'body.cadence.weekday',
        cadence.every === 'week' ? 'is required for `week`' : 'is allowed for `week` only',
      )
    if ((cadence.every === 'month') !== (cadence.day !== undefined))
      throw invalid(
        'body.cadence.day',
        cadence.every === 'month' ? 'is required for `month`' : 'is allowed for `month` only',
      )
    if (!isZone(cadence.timeZone))
      throw invalid('body.cadence.timeZone', 'is not a name in the IANA time zone database, such as Europe/Berlin')
    if (range !== 'all' && reportTraits[list].time === '')
      throw invalid('body.range', `must be all: rows of ${reportLists[list].title} have no time`)
  }

  const definitionOf = (input: ReportScheduleInput): Definition => ({
    list: input.list,
    filter: Object.fromEntries(
      Object.entries(input.filter ?? {}).filter(([, value]) => value !== null && value !== ''),
    ),
    sortBy: input.sortBy ?? null,
    columns: input.columns == null || input.columns.length === 0 ? null : input.columns,
    format: input.format,
    form: input.form ?? 'readable',
    cadence: input.cadence,
    range: input.range,
    recipients: input.recipients,
    folder: input.folder,
    keepFiles: input.keepFiles,
  })

  function assertInput(actor: Actor, input: ReportScheduleInput): void {
    assertContent(actor, input)
    if (isOddText(input.name) || cleanText(input.name) !== input.name)
      throw invalid('body.name', 'must be one line without control characters or surrounding spaces')
    const seen = new Set<string>()
    input.recipients.forEach((recipient, i) => {
      if (!isMailAddress(recipient)) throw invalid(`body.recipients[${i}]`, 'is not a mail address')
      if (seen.has(recipient.toLowerCase())) throw invalid(`body.recipients[${i}]`, 'is given more than once')
      seen.add(recipient.toLowerCase())
    })
  }

  const shown = (row: ScheduleRow, owner: Owner | undefined, last: LastRun | undefined): ReportSchedule => ({
    id: row.schedule_id,
    name: row.name,
    ...row.definition,
    form: formOf(row.definition),
    isEnabled: row.is_enabled,
    owner: owner?.user_name ?? row.owner_name,
    problem: ownerProblem(row.owner_name, owner, row.definition.list),
    nextRunAt: isoOf(row.next_run_at),
    updatedAt: row.updated_at.toISOString(),
    lastRun:
      last === undefined ? null : { id: last.run_id, state: last.state, at: last.at.toISOString(), error: last.error },
  })

  async function list(): Promise<ReportSchedule[]> {
    const read = createReportsRead(db)
    const rows = await createReportsStore(db).schedules()
    const [owners, lasts] = await Promise.all([
      read.owners(rows.flatMap(({ owner_id }) => owner_id ?? [])),
      read.lastRuns(),
    ])
    const lastOf = new Map(lasts.map((last) => [last.schedule_id, last]))
    return rows.map((row) => shown(row, owners.get(row.owner_id ?? ''), lastOf.get(row.schedule_id)))
  }

  async function one(id: string): Promise<ReportSchedule> {
    const found = (await list()).find((schedule) => schedule.id === id)
    if (found === undefined) throw notFound('No schedule has this id.')
    return found
  }

  async function put(tx: Tx, actor: Actor, id: string, input: ReportScheduleInput): Promise<void> {
    const now = clock.now()
    try {
      await createReportsStore(tx).put({
        schedule_id: id,
        name: input.name,
        name_key: fold(input.name),
        definition: definitionOf(input),
        is_enabled: input.isEnabled,
        owner_id: actor.accountId,
        owner_name: actor.userName,
        updated_at: new Date(now),
        next_run_at: input.isEnabled ? new Date(nextRun(input.cadence, now)) : null,
      })
    } catch (error) {
      if (isPgError(error, '23505', 'report_schedules_name_unique'))
        throw new AppError('conflict', { detail: `A schedule named ${input.name} already exists.` })
      throw error
    }
    await hint(tx, 'reports')
  }

  /** Describes a schedule in the audit trail: its list and where the rows go. */
  const describe = (input: ReportScheduleInput): string =>
    [
      `${input.format}${input.format === 'csv' && input.form === 'fixed' ? ' in the fixed form' : ''} of ${input.list}`,
      `filter ${JSON.stringify(input.filter ?? {})}`,
      `every ${input.cadence.every} at ${input.cadence.time} ${input.cadence.timeZone}`,
      `recipients ${input.recipients.join(', ') || 'none'}`,
      `folder ${input.folder ?? 'none'}`,
      input.isEnabled ? 'enabled' : 'disabled',
    ].join('; ')

  return {
    list: async (): Promise<{ data: ReportSchedule[]; folderRoot: string; isMailConfigured: boolean }> => ({
      data: await list(),
      folderRoot: config.reportsDir,
      isMailConfigured: await mail.isConfigured(),
    }),

    add: async (actor: Actor, input: ReportScheduleInput): Promise<ReportSchedule> => {
      assertInput(actor, input)
      const id = newId(clock.now())
      await db.transaction(async (tx) => {
        const store = createReportsStore(tx)
        await store.lockAll()
        if ((await store.count()) >= reportLimits.schedules)
          throw new AppError('unprocessable', {
            detail: `The limit of ${reportLimits.schedules} schedules is reached. Delete one first.`,
          })
        await put(tx, actor, id, input)
        await audit.write(tx, actor, {
          action: 'report_schedule.created',
          entity: input.name,
          details: describe(input),
        })
      })
      return one(id)
    },

    update: async (
      actor: Actor,
      id: string,
      { ifUpdatedAt, ...input }: BodyOf<typeof updateReportSchedule>,
    ): Promise<ReportSchedule> => {
      assertInput(actor, input)
      await db.transaction(async (tx) => {
        const before = isId(id) ? await createReportsStore(tx).schedule(id) : undefined
        if (before === undefined) throw notFound('No schedule has this id.')
        if (ifUpdatedAt !== undefined && new Date(ifUpdatedAt).getTime() !== before.updated_at.getTime())
          throw new AppError('conflict', {
            detail: `${before.owner_name} changed this schedule at ${before.updated_at.toISOString()}. Nothing was saved. Compare the changes and save again.`,
          })
        await put(tx, actor, id, input)
        const renamed = before.name === input.name ? '' : `was ${before.name}; `
        const owned = before.owner_id === actor.accountId ? '' : `; taken over from ${before.owner_name}`
        await audit.write(tx, actor, {
          action: 'report_schedule.changed',
          entity: input.name,
          details: `${renamed}${describe(input)}${owned}`,
        })
      })
      return one(id)
    },

    remove: async (actor: Actor, id: string): Promise<{ deleted: boolean }> => {
      await db.transaction(async (tx) => {
        const store = createReportsStore(tx)
        const before = isId(id) ? await store.schedule(id) : undefined
        if (before === undefined) throw notFound('No schedule has this id.')
        await store.delete(id)
        await hint(tx, 'reports')
        await audit.write(tx, actor, { action: 'report_schedule.deleted', entity: before.name })
      })
      return { deleted: true }
    },

    preview: async (actor: Actor, content: Content): Promise<ResponseOf<typeof previewReport>> => {
      assertContent(actor, content)
      const { list: name, filter, sortBy, columns, cadence, range } = content
      const now = clock.now()
      const nextRuns: string[] = []
      for (let last = now; nextRuns.length < 5; ) {
        last = nextRun(cadence, last)
        nextRuns.push(new Date(last).toISOString())
      }
      const length = range === 'previous' ? cadence.every : range
      const from = length === 'all' ? null : new Date(rangeStart(length, now, cadence.timeZone))
      const file = files.prepare(
        name,
        { filter: filter ?? {}, sortBy: sortBy ?? null, columns: columns ?? null },
        from === null ? null : { from, to: new Date(now) },
      )
      const rows = await file.count().catch((error: unknown) => {
        if (isUnavailable(error)) return null
        throw error
      })
      return {
        nextRuns,
        rows,
        rangeFrom: isoOf(from),
        isTooLarge: content.format === 'pdf' && (rows ?? 0) > maxPdfRows,
      }
    },
  }
}
