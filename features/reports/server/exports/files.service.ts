import type { Readable } from 'node:stream'
import { AppError, invalid } from '@portcullis/platform/server/app-error.ts'
import { isUnavailable } from '@portcullis/platform/server/db/db.ts'
import { unknownName } from '@portcullis/platform/server/http/names.ts'
import { createList, type List } from '@portcullis/platform/server/list/list.ts'
import { bodyFilters, type ExportForm, maxPdfRows, type ReportFormat, type ReportListName } from '#features/contract.ts'
import type { ReportsContext } from '../context.ts'
import { utcText } from './cell-text.ts'
import { type ComputedList, computedLists, copyRowsOf, csvOf } from './computed-lists.ts'
import { countedRows } from './counted-rows.ts'
import { exportLists } from './export-lists.ts'
import { chosenColumns, type FileContent, readExportRequest } from './export-request.ts'
import { columnsByKey, type ExportableList, type ExportColumn, fileColumns, printedColumns } from './exportable-list.ts'
import { createExportsRead, type TimeRange, withinRange } from './exports.read.ts'
import type { Printer } from './pdf/printer.ts'
import { madeText, rowsText } from './rows-text.ts'
import { streamWorkbook } from './xlsx/workbook.ts'

/** The kind of a file: workbook, PDF, or CSV in one of its forms. */
interface FileKind {
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

/** The rows of a file. */
interface Source extends Pick<PreparedFile, 'count' | 'description'> {
  columns: readonly ExportColumn[]
  csv(form: ExportForm): Promise<Readable>
  /** Returns all rows, or at most `limit`, in COPY's text form, once somebody reads them. */
  copied(columns: readonly ExportColumn[], limit?: number): Promise<() => Readable>
}

/** Returns zero if counting takes longer than a request may. */
const unlessSlow = (error: unknown): number => {
  if (isUnavailable(error)) return 0
  throw error
}

const rangeText = ({ from, to }: TimeRange): string =>
  `${from === null ? 'Until' : `From ${utcText(from)} until`} ${utcText(to)}`

/** Makes files of lists, for exports and scheduled reports. */
export const createFiles = (context: ReportsContext, printer: Printer) => {
  const { clock, settings } = context
  const read = createExportsRead(context)
  const lists = { ...exportLists, ...computedLists(context.insights, clock) }
  const counted = new Map<ExportableList, List>()
  function listOf(list: ExportableList): List {
    const known = counted.get(list) ?? createList(list.spec, context)
    counted.set(list, known)
    return known
  }

  function ofDatabase(list: ExportableList, request: ReturnType<typeof readExportRequest>): Source {
    return {
      columns: request.columns,
      description: rowsText(request),
      count: () => listOf(list).countOf(request.compiled),
      csv: async (form) => read.csv(request, form),
      copied: async (columns, limit) => () => read.rows(request, columns, limit),
    }
  }

  function computed(list: ComputedList, { sortBy, columns: asked }: FileContent, range: TimeRange | null): Source {
    if (sortBy !== null && sortBy !== '') throw invalid('body.sortBy', 'is not available: this list has a fixed order')
    const columns = chosenColumns(fileColumns(list.definition), asked)
    return {
      columns,
      description: 'All rows',
      count: async () => (await list.rows(range)).length,
      csv: async (form) => csvOf(columns, await list.rows(range), form),
      copied: async (wanted, limit) => {
        const rows = (await list.rows(range)).slice(0, limit)
        return () => copyRowsOf(wanted, rows)
      },
    }
  }

  /** Returns how to make the files of a source. */
  function fileOf(list: ExportableList | ComputedList, source: Source, range: TimeRange | null, isDefault: boolean) {
    const { title: listTitle, file } = list.definition
    const all = fileColumns(list.definition)
    /** Returns the lines that say what a file contains. */
    const aboutOf = (title: string): string[] => [
      `${title === listTitle ? '' : `${listTitle}. `}${source.description}`,
      ...(range === null ? [] : [rangeText(range)]),
    ]

    const csvPath = 'csvPath' in list ? ` (POST ${list.csvPath})` : ''
    const tooLarge = (rows: number | null): AppError =>
      new AppError('unprocessable', {
        detail: `A PDF holds at most ${maxPdfRows.toLocaleString('en')} rows, but ${listTitle} has ${rows === null ? 'more' : rows.toLocaleString('en')}. Choose XLSX or CSV${csvPath}, or narrow the filters.`,
      })

    async function workbook(by: string, title = listTitle): Promise<OpenedFile> {
      const at = clock.now()
      const { content: copied, rows } = countedRows((await source.copied(source.columns))(), 'lines')
      const about = [title, ...aboutOf(title), madeText(at, by), 'All times are in UTC.']
      return { content: streamWorkbook({ title: listTitle, columns: source.columns, about, at }, copied), rows }
    }

    async function print(by: string, title = listTitle): Promise<OpenedFile> {
      // The printer counts as well and rejects lists that take too long to count here.
      const count = await source.count().catch(unlessSlow)
      if (count > maxPdfRows) throw tooLarge(count)
      const at = clock.now()
      const columns = isDefault ? columnsByKey(all, file.pdf) : source.columns
      const summary = columnsByKey(all, file.summary ?? [])
      const copied = await source.copied([...columns, ...summary], maxPdfRows + 1)
      let rows = () => 0
      const content = printer.print({
        job: {
          title,
          cover: aboutOf(title),
          made: madeText(at, by),
          columns: printedColumns(columns),
          summary: summary.map(({ label: name, form, labels }) => ({ name, form, labels })),
          logo: settings.now('CUSTOM_LOGIN_LOGO'),
          at,
        },
        maxRows: maxPdfRows,
        rows: () => {
          const counted = countedRows(copied(), 'lines')
          rows = counted.rows
          return counted.content
        },
        tooLarge: () => tooLarge(null),
      })
      return { content, rows: () => rows() }
    }
    return { workbook, print }
  }

  return {
    /**
     * Checks the request. Returns 400 and names the member if it is invalid; `place` holds the filters.
     */
    prepare: (
      name: ReportListName,
      content: FileContent,
      range: TimeRange | null,
      place: 'body' | 'body.filter' = 'body.filter',
    ): PreparedFile => {
      const list = lists[name]
      const known = Object.keys(bodyFilters(list.definition))
      for (const given of Object.keys(content.filter))
        if (!known.includes(given))
          throw invalid(
            `${place}.${given}`,
            known.length === 0 ? 'is unknown: this list has no filters' : unknownName(given, known),
          )
      let source: Source
      if ('spec' in list) {
        const asked = readExportRequest(list, content, place)
        source = ofDatabase(
          list,
          range === null || list.time === undefined
            ? asked
            : { ...asked, compiled: withinRange(asked.compiled, list.time, range) },
        )
      } else source = computed(list, content, range)
      const file = fileOf(list, source, range, (content.columns ?? []).length === 0)
      return {
        description: source.description,
        count: source.count,
        open: async ({ format, form }, by, title) => {
          if (format === 'csv') return countedRows(await source.csv(form), 'csv')
          return format === 'xlsx' ? file.workbook(by, title) : file.print(by, title)
        },
      }
    },
  }
}

export type FilesApi = ReturnType<typeof createFiles>
