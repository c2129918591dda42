import { reportLimits, reportLists } from '#features/contract.ts'
import type { MailContent } from '#features/deliveries/server/mail/index.ts'
import { utcText } from './exports/index.ts'
import { attachmentName, fitsMail, megabytes } from './report-file.ts'
import { formOf, type RunRow } from './reports.store.ts'

const rowsText = (run: RunRow, description: string): string => {
  const list = reportLists[run.definition.list].title
  const count = `${run.rows.toLocaleString('en')} ${run.rows === 1 ? 'row' : 'rows'}`
  if (run.rows === 0) return `The list “${list}” had no rows for this report. ${description}.`
  return `This report contains ${count} of the list “${list}”. ${description}.`
}

const rangeText = ({ range_from: from, range_to: to }: RunRow): string[] => {
  if (to === null) return []
  return [
    from === null
      ? `It covers the time until ${utcText(to)}.`
      : `It covers the time from ${utcText(from)} until ${utcText(to)}.`,
  ]
}

/** Returns the name under which a mail carries the file of a run. */
export const attachmentOf = ({ name, due_at, definition }: RunRow): string =>
  attachmentName(name, due_at.getTime(), definition.cadence.timeZone, definition.format)

const fileText = (run: RunRow): string => {
  const { format } = run.definition
  const size = megabytes(run.bytes)
  if (!fitsMail(run.bytes))
    return `The file has ${size} and is too large to attach (over ${megabytes(reportLimits.attachmentBytes)} when encoded). Open the report in the console to download it.`
  const name = `The file ${attachmentOf(run)} (${size}) is attached.`
  if (format === 'pdf') return `${name} It is a PDF of A4 pages. All times are in UTC.`
  if (format === 'xlsx') return `${name} It is a workbook for spreadsheet programs. All times are in UTC.`
  if (formOf(run.definition) === 'fixed') return `${name} It has the form for programs, with the names of the API.`
  return `${name} You can open it with a spreadsheet program. All times are in UTC.`
}

/** Returns the mail of a run. `description` says which rows it has; `base` is the address of the console. */
export const reportMail = (run: RunRow, description: string, base: string): MailContent => ({
  subject: `Report: ${run.name}`,
  heading: run.name,
  paragraphs: [
    rowsText(run, description),
    ...rangeText(run),
    ...(run.note === '' ? [] : [run.note]),
    fileText(run),
    `You receive this email because your address is a recipient of this report. To stop it, ask ${run.owner_name}.`,
  ],
  link: { text: 'Open in the console', url: `${base}/reports/history?run=${run.run_id}` },
})
