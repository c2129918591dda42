import { useServices } from '@portcullis/platform/console/lib/services.tsx'
import { strings } from '@portcullis/platform/console/ui/strings.ts'
import { FileItem } from './FileItem.tsx'
import { useReportFile } from './report-file.ts'
import { ScheduleItem } from './ScheduleItem.tsx'
import type { ScheduleStart } from './schedule-address.ts'

/** Menu items that export or schedule a list without its own export menu. */
export const ReportItems = (start: ScheduleStart) => {
  const { session } = useServices()
  const take = useReportFile()
  if (!session.may('export:read')) return null
  return (
    <>
      <FileItem title={strings.exportAsXlsx} hint={strings.xlsxHint} onClick={() => take(start, 'xlsx')} />
      <FileItem title={strings.exportAsCsv} hint={strings.csvHint} onClick={() => take(start, 'csv')} />
      <FileItem
        title={strings.exportForPrograms}
        hint={strings.csvProgramsHint}
        onClick={() => take(start, 'csv', 'fixed')}
      />
      <FileItem title={strings.exportAsPdf} hint={strings.pdfHint} onClick={() => take(start, 'pdf')} />
      <ScheduleItem {...start} />
    </>
  )
}
