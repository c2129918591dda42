import {
  agentExportRow,
  agentFilters,
  connectionExportRow,
  connectionFilters,
  connectionStatusExportRow,
  connectionStatusFilters,
  exportAgentCsv,
  exportAgentlessCsv,
  exportCsvConnections,
  getPeripheralModels,
  peripheralModelExportRow,
  peripheralsAggExport,
} from '@portcullis/contract'
import { connectionsList, statusList } from '#features/agentless/index.ts'
import { agentsList } from '#features/agents/index.ts'
import { modelsList } from '#features/peripherals/index.ts'
import type { HttpApp } from '#platform/http/http-app.ts'
import type { ListDeps } from '#platform/list/list.ts'
import { exportableList } from './exportable-list.ts'
import { createExportsRead, withApproved } from './exports.read.ts'
import { registerExportRoutes } from './exports.routes.ts'
import { createExportsService } from './exports.service.ts'
import { createPrinter } from './pdf/printer.ts'

const agents = exportableList({
  spec: agentsList,
  plan: 'walk',
  title: 'Agents',
  row: agentExportRow,
  filters: agentFilters,
  csvPath: exportAgentCsv.path,
})

const models = exportableList({
  spec: withApproved(modelsList),
  plan: 'join',
  title: 'Peripherals by model',
  row: peripheralModelExportRow,
  filters: getPeripheralModels.query?.properties ?? {},
  csvPath: peripheralsAggExport.path,
})

const connections = exportableList({
  spec: connectionsList,
  plan: 'join',
  title: 'Computers without an agent',
  row: connectionExportRow,
  filters: connectionFilters,
  csvPath: exportAgentlessCsv.path,
})

const runs = exportableList({
  spec: statusList,
  plan: 'join',
  title: 'Polls of computers without an agent',
  row: connectionStatusExportRow,
  filters: connectionStatusFilters,
  csvPath: exportCsvConnections.path,
})

/** Lists as files. `exportDb` is the pool of long reads. */
export const exportsFeature = (app: HttpApp, lists: ListDeps) => {
  const printer = createPrinter()
  const service = createExportsService({
    clock: lists.clock,
    read: createExportsRead(lists),
    printer,
    lists,
  })
  registerExportRoutes(app, service, { agents, models, connections, runs })
  return { close: printer.close }
}
