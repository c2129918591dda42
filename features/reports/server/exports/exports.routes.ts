import type { Clock } from '@portcullis/platform/server/clock.ts'
import { exportFileName, FileAnswer } from '@portcullis/platform/server/http/answer.ts'
import type { HttpApp } from '@portcullis/platform/server/http/http-app.ts'
import {
  agentExportFile,
  type ExportForm,
  exportAgentCsv,
  exportAgentlessCsv,
  exportAgentlessPdf,
  exportAgentPdf,
  exportCsvConnections,
  exportEventsCsv,
  exportEventsPdf,
  exportPeripheralsCsv,
  exportPeripheralsPdf,
  peripheralsAggExport,
  peripheralsAggExportPdf,
} from '#features/contract.ts'
import { exportLists } from './export-lists.ts'
import type { FileContent } from './export-request.ts'
import type { FilesApi } from './files.service.ts'

/** Exports with the filters of the list as members of the body. */
const operations = [
  [exportAgentCsv, 'agents', 'csv'],
  [exportAgentPdf, 'agents', 'pdf'],
  [exportAgentlessCsv, 'connections', 'csv'],
  [exportAgentlessPdf, 'connections', 'pdf'],
  [exportCsvConnections, 'connectionRuns', 'csv'],
  [peripheralsAggExport, 'models', 'csv'],
  [peripheralsAggExportPdf, 'models', 'pdf'],
  [exportPeripheralsCsv, 'peripherals', 'csv'],
  [exportPeripheralsPdf, 'peripherals', 'pdf'],
  [exportEventsCsv, 'events', 'csv'],
  [exportEventsPdf, 'events', 'pdf'],
] as const

const mediaTypes = { csv: 'text/csv; charset=utf-8', pdf: 'application/pdf' } as const

export const registerExportRoutes = (app: HttpApp, files: FilesApi, clock: Clock): void => {
  async function answer(
    [name, format]: readonly [keyof typeof exportLists, 'csv' | 'pdf'],
    body: Readonly<Record<string, unknown>> | null | undefined,
    by: string,
  ): Promise<FileAnswer> {
    const { form, columns, sortBy, pageNumber: _number, pageSize: _size, ...filter } = body ?? {}
    const content = { filter, sortBy: sortBy ?? null, columns: columns ?? null } as FileContent
    const file = files.prepare(name, content, null, 'body')
    const opened = await file.open({ format, form: (form as ExportForm | null | undefined) ?? 'fixed' }, by)
    return new FileAnswer(
      exportFileName(exportLists[name].spec.name, clock.now(), format),
      mediaTypes[format],
      opened.content,
    )
  }
  app.register(agentExportFile, ({ actor, query }) => answer(['agents', 'csv'], query, actor.userName))
  for (const [operation, name, format] of operations)
    app.register(operation, ({ actor, body }) => answer([name, format], body, actor.userName))
}
