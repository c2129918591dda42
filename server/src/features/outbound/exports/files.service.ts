import type { Readable } from 'node:stream'
import { maxPdfRows, type ReportFormat, type ReportListName, reportLists } from '@portcullis/contract'
import { AppError, invalid } from '#platform/app-error.ts'
import type { Clock } from '#platform/clock.ts'
import { isUnavailable } from '#platform/db/db.ts'
import { unknownName } from '#platform/http/names.ts'
import type { List } from '#platform/list/list.ts'
import { type ComputedList, copyRowsOf, csvOf } from './computed-lists.ts'
import { countedRows } from './counted-rows.ts'
import { chosenColumns, readExportRequest } from './export-request.ts'
import { type ExportableList, type ExportColumn, printedColumns } from './exportable-list.ts'
import { type ExportsRead, type TimeRange, withinRange } from './exports.read.ts'
import { filterText, madeLine, utcText } from './filter-labels.ts'
import type { Printer } from './pdf/printer.ts'

/** The requested content of a file. */
interface FileContent {
  list: ReportListName
  filter: Readonly<Record<string, unknown>>
  sortBy: string | null
  columns: readonly string[] | null
}

/** A file being made. `rows` returns the number of rows once the content was read to its end. */
interface OpenedFile {
  content: Readable
  rows: () => number
}

/** A checked request for a file. */
interface PreparedFile {
  /** Counts the rows that the file would have now. */
  count(): Promise<number>
  /** Makes the file. The cover of a PDF names `by` and has `title` as its heading; by default the list's title. */
  open(format: ReportFormat, by: string, title?: string): Promise<OpenedFile>
}

/** The source of the rows of a file. */
interface Source {
  title: string
  columns: readonly ExportColumn[]
  /** Description of the rows. */
  description: string
  count(): Promise<number>
  csv(): Promise<Readable>
  /** Returns at most `limit` rows in COPY's text form, once somebody reads them. */
  copied(limit: number): Promise<() => Readable>
}

const tooLarge = (title: string): AppError =>
  new AppError('unprocessable', {
    detail: `A PDF holds at most ${maxPdfRows.toLocaleString('en')} rows, but ${title} has more. Choose CSV, or narrow the filters.`,
  })

/** Returns zero if counting takes longer than a request may. */
const unlessSlow = (error: unknown): number => {
  if (isUnavailable(error)) return 0
  throw error
}

const assertKnown = (list: ReportListName, filter: Readonly<Record<string, unknown>>): void => {
  const known = Object.keys(reportLists[list].filters)
  for (const name of Object.keys(filter))
    if (!known.includes(name))
      throw invalid(
        `body.filter.${name}`,
        known.length === 0 ? 'is unknown: this list has no filters' : unknownName(name, known),
      )
}

const rangeText = ({ from, to }: TimeRange): string =>
  `${from === null ? 'Until' : `From ${utcText(from)} until`} ${utcText(to)}`

export interface FilesDeps {
  clock: Clock
  read: ExportsRead
  printer: Printer
  lists: Readonly<Record<ReportListName, ExportableList | ComputedList>>
  listOf(list: ExportableList): List
}

/** Makes files of lists for scheduled reports. */
export const createFiles = ({ clock, read, printer, lists, listOf }: FilesDeps) => {
  function ofDatabase(list: ExportableList, content: FileContent, range: TimeRange | null): Source {
    const asked = readExportRequest(
      list,
      { ...content.filter, ...list.fixed, sortBy: content.sortBy, columns: content.columns },
      'body.filter',
    )
    const request =
      range === null || list.time === undefined
        ? asked
        : { ...asked, compiled: withinRange(asked.compiled, list.time, range) }
    return {
      title: list.title,
      columns: request.columns,
      description: filterText(request),
      count: () => listOf(list).countOf(request.compiled),
      csv: async () => read.csv(request),
      copied: async (limit) => () => read.rows(request, limit),
    }
  }

  function computed(list: ComputedList, content: FileContent, range: TimeRange | null): Source {
    if (content.sortBy !== null && content.sortBy !== '')
      throw invalid('body.sortBy', 'is not available: this list has a fixed order')
    const columns = chosenColumns(list, content.columns ?? [])
    return {
      title: list.title,
      columns,
      description: 'All rows',
      count: async () => (await list.rows(range)).length,
      csv: async () => csvOf(columns, await list.rows(range)),
      copied: async (limit) => {
        const rows = (await list.rows(range)).slice(0, limit)
        return () => copyRowsOf(columns, rows)
      },
    }
  }

  async function print(source: Source, range: TimeRange | null, by: string, title = source.title): Promise<OpenedFile> {
    // The printer counts as well and rejects lists that take too long to count here.
    if ((await source.count().catch(unlessSlow)) > maxPdfRows) throw tooLarge(source.title)
    const at = clock.now()
    const copied = await source.copied(maxPdfRows + 1)
    let rows = () => 0
    const content = printer.print({
      job: {
        title,
        cover: [
          `${title === source.title ? '' : `${source.title}. `}${source.description}`,
          ...(range === null ? [] : [rangeText(range)]),
          madeLine(at, by),
        ],
        columns: printedColumns(source.columns),
        at,
      },
      maxRows: maxPdfRows,
      rows: () => {
        const counted = countedRows(copied(), 'lines')
        rows = counted.rows
        return counted.content
      },
      tooLarge: () => tooLarge(source.title),
    })
    return { content, rows: () => rows() }
  }

  return {
    /** Checks the request. Answers 400 and names the member if it is invalid. */
    prepare: (content: FileContent, range: TimeRange | null): PreparedFile => {
      assertKnown(content.list, content.filter)
      const list = lists[content.list]
      const source = 'spec' in list ? ofDatabase(list, content, range) : computed(list, content, range)
      return {
        count: source.count,
        open: async (format, by, title) =>
          format === 'csv' ? countedRows(await source.csv(), 'csv') : print(source, range, by, title),
      }
    },
  }
}

export type FilesApi = ReturnType<typeof createFiles>
