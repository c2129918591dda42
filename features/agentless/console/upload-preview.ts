import type { ResponseOf, uploadConnections } from '#features/contract.ts'
import { strings } from './strings.ts'

export type UploadReport = ResponseOf<typeof uploadConnections>
export type UploadLine = UploadReport['lines'][number]

/** Returns the lines of a preview: errors first, including those beyond the listed lines. */
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

/** Returns the preview or the result of an upload. */
export const uploadText = ({ added, updated, failed }: UploadReport, isDone: boolean): string => {
  if (failed === 0) return (isDone ? strings.uploadDone : strings.uploadPlan)({ added, updated })
  return (isDone ? strings.uploadDoneFailed : strings.uploadPlanFailed)({ added, updated, failed })
}
