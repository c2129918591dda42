import type { Clock } from '#platform/clock.ts'
import { exportFileName, FileAnswer } from '#platform/http/answer.ts'
import { type ExportBody, readExportRequest } from './export-request.ts'
import type { ExportableList } from './exportable-list.ts'
import type { ExportsRead } from './exports.read.ts'

export interface ExportsDeps {
  clock: Clock
  read: ExportsRead
}

export type ExportsService = ReturnType<typeof createExportsService>

export const createExportsService = ({ clock, read }: ExportsDeps) => ({
  csv: async (list: ExportableList, body: ExportBody): Promise<FileAnswer> => {
    const request = readExportRequest(list, body)
    return new FileAnswer(
      exportFileName(list.spec.name, clock.now(), 'csv'),
      'text/csv; charset=utf-8',
      read.csv(request),
    )
  },
})
