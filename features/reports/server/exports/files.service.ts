import type { Readable } from 'node:stream'
import { type ExportForm, maxPdfRows, type ReportFormat, type ReportListName, reportLists } from '@portcullis/contract'
import { AppError, invalid } from '@portcullis/platform/server/app-error.ts'
import type { Clock } from '@portcullis/platform/server/clock.ts'
import { isUnavailable } from '@portcullis/platform/server/db/db.ts'
import { unknownName } from '@portcullis/platform/server/http/names.ts'
import type { List } from '@portcullis/platform/server/list/list.ts'
import { utcText } from './cell-text.ts'
import { type ComputedList, copyRowsOf, csvOf } from './computed-lists.ts'
import { countedRows } from './counted-rows.ts'
import { chosenColumns, readExportRequest } from './export-request.ts'
import {
  columnsByKey,
  type ExportableList,
  type ExportColumn,
  printedColumns,
  summaryColumns,
} from './exportable-list.ts'
import { type ExportsRead, type TimeRange, withinRange } from './exports.read.ts'
import { filterText, madeText } from './filter-labels.ts'
import type { Printer } from './pdf/printer.ts'
import { streamWorkbook } from './xlsx/workbook.ts'

/** The requested content of a file. */
interface FileContent {
  list: ReportListName
  filter: Readonly<Record<string, unknown>>
  sortBy: string | null
  columns: readonly string[] | null
}

/** The kind of a file: workbook, PDF, or CSV in one of its forms. */
export interface FileKind {
  format: ReportFormat
  form: ExportForm
}

/** A file being made. `rows` returns the number of rows once the content was read to its end. */
interface OpenedFile {
  content: Readable
  rows: () => number
}

/** A checked request for a file. */
interface PreparedFile {
  /** Description of the rows: filters and order in words. */
  description: string
  /** Counts the rows that the file would have now. */
  count(): Promise<number>
  /** Makes the file. The cover of a PDF names `by` and has `title` as its heading; by default the list's title. */
  open(kind: FileKind, by: string, title?: string): Promise<OpenedFile>
}

/** The source of the rows of a file. */
interface Source {
  title: string
  /** Columns of a CSV and of a workbook. */
  columns: readonly ExportColumn[]
  /** Columns of a PDF. */
  printed: readonly ExportColumn[]
  /** Columns whose values the first page of a PDF counts. */
  summary: readonly ExportColumn[]
  /** Description of the rows. */
  description: string
  count(): Promise<number>
  csv(form: ExportForm): Promise<Readable>
  /** Returns all rows, or at most `limit`, in COPY's text form, once somebody reads them. */
  copied(columns: readonly ExportColumn[], limit?: number): Promise<() => Readable>
}

const tooLarge = (title: string): AppError =>
  new AppError('unprocessable', {
    detail: `A PDF holds at most ${maxPdfRows.toLocaleString('en')} rows, but ${title} has more. Choose XLSX or CSV, or narrow the filters.`,
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
  /** Returns the logo of the organisation as a PNG data URI. Empty: the logo of the product. */
  logo(): string
}

/** Returns the columns of a PDF: the chosen ones, or the most useful ones. */
const printedOf = (
  list: Pick<ExportableList, 'columns' | 'pdfColumns'>,
  asked: FileContent['columns'],
  chosen: readonly ExportColumn[],
): readonly ExportColumn[] => ((asked ?? []).length === 0 ? columnsByKey(list.columns, list.pdfColumns) : chosen)

/** Makes files of lists for scheduled reports. */
export const createFiles = ({ clock, read, printer, lists, listOf, logo }: FilesDeps) => {
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
      printed: printedOf(list, content.columns, request.columns),
      summary: columnsByKey(list.columns, list.summary),
      description: filterText(request),
      count: () => listOf(list).countOf(request.compiled),
      csv: async (form) => read.csv(request, form),
      copied: async (columns, limit) => () => read.rows(request, columns, limit),
    }
  }

  function computed(list: ComputedList, content: FileContent, range: TimeRange | null): Source {
    if (content.sortBy !== null && content.sortBy !== '')
      throw invalid('body.sortBy', 'is not available: this list has a fixed order')
    const columns = chosenColumns(list, content.columns ?? [])
    return {
      title: list.title,
      columns,
      printed: printedOf(list, content.columns, columns),
      summary: columnsByKey(list.columns, list.summary),
      description: 'All rows',
      count: async () => (await list.rows(range)).length,
      csv: async (form) => csvOf(columns, await list.rows(range), form),
      copied: async (wanted, limit) => {
        const rows = (await list.rows(range)).slice(0, limit)
        return () => copyRowsOf(wanted, rows)
      },
    }
  }

  /** Returns the lines that say what a file contains. */
  const aboutOf = (source: Source, range: TimeRange | null, title: string): string[] => [
    `${title === source.title ? '' : `${source.title}. `}${source.description}`,
    ...(range === null ? [] : [rangeText(range)]),
  ]

  async function workbook(
    source: Source,
    range: TimeRange | null,
    by: string,
    title = source.title,
  ): Promise<OpenedFile> {
    const at = clock.now()
    const counted = countedRows((await source.copied(source.columns))(), 'lines')
    const content = streamWorkbook(
      {
        title: source.title,
        columns: source.columns.map(({ kind, label: { heading, form, labels } }) => ({ heading, kind, form, labels })),
        about: [title, ...aboutOf(source, range, title), madeText(at, by), 'All times are in UTC.'],
        at,
      },
      counted.content,
    )
    return { content, rows: counted.rows }
  }

  async function print(source: Source, range: TimeRange | null, by: string, title = source.title): Promise<OpenedFile> {
    // The printer counts as well and rejects lists that take too long to count here.
    if ((await source.count().catch(unlessSlow)) > maxPdfRows) throw tooLarge(source.title)
    const at = clock.now()
    const copied = await source.copied([...source.printed, ...source.summary], maxPdfRows + 1)
    let rows = () => 0
    const content = printer.print({
      job: {
        title,
        cover: aboutOf(source, range, title),
        made: madeText(at, by),
        columns: printedColumns(source.printed),
        summary: summaryColumns(source.summary),
        logo: logo(),
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
    /** Checks the request. Returns 400 and names the member if it is invalid. */
    prepare: (content: FileContent, range: TimeRange | null): PreparedFile => {
      assertKnown(content.list, content.filter)
      const list = lists[content.list]
      const source = 'spec' in list ? ofDatabase(list, content, range) : computed(list, content, range)
      return {
        description: source.description,
        count: source.count,
        open: async ({ format, form }, by, title) => {
          if (format === 'csv') return countedRows(await source.csv(form), 'csv')
          return format === 'xlsx' ? workbook(source, range, by, title) : print(source, range, by, title)
        },
      }
    },
  }
}

export type FilesApi = ReturnType<typeof createFiles>
