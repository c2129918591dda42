import type { EventOutput } from '@portcullis/contract'
import type { Severity } from '../../ui/theme/tokens.ts'
import { strings } from './strings.ts'

// A stream that works is behind by what was stored in the last moments; more than this it does not keep up.
const farBehind = 10_000

/** How a stream is, in a word; no severity: it needs nobody. */
export const streamState = ({
  failures,
  isPaused,
  behind,
}: Pick<EventOutput, 'failures' | 'isPaused' | 'behind'>): { severity: Severity | null; word: string } => {
  if (isPaused) return { severity: 'red', word: strings.failingFailuresTriesInARow({ failures }) }
  if (failures > 0) return { severity: 'amber', word: strings.failedTriedAgainSoon }
  if (behind > farBehind) return { severity: 'amber', word: strings.farBehind }
  return { severity: null, word: behind === 0 ? 'up to date' : 'sending' }
}
