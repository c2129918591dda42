import type { QuarantineState } from '@portcullis/contract'
import { SeverityTag } from '../SeverityTag.tsx'
import { quarantineWords } from './labels.ts'

/** State of a quarantine in words. */
export const State = ({ state }: { state: QuarantineState }) => {
  const { word, severity } = quarantineWords[state]
  return severity === null ? <span>{word}</span> : <SeverityTag severity={severity} word={word} />
}
