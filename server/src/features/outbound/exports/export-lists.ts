import {
  agentPdfColumns,
  exportAgentCsv,
  exportAgentlessCsv,
  exportCsvConnections,
  exportEventsCsv,
  exportPeripheralsCsv,
  peripheralsAggExport,
  type ReportListName,
  reportLists,
} from '@portcullis/contract'
import { violationsList } from '#features/devices/insights/index.ts'
import { modelsList, peripheralsList } from '#features/devices/peripherals/index.ts'
import { rulesFileList } from '#features/devices/policy/index.ts'
import { connectionsList, statusList } from '#features/fleet/agentless/index.ts'
import { agentsList } from '#features/fleet/agents/index.ts'
import { auditList } from '#features/system/audit/index.ts'
import { eventsList } from '#features/system/events/index.ts'
import { type ExportableList, exportableList } from './exportable-list.ts'
import { withApproved } from './exports.read.ts'

const list = (
  name: ReportListName,
  how: Pick<ExportableList, 'spec' | 'plan'> & Partial<Pick<ExportableList, 'csvPath' | 'time' | 'fixed' | 'printed'>>,
): ExportableList =>
  exportableList({
    ...how,
    title: reportLists[name].title,
    row: reportLists[name].row,
    filters: reportLists[name].filters,
  })

/** Lists whose rows come from the database, by their name in a report. */
export const exportLists = {
  agents: list('agents', {
    spec: agentsList,
    plan: 'walk',
    csvPath: exportAgentCsv.path,
    printed: agentPdfColumns,
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
  audit: list('audit', { spec: auditList, plan: 'walk', time: 'r.created_at' }),
  rules: list('rules', { spec: rulesFileList, plan: 'join', time: 'r.changed_at' }),
  violations: list('violations', { spec: violationsList, plan: 'join', time: 'v.last_seen' }),
  connections: list('connections', { spec: connectionsList, plan: 'join', csvPath: exportAgentlessCsv.path }),
  connectionRuns: list('connectionRuns', {
    spec: statusList,
    plan: 'join',
    csvPath: exportCsvConnections.path,
    time: 'r.started_at',
  }),
} satisfies Partial<Record<ReportListName, ExportableList>>
