import { Menu } from '@mantine/core'
import { exportReport, type ReportFormat } from '@portcullis/contract'
import { exportBody } from '../lib/export-body.ts'
import type { ScheduleStart } from '../lib/schedule-address.ts'
import { useServices } from '../lib/services.tsx'
import { Icon } from './icons.tsx'
import { ScheduleItem } from './ScheduleItem.tsx'
import { strings } from './strings.ts'

/** Menu items that export or schedule a list without its own export menu. */
export const ReportItems = (start: ScheduleStart) => {
  const { api, session, work } = useServices()
  if (!session.may('export:read')) return null
  const { list, query = {}, columns } = start
  const { SortBy, ...filters } = query
  const take = (format: ReportFormat) =>
    work.fetchFile({
      name: `${list}.${format}`,
      open: (signal) =>
        api.openFile(exportReport, {
          body: {
            list,
            format,
            filter: exportBody(filters) as Record<string, string>,
            ...(SortBy === undefined ? {} : { sortBy: SortBy }),
            ...(columns === undefined ? {} : { columns: [...columns] }),
          },
          signal,
        }),
    })
  return (
    <>
      <Menu.Item leftSection={<Icon name="download" />} onClick={() => take('csv')}>
        {strings.exportAsCsv}
      </Menu.Item>
      <Menu.Item leftSection={<Icon name="download" />} onClick={() => take('pdf')}>
        {strings.exportAsPdf}
      </Menu.Item>
      <ScheduleItem {...start} />
    </>
  )
}
