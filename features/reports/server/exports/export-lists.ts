import {
  exportAgentCsv,
  exportAgentlessCsv,
  exportCsvConnections,
  exportEventsCsv,
  exportPeripheralsCsv,
  peripheralsAggExport,
  type ReportListName,
  reportLists,
} from '@portcullis/contract'
import { connectionsList, statusList } from '#features/agentless/server/index.ts'
import { agentsList } from '#features/agents/server/index.ts'
import { auditList } from '#features/audit/server/index.ts'
import { modelsList, peripheralsList } from '#features/devices/server/index.ts'
import { violationsList } from '#features/devices/server/insights/index.ts'
import { eventsList } from '#features/events/server/index.ts'
import { rulesFileList } from '#features/policy/server/index.ts'
import { type ExportableList, exportableList } from './exportable-list.ts'
import { withApproved } from './exports.read.ts'

const list = (
  name: ReportListName,
  how: Pick<ExportableList, 'spec' | 'plan'> & Partial<Pick<ExportableList, 'csvPath' | 'time' | 'fixed' | 'summary'>>,
): ExportableList =>
  exportableList({
    summary: [],
    ...how,
    pdfColumns: reportLists[name].pdfColumns,
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
    summary: ['displayStatusCombined', 'severity'],
    time: '(select h.last_seen from agent_heartbeats h where h.agent_id = r.agent_id)',
  }),
  models: list('models', {
    spec: withApproved(modelsList),
    plan: 'join',
    csvPath: peripheralsAggExport.path,
    summary: ['severity'],
    time: 'm.last_seen',
  }),
  peripherals: list('peripherals', {
    spec: peripheralsList,
    plan: 'walk',
    csvPath: exportPeripheralsCsv.path,
    summary: ['severity', 'status'],
    time: 'p.last_seen',
  }),
  attackTools: list('attackTools', {
    spec: { ...peripheralsList, name: 'attack-tools' },
    plan: 'walk',
    time: 'p.last_seen',
    fixed: { isKnownAttackTool: 'true' },
    summary: ['severity', 'status'],
  }),
  events: list('events', {
    spec: eventsList,
    plan: 'walk',
    csvPath: exportEventsCsv.path,
    time: 'e.created_at',
    summary: ['severityString', 'category'],
  }),
  audit: list('audit', { spec: auditList, plan: 'walk', time: 'r.created_at', summary: ['outcome'] }),
  rules: list('rules', { spec: rulesFileList, plan: 'join', time: 'r.changed_at', summary: ['effect', 'state'] }),
  violations: list('violations', { spec: violationsList, plan: 'join', time: 'v.last_seen' }),
  connections: list('connections', { spec: connectionsList, plan: 'join', csvPath: exportAgentlessCsv.path }),
  connectionRuns: list('connectionRuns', {
    spec: statusList,
    plan: 'join',
    csvPath: exportCsvConnections.path,
    summary: ['statusString'],
    time: 'r.started_at',
  }),
} satisfies Partial<Record<ReportListName, ExportableList>>
