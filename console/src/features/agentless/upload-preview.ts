import type { ResponseOf, uploadConnections } from '@portcullis/contract'
import { strings } from './strings.ts'

export type UploadReport = ResponseOf<typeof uploadConnections>
export type UploadLine = UploadReport['lines'][number]

/** Lines as a person wants them: those in error first, also when they stand beyond the lines that are listed. */
export const previewLines = ({ errors, lines }: UploadReport): UploadLine[] => {
  const byLine = new Map(lines.map((line) => [line.line, line]))
  return [
    ...errors.map(({ line, message }) => ({
      line,
      message,
      computerName: byLine.get(line)?.computerName ?? '',
      outcome: 'failed' as const,
    })),
    ...lines.filter(({ outcome }) => outcome !== 'failed'),
  ]
}

const lines = (n: number) => `${n.toLocaleString('en')} ${n === 1 ? 'line' : 'lines'}`

/** What a file would do, or did. */
export const uploadText = ({ added, updated, failed }: UploadReport, isDone: boolean): string => {
  const does = isDone ? 'added' : 'to add'
  const changes = isDone ? 'changed' : 'to change'
  return `${added.toLocaleString('en')} ${does}, ${updated.toLocaleString('en')} ${changes}${failed === 0 ? '' : strings.failedInError({ failed: lines(failed) })}`
}
