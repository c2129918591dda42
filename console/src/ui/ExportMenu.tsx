import { Button, Menu } from '@mantine/core'
import type { AnyOperation } from '@portcullis/contract'
import type { CallInput } from '../lib/api.ts'
import { curlOf } from '../lib/curl.ts'
import { exportBody } from '../lib/export-body.ts'
import { useServices } from '../lib/services.tsx'
import { copyText } from './copy.ts'
import { Icon } from './icons.tsx'

export interface ExportMenuProps<Csv extends AnyOperation, Pdf extends AnyOperation> {
  /** Name of the file until the server has said one, without its ending. */
  name: string
  csv: Csv
  pdf: Pdf
  /** The query of the list: filters, search, sort. */
  query: Readonly<Record<string, string>>
  /** Keys of the columns that are shown, in their order. */
  columns: readonly string[]
  /** Rows that the filters leave. */
  rows: number | null
}

/** Takes a list away as it is shown: its filters, its order, its columns. The file comes in the job tray. */
export const ExportMenu = <Csv extends AnyOperation, Pdf extends AnyOperation>(props: ExportMenuProps<Csv, Pdf>) => {
  const { name, csv, pdf, query, columns, rows } = props
  const { api, session, work } = useServices()
  if (!session.may('export:read')) return null
  const { SortBy, ...filters } = query
  const input = {
    body: { ...exportBody(filters, columns), ...(SortBy === undefined ? {} : { sortBy: SortBy }) },
  }
  // The header is a line, too.
  const lines = rows === null ? {} : { lines: rows + 1 }
  const take = <O extends AnyOperation>(operation: O, ending: string, more: { lines?: number }) =>
    work.fetchFile({
      name: `${name}.${ending}`,
      ...more,
      open: (signal) => api.openFile(operation, { ...input, signal } as unknown as CallInput<O>),
    })
  return (
    <Menu position="bottom-end">
      <Menu.Target>
        <Button variant="subtle" size="compact-sm" leftSection={<Icon name="download" size={14} />}>
          Export
        </Button>
      </Menu.Target>
      <Menu.Dropdown>
        <Menu.Label>{rows === null ? 'What is shown' : `${rows.toLocaleString('en')} rows, as shown`}</Menu.Label>
        <Menu.Item onClick={() => take(csv, 'csv', lines)}>CSV</Menu.Item>
        <Menu.Item onClick={() => take(pdf, 'pdf', {})}>PDF</Menu.Item>
        <Menu.Divider />
        <Menu.Item
          leftSection={<Icon name="copy" />}
          onClick={() => void copyText(curlOf(window.location.origin, csv, input as never), 'Command')}
        >
          Copy as curl
        </Menu.Item>
      </Menu.Dropdown>
    </Menu>
  )
}
