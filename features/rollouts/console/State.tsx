import { SeverityTag } from '@portcullis/platform/console/ui/SeverityTag.tsx'
import type { RolloutState } from '#features/contract.ts'
import { stateLabels } from './rollout.ts'

/** The state of a rollout. `title` says why. */
export const State = ({ state, title }: { state: RolloutState; title?: string }) => {
  const { word, severity } = stateLabels[state]
  return severity === null ? (
    <span title={title}>{word}</span>
  ) : (
    <SeverityTag severity={severity} word={word} {...(title === undefined ? {} : { title })} />
  )
}
