import { translated } from '@portcullis/platform/console/lib/messages.ts'
import { SeverityTag } from '@portcullis/platform/console/ui/SeverityTag.tsx'
import { type QuarantineState, quarantineStateLabels } from '#features/contract.ts'
import { quarantineSeverities } from './labels.ts'

/** The state of a quarantine. */
export const State = ({ state }: { state: QuarantineState }) => {
  const word = translated(quarantineStateLabels[state])
  const severity = quarantineSeverities[state]
  return severity === null ? <span>{word}</span> : <SeverityTag severity={severity} word={word} />
}
