import { agentExportFile, exportAgentCsv, peripheralsAggExport } from '@portcullis/contract'
import type { HttpApp } from '#platform/http/http-app.ts'
import type { ExportableList } from './exportable-list.ts'
import type { ExportsService } from './exports.service.ts'

export const registerExportRoutes = (
  app: HttpApp,
  exports: ExportsService,
  { agents, models }: { agents: ExportableList; models: ExportableList },
): void => {
  app.register(agentExportFile, () => exports.csv(agents, null))
  app.register(exportAgentCsv, ({ body }) => exports.csv(agents, body))
  app.register(peripheralsAggExport, ({ body }) => exports.csv(models, body))
}
