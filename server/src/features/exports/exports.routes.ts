import {
  agentExportFile,
  exportAgentCsv,
  exportAgentlessCsv,
  exportAgentlessPdf,
  exportAgentPdf,
  exportCsvConnections,
  peripheralsAggExport,
  peripheralsAggExportPdf,
} from '@portcullis/contract'
import type { HttpApp } from '#platform/http/http-app.ts'
import type { exportLists } from './export-lists.ts'
import type { ExportsService } from './exports.service.ts'

export const registerExportRoutes = (
  app: HttpApp,
  exports: ExportsService,
  { agents, models, connections, connectionRuns }: typeof exportLists,
): void => {
  app.register(agentExportFile, () => exports.csv(agents, null))
  app.register(exportAgentCsv, ({ body }) => exports.csv(agents, body))
  app.register(exportAgentPdf, ({ actor, body }) => exports.pdf(agents, body, actor.userName))
  app.register(exportAgentlessCsv, ({ body }) => exports.csv(connections, body))
  app.register(exportAgentlessPdf, ({ actor, body }) => exports.pdf(connections, body, actor.userName))
  app.register(exportCsvConnections, ({ body }) => exports.csv(connectionRuns, body))
  app.register(peripheralsAggExport, ({ body }) => exports.csv(models, body))
  app.register(peripheralsAggExportPdf, ({ actor, body }) => exports.pdf(models, body, actor.userName))
}
