import type { Quarantine, QuarantineState } from '@portcullis/contract'
import type { Severity } from '../theme/tokens.ts'

/** States as a person would call them; without a severity it is over. */
export const quarantineWords: Readonly<Record<QuarantineState, { word: string; severity: Severity | null }>> = {
  waiting: { word: 'Waits for a person', severity: 'amber' },
  wanted: { word: 'About to be asked for', severity: 'neutral' },
  applying: { word: 'Being asked for', severity: 'neutral' },
  applied: { word: 'Taken, not read back yet', severity: 'neutral' },
  verified: { word: 'In force', severity: 'red' },
  clearing: { word: 'Being taken back', severity: 'neutral' },
  cleared: { word: 'Taken back', severity: null },
  failed: { word: 'Failed', severity: 'amber' },
  dismissed: { word: 'Dismissed', severity: null },
}

/** Name of a quarantine in an address: the list is asked by host, and holds no filter by id. */
export const quarantineKey = ({ uuid, id }: Pick<Quarantine, 'uuid' | 'id'>): string => `${uuid}~${id}`

export const quarantineAddress = (quarantine: Pick<Quarantine, 'uuid' | 'id'>): string =>
  `/quarantines?open=${encodeURIComponent(quarantineKey(quarantine))}`
