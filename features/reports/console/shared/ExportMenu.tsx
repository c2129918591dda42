import { Button, Menu } from '@mantine/core'
import type { CallInput } from '@portcullis/platform/console/lib/api.ts'
import { curlOf } from '@portcullis/platform/console/lib/curl.ts'
import { exportBody } from '@portcullis/platform/console/lib/export-body.ts'
import { useServices } from '@portcullis/platform/console/lib/services.tsx'
import { copyText } from '@portcullis/platform/console/ui/copy.ts'
import { Icon } from '@portcullis/platform/console/ui/icons.tsx'
import type { ListedRows } from '@portcullis/platform/console/ui/list/ListPage.tsx'
import { strings } from '@portcullis/platform/console/ui/strings.ts'
import type { AnyOperation } from '@portcullis/platform/contract/operation.ts'
import { Fragment } from 'react'
import type { ExportForm, ReportListName } from '#features/contract.ts'
import { FileItem } from './FileItem.tsx'
import { useReportFile } from './report-file.ts'
import { ScheduleItem } from './ScheduleItem.tsx'
import type { ScheduleStart } from './schedule-address.ts'

/** A list to export, with its filters, order and columns. */
export interface ExportedList {
  /** Heading above its files. */
  label: string
  /** File name without extension, until the server sends one. */
  name: string
  /** The query of the list: filters, search, sort. */
  query: Readonly<Record<string, string>>
  /** Keys of the columns in order; all if absent. */
  columns?: readonly string[]
  /** Name of the list in reports. */
  report: ReportListName
  /** Number of rows that match the filters. */
  rows: number | null
  files: readonly { title: string; ending: 'csv' | 'pdf'; operation: AnyOperation }[]
}

interface MenuFile {
  title: string
  /** Purpose of the file. */
  hint: string
  ending: 'csv' | 'pdf'
  operation: AnyOperation
  form: ExportForm | undefined
}

/** Returns the items of a file: a CSV exists for people and for programs. */
const itemsOf = ({ title, ending, operation }: ExportedList['files'][number]): MenuFile[] =>
  ending === 'pdf'
    ? [{ title, hint: strings.pdfHint, ending, operation, form: undefined }]
    : [
        { title, hint: strings.csvHint, ending, operation, form: 'readable' },
        {
          title: strings.forPrograms({ file: title }),
          hint: strings.csvProgramsHint,
          ending,
          operation,
          form: 'fixed',
        },
      ]

const inputOf = ({ query: { SortBy, ...filters }, columns }: ExportedList, form?: ExportForm) => ({
  body: {
    ...exportBody(filters, columns),
    ...(SortBy === undefined ? {} : { sortBy: SortBy }),
    ...(form === 'readable' ? { form } : {}),
  },
})

const startOf = ({ report, query, columns }: ExportedList): ScheduleStart => ({
  list: report,
  query,
  ...(columns === undefined ? {} : { columns }),
})

/** Exports one or more lists as files. Progress appears in the job tray. */
export const ExportListsMenu = ({ lists }: { lists: readonly ExportedList[] }) => {
  const { api, session, work } = useServices()
  const takeWorkbook = useReportFile()
  if (!session.may('export:read')) return null
  const take = (list: ExportedList, { ending, operation, form }: MenuFile) =>
    work.fetchFile({
      name: `${list.name}.${ending}`,
      // The header is a line too.
      ...(list.rows === null || ending !== 'csv' ? {} : { lines: list.rows + 1 }),
      open: (signal) =>
        api.openFile(operation, { ...inputOf(list, form), signal } as unknown as CallInput<AnyOperation>),
    })
  const first = lists[0]?.files[0]
  return (
    <Menu position="bottom-end">
      <Menu.Target>
        <Button variant="subtle" size="compact-sm" leftSection={<Icon name="download" size={14} />}>
          {strings.exportText}
        </Button>
      </Menu.Target>
      <Menu.Dropdown>
        {lists.map((list) => (
          <Fragment key={list.name}>
            <Menu.Label>{list.label}</Menu.Label>
            <FileItem
              title={strings.xlsx}
              hint={strings.xlsxHint}
              onClick={() => takeWorkbook(startOf(list), 'xlsx')}
            />
            {list.files.flatMap(itemsOf).map((file) => (
              <FileItem key={file.title} title={file.title} hint={file.hint} onClick={() => take(list, file)} />
            ))}
            <ScheduleItem {...startOf(list)} />
          </Fragment>
        ))}
        {first === undefined ? null : (
          <>
            <Menu.Divider />
            <Menu.Item
              leftSection={<Icon name="copy" />}
              onClick={() => {
                const [list] = lists
                if (list !== undefined) void copyText(curlOf(first.operation, inputOf(list)), strings.command)
              }}
            >
              {strings.copyAsCurl}
            </Menu.Item>
          </>
        )}
      </Menu.Dropdown>
    </Menu>
  )
}

interface ExportMenuProps extends ListedRows {
  /** File name without extension, until the server sends one. */
  name: string
  /** Absent: the list has no files of its own, and reports contain it. */
  csv?: AnyOperation
  pdf?: AnyOperation
  /** Name of the list in reports. */
  report: ReportListName
}

/** Exports a list with its current filters, order and columns. */
export const ExportMenu = ({ csv, pdf, rows, ...list }: ExportMenuProps) => (
  <ExportListsMenu
    lists={[
      {
        ...list,
        rows,
        label: rows === null ? strings.currentView : strings.currentRows({ rows }),
        files: [
          ...(csv === undefined ? [] : [{ title: strings.csv, ending: 'csv' as const, operation: csv }]),
          ...(pdf === undefined ? [] : [{ title: strings.pdf, ending: 'pdf' as const, operation: pdf }]),
        ],
      },
    ]}
  />
)
