import { type ExportForm, maxPdfRows } from '@portcullis/contract'
import { AppError } from '@portcullis/platform/server/app-error.ts'
import type { Clock } from '@portcullis/platform/server/clock.ts'
import { exportFileName, FileAnswer } from '@portcullis/platform/server/http/answer.ts'
import { createList, type List, type ListDeps } from '@portcullis/platform/server/list/list.ts'
import { type ExportBody, readExportRequest } from './export-request.ts'
import { columnsByKey, type ExportableList, printedColumns, summaryColumns } from './exportable-list.ts'
import type { ExportsRead } from './exports.read.ts'
import { filterText, madeText } from './filter-labels.ts'
import type { Printer } from './pdf/printer.ts'

export interface ExportsDeps {
  clock: Clock
  read: ExportsRead
  printer: Printer
  lists: ListDeps
  /** Returns the logo of the organisation as a PNG data URI. Empty: the logo of the product. */
  logo(): string
}

export type ExportsService = ReturnType<typeof createExportsService>

const format = (n: number): string => n.toLocaleString('en')

const tooLarge = (list: ExportableList, rows: string): AppError =>
  new AppError('unprocessable', {
    detail: `A PDF holds at most ${format(maxPdfRows)} rows, but this list has ${rows}. Export as CSV${list.csvPath === undefined ? '' : ` (POST ${list.csvPath})`}, or narrow the filters.`,
  })

/** Exports lists as files for API routes and for scheduled reports. */
export const createExportsService = ({ clock, read, printer, lists, logo }: ExportsDeps) => {
  const counted = new Map<ExportableList, List>()
  function listOf(list: ExportableList): List {
    const known = counted.get(list) ?? createList(list.spec, lists)
    counted.set(list, known)
    return known
  }

  return {
    listOf,
    csv: async (list: ExportableList, body: ExportBody): Promise<FileAnswer> =>
      new FileAnswer(
        exportFileName(list.spec.name, clock.now(), 'csv'),
        'text/csv; charset=utf-8',
        read.csv(readExportRequest(list, body), (body?.form as ExportForm | null | undefined) ?? 'fixed'),
      ),

    /** Prints a PDF; `userName` appears on its cover. */
    pdf: async (list: ExportableList, body: ExportBody, userName: string): Promise<FileAnswer> => {
      const isDefault = ((body?.columns as readonly string[] | null) ?? []).length === 0
      const request = readExportRequest(list, isDefault ? { ...body, columns: list.pdfColumns } : body)
      const summary = columnsByKey(list.columns, list.summary)
      const rows = await listOf(list).countOf(request.compiled)
      if (rows > maxPdfRows) throw tooLarge(list, format(rows))
      const at = clock.now()
      return new FileAnswer(
        exportFileName(list.spec.name, at, 'pdf'),
        'application/pdf',
        printer.print({
          job: {
            title: list.title,
            cover: [filterText(request)],
            made: madeText(at, userName),
            columns: printedColumns(request.columns),
            summary: summaryColumns(summary),
            logo: logo(),
            at,
          },
          maxRows: maxPdfRows,
          rows: () => read.rows(request, [...request.columns, ...summary], maxPdfRows + 1),
          tooLarge: () => tooLarge(list, 'more'),
        }),
      )
    },
  }
}
