import type { Quarantine, QuarantineState } from '@portcullis/contract'
import type { Severity } from '../theme/tokens.ts'
import { strings } from './strings.ts'

/** States as a person would call them; without a severity it is over. */
export const quarantineWords: Readonly<Record<QuarantineState, { word: string; severity: Severity | null }>> = {
  waiting: { word: strings.waitsForAPerson, severity: 'amber' },
  wanted: { word: strings.aboutToBeAskedFor, severity: 'neutral' },
  applying: { word: strings.beingAskedFor, severity: 'neutral' },
  applied: { word: strings.takenNotReadBackYet, severity: 'neutral' },
  verified: { word: strings.inForce, severity: 'red' },
  clearing: { word: strings.beingTakenBack, severity: 'neutral' },
  cleared: { word: strings.takenBack, severity: null },
  failed: { word: strings.failed, severity: 'amber' },
  dismissed: { word: strings.dismissed, severity: null },
}

/** Name of a quarantine in an address: the list is asked by host, and holds no filter by id. */
export const quarantineKey = ({ uuid, id }: Pick<Quarantine, 'uuid' | 'id'>): string => `${uuid}~${id}`

export const quarantineAddress = (quarantine: Pick<Quarantine, 'uuid' | 'id'>): string =>
  `/quarantines?open=${encodeURIComponent(quarantineKey(quarantine))}`
