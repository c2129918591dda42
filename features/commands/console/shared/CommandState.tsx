import { translated } from '@portcullis/platform/console/lib/messages.ts'
import { SeverityTag } from '@portcullis/platform/console/ui/SeverityTag.tsx'
import type { Severity } from '@portcullis/platform/console/ui/theme/tokens.ts'
import { commandStateLabels, type CommandState as State } from '#features/contract.ts'

const severities: Readonly<Record<State, Severity | null>> = {
  queued: null,
  delivered: null,
  confirmed: null,
  failed: 'red',
  expired: 'amber',
  cancelled: 'neutral',
}

export const CommandState = ({ state }: { state: State }) => {
  const word = translated(commandStateLabels[state])
  const severity = severities[state]
  return severity === null ? <span>{word}</span> : <SeverityTag severity={severity} word={word} />
}
