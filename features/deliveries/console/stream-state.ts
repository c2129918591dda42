import type { Severity } from '@portcullis/platform/console/ui/theme/tokens.ts'
import type { EventOutput } from '#features/contract.ts'
import { strings } from './strings.ts'

// A working stream is behind by the events of the last moments; more than this means that it does not keep up.
const farBehind = 10_000

/** Returns the state of a stream; without a severity it needs no attention. */
export const streamState = ({
  failures,
  isPaused,
  behind,
}: Pick<EventOutput, 'failures' | 'isPaused' | 'behind'>): { severity: Severity | null; word: string } => {
  if (isPaused) return { severity: 'red', word: strings.failing({ count: failures }) }
  if (failures > 0) return { severity: 'amber', word: strings.retrying }
  if (behind > farBehind) return { severity: 'amber', word: strings.farBehind }
  return { severity: null, word: behind === 0 ? strings.streamUpToDate : strings.sending }
}
