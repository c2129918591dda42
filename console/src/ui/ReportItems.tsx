import { type ExportForm, exportReport, type ReportFormat } from '@portcullis/contract'
import { exportBody } from '../lib/export-body.ts'
import type { ScheduleStart } from '../lib/schedule-address.ts'
import { useServices } from '../lib/services.tsx'
import { FileItem } from './FileItem.tsx'
import { ScheduleItem } from './ScheduleItem.tsx'
import { strings } from './strings.ts'

/** Menu items that export or schedule a list without its own export menu. */
export const ReportItems = (start: ScheduleStart) => {
  const { api, session, work } = useServices()
  if (!session.may('export:read')) return null
  const { list, query = {}, columns } = start
  const { SortBy, ...filters } = query
  const take = (format: ReportFormat, form: ExportForm) =>
    work.fetchFile({
      name: `${list}.${format}`,
      open: (signal) =>
        api.openFile(exportReport, {
          body: {
            list,
            format,
            form,
            filter: exportBody(filters) as Record<string, string>,
            ...(SortBy === undefined ? {} : { sortBy: SortBy }),
            ...(columns === undefined ? {} : { columns: [...columns] }),
          },
          signal,
        }),
    })
  return (
    <>
      <FileItem title={strings.exportAsCsv} hint={strings.csvHint} onClick={() => take('csv', 'readable')} />
      <FileItem title={strings.exportForPrograms} hint={strings.csvProgramsHint} onClick={() => take('csv', 'fixed')} />
      <FileItem title={strings.exportAsPdf} hint={strings.pdfHint} onClick={() => take('pdf', 'readable')} />
      <ScheduleItem {...start} />
    </>
  )
}
