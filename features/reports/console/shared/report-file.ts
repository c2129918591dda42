import { exportBody } from '@portcullis/platform/console/lib/export-body.ts'
import { useServices } from '@portcullis/platform/console/lib/services.tsx'
import { type ExportForm, exportReport, type ReportFormat } from '#features/contract.ts'
import type { ScheduleStart } from './schedule-address.ts'

/** Returns a function that fetches a list as a file, as a scheduled report makes it. Progress appears in the job tray. */
export const useReportFile = () => {
  const { api, work } = useServices()
  return ({ list, query = {}, columns }: ScheduleStart, format: ReportFormat, form: ExportForm = 'readable') => {
    const { SortBy, ...filters } = query
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
  }
}
