import { JsonStream, JsonText } from '@portcullis/platform/server/http/answer.ts'
import { streamArray } from '@portcullis/platform/server/list/stream.ts'
import { requireTime } from '@portcullis/platform/server/time.ts'
import { type errorTotal, paging, type QueryOf, type ResponseOf, type UncommonPeripheral } from '#features/contract.ts'
import type { DevicesContext } from '../context.ts'
import { createInsightsRead, type UsableViolation } from './insights.read.ts'
import { hostLimit, readSettings, settingNames } from './settings.ts'
import { createSingleFlight } from './single-flight.ts'
import { createSpoofedIdentities } from './spoofed.service.ts'

/** Hosts that were not seen for longer than this are not counted. */
const activeMs = 30 * 86_400_000

/** Default period for errors. */
const errorsMs = 7 * 86_400_000
/** Number of rows above which a response is streamed. */
const streamFrom = 2_000

type ErrorRow = ResponseOf<typeof errorTotal>['data'][number]

export type InsightsService = ReturnType<typeof createInsightsService>

/** Finds unusual devices in the whole fleet, from counters. */
export const createInsightsService = ({ db, exportDb, clock, knowledge }: DevicesContext) => {
  const read = createInsightsRead(db)
  async function moment() {
    const now = clock.now()
    const since = new Date(now - activeMs)
    return { computedAt: new Date(now).toISOString(), since, population: await read.population(since) }
  }

  const uncommon = createSingleFlight(clock, async () => {
    const [{ computedAt, since, population }, stored] = await Promise.all([moment(), read.settings(settingNames)])
    const settings = readSettings(stored)
    const insufficientPopulation = population < settings.minPopulation
    const { total, rows } = insufficientPopulation
      ? { total: 0, rows: [] }
      : await read.uncommon(since, hostLimit(settings, population), population)
    return { computedAt, population, insufficientPopulation, recordsTotal: total, data: rows }
  })

  const vulnerable = createSingleFlight(clock, async () => {
    const { computedAt, population } = await moment()
    const { total, rows } = await read.vulnerable(population)
    return { computedAt, population, insufficientPopulation: false, recordsTotal: total, data: rows }
  })

  const find = createSpoofedIdentities(read, knowledge)
  const spoofed = createSingleFlight(clock, async () => {
    const { computedAt, population } = await moment()
    const { total, rows } = await find()
    return { computedAt, population, insufficientPopulation: false, recordsTotal: total, data: rows }
  })

  /** Keeps only the models of a vendor; without a vendor, keeps all. */
  async function ofVendor<
    Row extends { vid: string; pid: string },
    Answer extends { recordsTotal: number; data: Row[] },
  >(computed: Promise<Answer & { data: Row[] }>, vendor = ''): Promise<Answer> {
    const answer = await computed
    if (vendor.trim() === '') return answer
    const models = await read.modelsOfVendor(vendor.trim())
    const data = answer.data.filter(({ vid, pid }) => models.has(`${vid}:${pid}`))
    return { ...answer, recordsTotal: data.length, data }
  }

  /** Small answers are sent whole; large ones are streamed. */
  async function violations(vendor = ''): Promise<JsonText | JsonStream> {
    const rows = await db.query<{ row: string }>(read.violations(streamFrom + 1, vendor.trim()))
    return rows.length > streamFrom
      ? new JsonStream(streamArray(exportDb, read.violations(null, vendor.trim())))
      : new JsonText(`[${rows.map((r) => r.row).join(',')}]`)
  }

  async function errors(query: QueryOf<typeof errorTotal>) {
    const to = query.ToDate === undefined ? new Date(clock.now() + 1) : requireTime('query.ToDate', query.ToDate).to
    const from =
      query.FromDate === undefined
        ? new Date(to.getTime() - errorsMs)
        : requireTime('query.FromDate', query.FromDate).from
    const limit = query.PageSize ?? paging.defaultSize
    const { total, agents, rows } = await read.errors(from, to, limit, ((query.PageNumber ?? 1) - 1) * limit)
    return { total, recordsTotal: agents, recordsFiltered: agents, data: rows as ErrorRow[] }
  }

  /** Returns hosts with errors in a period, most errors first. */
  const errorsBetween = async (from: Date | null, to: Date, limit: number): Promise<ErrorRow[]> =>
    (await read.errors(from ?? new Date(to.getTime() - errorsMs), to, limit, 0)).rows as ErrorRow[]

  return {
    uncommon,
    vulnerable,
    spoofed,
    ofVendor,
    violations,
    errors,
    errorsBetween,
    /** Shapes that are uncommon now; null: the population is too small. */
    uncommonNow: async (): Promise<readonly UncommonPeripheral[] | null> => {
      const { insufficientPopulation, data } = await uncommon.get()
      return insufficientPopulation ? null : data
    },
    /** Of these models (`VID:PID`), those on too many hosts to be uncommon, with the number of hosts. */
    commonOf: async (models: readonly string[]): Promise<ReadonlyMap<string, number>> => {
      if (models.length === 0) return new Map()
      const [{ population }, stored] = await Promise.all([moment(), read.settings(settingNames)])
      return read.modelsOnMoreThan(models, hostLimit(readSettings(stored), population))
    },
    /** Attached devices that armed hosts let work although no rule allows them, up to a limit. */
    usableViolations: (limit: number): Promise<readonly UsableViolation[]> =>
      exportDb.query<UsableViolation>(read.usableViolations(limit)),
  }
}
