import { createHash } from 'node:crypto'
import { type ReportFormat, reportLimits } from '@portcullis/contract'

/** Name of a schedule as part of a file name: of any name something that every file system and mail program takes. */
const stem = (name: string): string =>
  name
    .normalize('NFKD')
    .replace(/[^A-Za-z0-9]+/g, '-')
    .toLowerCase()
    .slice(0, 60)
    .replace(/^-|-$/g, '') || 'report'

/** `new-devices-2031-05-04t063000Z-0a1b2c3d.csv`: sorts by time, and two runs never share one. */
export const reportFileName = (name: string, runId: string, at: number, format: ReportFormat): string => {
  const when = new Date(at).toISOString().slice(0, 19).replaceAll(':', '').toLowerCase()
  return `${stem(name)}-${when}Z-${createHash('sha256').update(runId).digest('hex').slice(0, 8)}.${format}`
}

export const mediaTypes: Readonly<Record<ReportFormat, string>> = {
  csv: 'text/csv; charset=utf-8',
  pdf: 'application/pdf',
}

/** Whether a file goes with a mail: base64 makes four bytes of three, and lines of 76 end by two more. */
export const fitsMail = (bytes: number): boolean =>
  Math.ceil((bytes / 3) * 4 * (78 / 76)) <= reportLimits.attachmentBytes

export const megabytes = (bytes: number): string =>
  bytes < 1024 * 1024 ? `${Math.ceil(bytes / 1024)} kB` : `${(bytes / (1024 * 1024)).toFixed(1)} MB`
