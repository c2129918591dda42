import type { ScheduleStart } from '../lib/schedule-address.ts'
import { useServices } from '../lib/services.tsx'
import { FileItem } from './FileItem.tsx'
import { useReportFile } from './report-file.ts'
import { ScheduleItem } from './ScheduleItem.tsx'
import { strings } from './strings.ts'

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
