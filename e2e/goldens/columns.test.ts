import {
  columnsOf,
  type FileList,
  type ReportListName,
  reportLists,
  reportTraits,
} from '@portcullis/features/contract.ts'
import { expect, it } from 'vitest'
import { connectionsList, statusList } from '../../features/agentless/server/index.ts'
import { agentsList } from '../../features/agents/server/index.ts'
import { recordsFileList } from '../../features/audit/server/index.ts'
import { findingsList, modelsList, peripheralsList } from '../../features/devices/server/index.ts'
import { violationsList } from '../../features/devices/server/insights/index.ts'
import { eventsList } from '../../features/events/server/index.ts'
import { rulesFileList } from '../../features/policy/server/index.ts'
import { expectGolden } from './golden.ts'

const specs: Partial<Record<ReportListName, { columns: Readonly<Record<string, { sort?: string }>> }>> = {
  agents: agentsList,
  models: modelsList,
  peripherals: peripheralsList,
  attackTools: peripheralsList,
  events: eventsList,
  audit: recordsFileList,
  rules: rulesFileList,
  findings: findingsList,
  violations: violationsList,
  connections: connectionsList,
  connectionRuns: statusList,
}

/** Returns a Markdown table of the columns and filters of a list. */
const tableOf = (name: ReportListName): string => {
  const { row, file }: FileList = reportLists[name]
  const { title, canSort, filters } = reportTraits[name]
  const columns = Object.values(columnsOf(row)).map(({ key, label, heading, form, labels }) => [
    key,
    label,
    heading,
    form,
    Object.keys(labels).join(' '),
    specs[name]?.columns[key]?.sort === undefined ? '' : 'sortable',
    file.pdf.includes(key) ? `PDF ${file.pdf.indexOf(key) + 1}` : '',
  ])
  const parameters = filters.map(({ name: key, label, kind, values }) => [key, label, kind, values.join(' ')])
  const lines = (rows: (string | undefined)[][]) => rows.map((cells) => `| ${cells.join(' | ')} |`).join('\n')
  return `# ${title}: ${file.time ?? 'no time'}, ${file.permission}, ${canSort ? 'any order' : 'fixed order'}

| key | label | CSV header | form | codes | | |
|---|---|---|---|---|---|---|
${lines(columns)}

| filter | label | kind | values |
|---|---|---|---|
${lines(parameters)}
`
}

it.each(Object.keys(reportLists) as ReportListName[])('the list %s has the same columns and filters', async (name) => {
  expect(Object.keys(reportLists[name].row.properties).length).toBeGreaterThan(5)
  await expectGolden(`columns/${name}.txt`, tableOf(name))
})
