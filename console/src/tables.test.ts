import { statusTable } from '@portcullis/features/agentless/console/agentless.view.tsx'
import { alertsTable } from '@portcullis/features/alerts/console/inbox/alerts.view.ts'
import { auditTable } from '@portcullis/features/audit/console/audit.view.tsx'
import { commandsTable } from '@portcullis/features/commands/console/commands.view.tsx'
import type { FilterKind } from '@portcullis/features/contract.ts'
import { deliveriesTable } from '@portcullis/features/deliveries/console/deliveries.view.tsx'
import { modelsTable } from '@portcullis/features/devices/console/models.view.tsx'
import { peripheralsTable } from '@portcullis/features/devices/console/peripherals.view.tsx'
import { eventsTable } from '@portcullis/features/events/console/events.view.tsx'
import { changesTable } from '@portcullis/features/health/console/history.view.tsx'
import { agentsTable } from '@portcullis/features/hosts/console/agents.view.tsx'
import { approvalsTable } from '@portcullis/features/policy/console/approvals/useInbox.ts'
import { grantsTable, rulesTable } from '@portcullis/features/policy/console/rules.view.tsx'
import { quarantinesTable } from '@portcullis/features/quarantine/console/quarantines.view.tsx'
import { runsTable } from '@portcullis/features/reports/console/runs.view.tsx'
import type { ListTable } from '@portcullis/platform/console/ui/list/list-table.tsx'
import { expect, it } from 'vitest'

const lists: Record<string, ListTable<never>> = {
  agents: agentsTable,
  peripherals: peripheralsTable,
  models: modelsTable,
  events: eventsTable,
  audit: auditTable,
  rules: rulesTable,
  grants: grantsTable,
  connectionRuns: statusTable,
  commands: commandsTable,
  deliveries: deliveriesTable,
  healthChanges: changesTable,
  quarantines: quarantinesTable,
  reportRuns: runsTable,
  alerts: alertsTable,
  approvals: approvalsTable,
}
const editors: Partial<Record<FilterKind, string>> = {
  boolean: 'yesNo',
  enum: 'choice',
  id: 'text',
  number: 'choice',
  time: 'period',
}

const table = (rows: readonly (readonly unknown[])[]): string =>
  rows.map((cells) => `| ${cells.map((cell) => cell ?? '').join(' | ')} |\n`).join('')

it.each(Object.entries(lists))('the table of %s has the same columns and filters', async (name, parts) => {
  const { view, filters, columns } = parts
  await expect(
    [
      `# ${name}: ${view.defaultSort}, ${view.defaultColumns.join(' ')}\n\n`,
      table([['column', 'title', 'width', 'sort', 'first', 'align', 'exports', ''], Array(8).fill('---')]),
      table(
        columns.map(({ id, title, width, grow, sortKey, naturalSort, align, exportKeys, hasLink }) => [
          ...[id, title, grow === true ? `${width}+` : width, sortKey, naturalSort, align],
          ...[(exportKeys ?? (sortKey === undefined ? [] : [sortKey])).join(' '), hasLink === true ? 'link' : ''],
        ]),
      ),
      '\n',
      table([['filter', 'label', 'kind', 'options'], Array(4).fill('---')]),
      table(
        filters.map((filter) => [
          ...[filter.name, filter.label, filter.isSingle ? 'one' : (editors[filter.kind] ?? filter.kind)],
          filter.values.map((value) => `${value}: ${filter.labels[value] ?? value}`).join(', '),
        ]),
      ),
    ].join(''),
  ).toMatchFileSnapshot(`../../e2e/goldens/expected/columns/${name}.console.txt`)
})
