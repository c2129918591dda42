import { connectionsList, statusList } from '#features/agentless/server/index.ts'
import { agentsList } from '#features/agents/server/index.ts'
import { recordsFileList } from '#features/audit/server/index.ts'
import {
  exportAgentCsv,
  exportAgentlessCsv,
  exportCsvConnections,
  exportEventsCsv,
  exportPeripheralsCsv,
  peripheralsAggExport,
  type ReportListName,
  reportLists,
} from '#features/contract.ts'
import { findingsList, modelsList, peripheralsList } from '#features/devices/server/index.ts'
import { violationsList } from '#features/devices/server/insights/index.ts'
import { eventsList } from '#features/events/server/index.ts'
import { rulesFileList } from '#features/policy/server/index.ts'
import type { ExportableList } from './exportable-list.ts'
import { withApproved } from './exports.read.ts'

const list = (name: ReportListName, how: Omit<ExportableList, 'definition'>): ExportableList => ({
  definition: reportLists[name],
  ...how,
})

/** Lists whose rows come from the database, by their name in a report. */
export const exportLists = {
  agents: list('agents', {
    spec: agentsList,
    plan: 'walk',
    csvPath: exportAgentCsv.path,
    time: '(select h.last_seen from agent_heartbeats h where h.agent_id = r.agent_id)',
  }),
  models: list('models', {
    spec: withApproved(modelsList),
    plan: 'join',
    csvPath: peripheralsAggExport.path,
    time: 'm.last_seen',
  }),
  peripherals: list('peripherals', {
    spec: peripheralsList,
    plan: 'walk',
    csvPath: exportPeripheralsCsv.path,
    time: 'p.last_seen',
  }),
  attackTools: list('attackTools', {
    spec: { ...peripheralsList, name: 'attack-tools' },
    plan: 'walk',
    time: 'p.last_seen',
    fixed: { isKnownAttackTool: 'true' },
  }),
  events: list('events', { spec: eventsList, plan: 'walk', csvPath: exportEventsCsv.path, time: 'e.created_at' }),
  audit: list('audit', { spec: recordsFileList, plan: 'walk', time: 'r.created_at' }),
  rules: list('rules', { spec: rulesFileList, plan: 'join', time: 'r.changed_at' }),
  findings: list('findings', { spec: findingsList, plan: 'join', time: 'f.opened_at' }),
  violations: list('violations', { spec: violationsList, plan: 'join', time: 'v.last_seen' }),
  connections: list('connections', { spec: connectionsList, plan: 'join', csvPath: exportAgentlessCsv.path }),
  connectionRuns: list('connectionRuns', {
    spec: statusList,
    plan: 'join',
    csvPath: exportCsvConnections.path,
    time: 'r.started_at',
  }),
} satisfies Partial<Record<ReportListName, ExportableList>>
