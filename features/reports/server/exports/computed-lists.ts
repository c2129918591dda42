import { Readable } from 'node:stream'
import type { Clock } from '@portcullis/platform/server/clock.ts'
import { csvCell, csvHead, defuse } from '@portcullis/platform/server/csv.ts'
import { type ExportForm, type FileList, type ReportListName, reportLists } from '#features/contract.ts'
import type { InsightsApi } from '#features/devices/server/insights/index.ts'
import { readableText } from './cell-text.ts'
import { csvColumns, type ExportColumn } from './exportable-list.ts'
import type { TimeRange } from './exports.read.ts'

type Row = Readonly<Record<string, unknown>>

/** A list whose rows this process computes: thousands, not millions. */
export interface ComputedList {
  definition: FileList
  rows(range: TimeRange | null): Promise<readonly Row[]>
}

/** Largest number of hosts in one file. */
const mostHosts = 100_000

const hostsOf = (row: { agents: readonly { hostIdentifier: string }[] }): string =>
  row.agents.map(({ hostIdentifier }) => hostIdentifier).join('; ')

/** Returns the insight lists by their name in a report. */
export const computedLists = (insights: InsightsApi, clock: Clock) => {
  const list = (name: ReportListName, rows: ComputedList['rows']): ComputedList => ({
    definition: reportLists[name],
    rows,
  })
  return {
    uncommon: list('uncommon', async () =>
      (await insights.uncommon.get()).data.map((row) => ({ ...row, hosts: hostsOf(row) })),
    ),
    vulnerable: list('vulnerable', async () =>
      (await insights.vulnerable.get()).data.map((row) => ({
        ...row,
        vulnerabilities: row.vulnerabilities.map(({ id }) => id).join('; '),
        hosts: hostsOf(row),
      })),
    ),
    spoofed: list('spoofed', async () =>
      (await insights.spoofed.get()).data.map((row) => ({
        ...row,
        evidence: row.evidence.join('; '),
        hosts: hostsOf(row),
      })),
    ),
    agentErrors: list('agentErrors', (range) =>
      insights.errorsBetween(range?.from ?? null, range?.to ?? new Date(clock.now() + 1), mostHosts),
    ),
  }
}

const plain = (value: unknown): string => (value === null || value === undefined ? '' : String(value))

const textOf = (row: Row, column: ExportColumn, form: ExportForm): string =>
  form === 'fixed' ? plain(row[column.key]) : readableText(column, plain(row[column.key]))

/** Formats rows as CSV, as `streamCsv` does. */
export const csvOf = (columns: readonly ExportColumn[], rows: readonly Row[], form: ExportForm): Readable =>
  Readable.from(
    (function* () {
      const formed = csvColumns(columns, form)
      yield Buffer.from(csvHead(formed.map(({ heading }) => heading)))
      for (const row of rows) {
        const texts = columns.map((column) => textOf(row, column, form))
        yield Buffer.from(
          `${texts.map((text, i) => csvCell(formed[i]?.isText === true ? defuse(text) : text)).join(',')}\r\n`,
        )
      }
    })(),
  )

const copied: Readonly<Record<string, string>> = { '\\': '\\\\', '\n': '\\n', '\r': '\\r', '\t': '\\t' }

/** Formats rows in the text form of COPY, from which PDFs are printed. */
export const copyRowsOf = (columns: readonly ExportColumn[], rows: readonly Row[]): Readable =>
  Readable.from(
    (function* () {
      for (const row of rows)
        yield Buffer.from(
          `${columns.map(({ key }) => plain(row[key]).replace(/[\\\n\r\t]/g, (char) => copied[char] as string)).join('\t')}\n`,
        )
    })(),
  )
