import type { QuarantineState } from '@portcullis/contract'
import { SeverityTag } from '../SeverityTag.tsx'
import { quarantineLabels } from './labels.ts'

/** The state of a quarantine. */
export const State = ({ state }: { state: QuarantineState }) => {
  const { word, severity } = quarantineLabels[state]
  return severity === null ? <span>{word}</span> : <SeverityTag severity={severity} word={word} />
}
