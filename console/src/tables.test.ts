import { statusTable } from '@portcullis/features/agentless/console/agentless.view.tsx'
import { noticesView, riskFilters } from '@portcullis/features/alerts/console/inbox/notices.view.ts'
import { auditTable } from '@portcullis/features/audit/console/audit.view.tsx'
import { commandColumns, commandFilters, commandsView } from '@portcullis/features/commands/console/commands.view.tsx'
import {
  deliveriesView,
  deliveryColumns,
  deliveryFilters,
} from '@portcullis/features/deliveries/console/deliveries.view.tsx'
import { modelsTable } from '@portcullis/features/devices/console/models.view.tsx'
import { peripheralsTable } from '@portcullis/features/devices/console/peripherals.view.tsx'
import { eventsTable } from '@portcullis/features/events/console/events.view.tsx'
import { changeColumns, changeFilters, changesView } from '@portcullis/features/health/console/history.view.tsx'
import { agentsTable } from '@portcullis/features/hosts/console/agents.view.tsx'
import { approvalFilters, approvalsView } from '@portcullis/features/policy/console/approvals/approvals.view.ts'
import { grantsTable, rulesTable } from '@portcullis/features/policy/console/rules.view.tsx'
import {
  quarantineColumns,
  quarantineFilters,
  quarantinesView,
} from '@portcullis/features/quarantine/console/quarantines.view.tsx'
import { runColumns, runFilters, runsView } from '@portcullis/features/reports/console/runs.view.tsx'
import type { ViewSpec } from '@portcullis/platform/console/lib/view-state.ts'
import type { Filter } from '@portcullis/platform/console/ui/filters/filter.ts'
import type { ListTable } from '@portcullis/platform/console/ui/list/list-table.tsx'
import type { Column } from '@portcullis/platform/console/ui/table/column.ts'
import { expect, it } from 'vitest'

type AnyColumn = Omit<Column<never>, 'cell'>

const partsOf = <Row>({
  view,
  filters,
  columns,
}: ListTable<Row>): [ViewSpec, readonly Filter[], readonly AnyColumn[]] => [
  view,
  filters,
  columns as unknown as readonly AnyColumn[],
]

const lists: Record<string, [ViewSpec, readonly Filter[], readonly AnyColumn[]]> = {
  agents: partsOf(agentsTable),
  peripherals: partsOf(peripheralsTable),
  models: partsOf(modelsTable),
  events: partsOf(eventsTable),
  audit: partsOf(auditTable),
  rules: partsOf(rulesTable),
  grants: partsOf(grantsTable),
  connectionRuns: partsOf(statusTable),
  commands: [commandsView, commandFilters, commandColumns],
  deliveries: [deliveriesView, deliveryFilters, deliveryColumns],
  healthChanges: [changesView, changeFilters, changeColumns],
  quarantines: [quarantinesView, quarantineFilters, quarantineColumns],
  reportRuns: [runsView, runFilters, runColumns],
  alerts: [noticesView, riskFilters, []],
  approvals: [approvalsView, approvalFilters, []],
}

const table = (rows: readonly (readonly unknown[])[]): string =>
  rows.map((cells) => `| ${cells.map((cell) => cell ?? '').join(' | ')} |\n`).join('')

it.each(Object.entries(lists))('the table of %s has the same columns and filters', async (name, parts) => {
  const [{ defaultSort, defaultColumns }, filters, columns] = parts
  await expect(
    [
      `# ${name}: ${defaultSort}, ${defaultColumns.join(' ')}\n\n`,
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
          ...[filter.name, filter.label, filter.kind === 'choice' && filter.single === true ? 'one' : filter.kind],
          filter.kind === 'choice' ? filter.options.map(({ value, label }) => `${value}: ${label}`).join(', ') : '',
        ]),
      ),
    ].join(''),
  ).toMatchFileSnapshot(`../../e2e/goldens/expected/columns/${name}.console.txt`)
})
