import {
  agentExportFile,
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
} from '@portcullis/contract'
import type { HttpApp } from '@portcullis/platform/server/http/http-app.ts'
import type { exportLists } from './export-lists.ts'
import type { ExportsService } from './exports.service.ts'

export const registerExportRoutes = (
  app: HttpApp,
  exports: ExportsService,
  { agents, models, connections, connectionRuns, peripherals, events }: typeof exportLists,
): void => {
  app.register(agentExportFile, ({ query }) => exports.csv(agents, { form: query.form }))
  app.register(exportAgentCsv, ({ body }) => exports.csv(agents, body))
  app.register(exportAgentPdf, ({ actor, body }) => exports.pdf(agents, body, actor.userName))
  app.register(exportAgentlessCsv, ({ body }) => exports.csv(connections, body))
  app.register(exportAgentlessPdf, ({ actor, body }) => exports.pdf(connections, body, actor.userName))
  app.register(exportCsvConnections, ({ body }) => exports.csv(connectionRuns, body))
  app.register(peripheralsAggExport, ({ body }) => exports.csv(models, body))
  app.register(peripheralsAggExportPdf, ({ actor, body }) => exports.pdf(models, body, actor.userName))
  app.register(exportPeripheralsCsv, ({ body }) => exports.csv(peripherals, body))
  app.register(exportPeripheralsPdf, ({ actor, body }) => exports.pdf(peripherals, body, actor.userName))
  app.register(exportEventsCsv, ({ body }) => exports.csv(events, body))
  app.register(exportEventsPdf, ({ actor, body }) => exports.pdf(events, body, actor.userName))
}
