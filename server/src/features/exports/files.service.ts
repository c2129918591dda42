import type { Readable } from 'node:stream'
import { maxPdfRows, type ReportFormat, type ReportListName, reportLists } from '@portcullis/contract'
import { AppError, invalid } from '#platform/app-error.ts'
import type { Clock } from '#platform/clock.ts'
import { nearest } from '#platform/http/names.ts'
import type { List } from '#platform/list/list.ts'
import { countedRows } from './counted-rows.ts'
import { readExportRequest } from './export-request.ts'
import type { ExportableList } from './exportable-list.ts'
import { type ExportsRead, type TimeRange, withinRange } from './exports.read.ts'
import { filterWords } from './filter-words.ts'
import type { Printer } from './pdf/printer.ts'

/** What a file is to hold. */
export interface FileContent {
  list: ReportListName
  filter: Readonly<Record<string, unknown>>
  sortBy: string | null
  columns: readonly string[] | null
}

/** A file that can be made: checked, countable. */
export interface PreparedFile {
  /** Rows it would have now. */
  count(): Promise<number>
  /** Makes it; `rows` tells, once it is read to its end, how many it has. `by` stands on the cover of a PDF. */
  open(format: ReportFormat, by: string): Promise<{ content: Readable; rows: () => number }>
}

/** `csv` for a PDF that would have too many rows. */
const tooLarge = (title: string): AppError =>
  new AppError('unprocessable', {
    detail: `A PDF holds at most ${maxPdfRows.toLocaleString('en')} rows, and ${title} has more. Choose CSV, or filter more.`,
  })

const assertKnown = (list: ReportListName, filter: Readonly<Record<string, unknown>>): void => {
  const known = Object.keys(reportLists[list].filters)
  for (const name of Object.keys(filter))
    if (!known.includes(name)) {
      const near = nearest(name, known)
      throw invalid(
        `body.filter.${name}`,
        `is unknown${near === undefined ? '; this list has no filters' : `; did you mean ${near}?`}`,
      )
    }
}

export interface FilesDeps {
  clock: Clock
  read: ExportsRead
  printer: Printer
  lists: Readonly<Record<ReportListName, ExportableList>>
  listOf(list: ExportableList): List
}

/** Files of lists for what sends them by itself. */
export const createFiles = ({ clock, read, printer, lists, listOf }: FilesDeps) => ({
  /** Checks what a file is to hold: what it can not mean is a 400 that names the member. */
  prepare: (content: FileContent, range: TimeRange | null): PreparedFile => {
    assertKnown(content.list, content.filter)
    const list = lists[content.list]
    const asked = readExportRequest(
      list,
      { ...content.filter, ...list.fixed, sortBy: content.sortBy, columns: content.columns },
      'body.filter',
    )
    const request =
      range === null || list.time === undefined
        ? asked
        : { ...asked, compiled: withinRange(asked.compiled, list.time, range) }
    const count = () => listOf(list).countOf(request.compiled)
    return {
      count,
      open: async (format, by) => {
        if (format === 'csv') return countedRows(read.csv(request), 'csv')
        if ((await count()) > maxPdfRows) throw tooLarge(list.title)
        const at = clock.now()
        const when = new Date(at).toISOString().slice(0, 19).replace('T', ' ')
        let rows = () => 0
        const body = printer.print({
          job: {
            title: list.title,
            cover: [
              filterWords(request),
              ...(range === null
                ? []
                : [
                    `${range.from === null ? 'Until' : `From ${range.from.toISOString()} until`} ${range.to.toISOString()}`,
                  ]),
              `Made ${when} UTC for ${by}: {rows}`,
            ],
            columns: request.columns.map(({ key, kind }) => ({ key, isNumber: kind === 'number' })),
            at,
          },
          maxRows: maxPdfRows,
          rows: () => {
            const counted = countedRows(read.rows(request, maxPdfRows + 1), 'lines')
            rows = counted.rows
            return counted.content
          },
          tooLarge: () => tooLarge(list.title),
        })
        return { content: body, rows: () => rows() }
      },
    }
  },
})

export type FilesApi = ReturnType<typeof createFiles>
