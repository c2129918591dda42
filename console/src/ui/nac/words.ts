import type { Quarantine, QuarantineState } from '@portcullis/contract'
import type { Severity } from '../theme/tokens.ts'

/** States as a person would call them; without a severity it is over. */
export const quarantineWords: Readonly<Record<QuarantineState, { word: string; severity: Severity | null }>> = {
  waiting: { word: 'Waits for a person', severity: 'amber' },
  wanted: { word: 'About to be asked', severity: 'neutral' },
  applying: { word: 'Being asked', severity: 'neutral' },
  applied: { word: 'Not read back yet', severity: 'neutral' },
  verified: { word: 'Quarantined', severity: 'violet' },
  clearing: { word: 'Being taken back', severity: 'neutral' },
  cleared: { word: 'Cleared', severity: null },
  failed: { word: 'Failed', severity: 'red' },
  dismissed: { word: 'Dismissed', severity: null },
}

/** Name of a quarantine in an address: the list is asked by host, and holds no filter by id. */
export const quarantineKey = ({ uuid, id }: Pick<Quarantine, 'uuid' | 'id'>): string => `${uuid}~${id}`

export const quarantineAddress = (quarantine: Pick<Quarantine, 'uuid' | 'id'>): string =>
  `/quarantines?open=${encodeURIComponent(quarantineKey(quarantine))}`
