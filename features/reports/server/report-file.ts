import { createHash } from 'node:crypto'
import { wallOf } from '@portcullis/platform/server/wall-clock.ts'
import { type ReportFormat, reportFileTypes, reportLimits } from '#features/contract.ts'

/** Turns the name of a schedule into a part of a file name that every file system and mail program accepts. */
const stem = (name: string): string =>
  name
    .normalize('NFKD')
    .replace(/[^A-Za-z0-9]+/g, '-')
    .toLowerCase()
    .slice(0, 60)
    .replace(/^-|-$/g, '') || 'report'

/** Returns a name such as `new-devices-2031-05-04t063000Z-0a1b2c3d.csv`: sorted by time and unique per run. */
export const reportFileName = (name: string, runId: string, at: number, format: ReportFormat): string => {
  const when = new Date(at).toISOString().slice(0, 19).replaceAll(':', '').toLowerCase()
  return `${stem(name)}-${when}Z-${createHash('sha256').update(runId).digest('hex').slice(0, 8)}.${format}`
}

/** Returns the name of a file for people, such as `new-devices-2031-05-04.csv`, with the date in a time zone. */
export const attachmentName = (name: string, at: number, zone: string, format: ReportFormat): string =>
  `${stem(name)}-${new Date(wallOf(at, zone)).toISOString().slice(0, 10)}.${format}`

export const mediaTypes: Readonly<Record<ReportFormat, string>> = {
  ...reportFileTypes,
  csv: `${reportFileTypes.csv}; charset=utf-8`,
}

/** Returns whether a file fits into a mail: base64 turns three bytes into four and adds two per line of 76. */
export const fitsMail = (bytes: number): boolean =>
  Math.ceil((bytes / 3) * 4 * (78 / 76)) <= reportLimits.attachmentBytes

export const megabytes = (bytes: number): string =>
  bytes < 1024 * 1024 ? `${Math.ceil(bytes / 1024)} kB` : `${(bytes / (1024 * 1024)).toFixed(1)} MB`
