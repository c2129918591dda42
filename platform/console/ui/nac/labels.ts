import type { Quarantine, QuarantineState } from '@portcullis/contract'
import type { Severity } from '../theme/tokens.ts'
import { strings } from './strings.ts'

/** Labels of the states; states without a severity are final. */
export const quarantineLabels: Readonly<Record<QuarantineState, { word: string; severity: Severity | null }>> = {
  waiting: { word: strings.awaitingApproval, severity: 'amber' },
  wanted: { word: strings.wanted, severity: 'neutral' },
  applying: { word: strings.applying, severity: 'neutral' },
  applied: { word: strings.applied, severity: 'neutral' },
  verified: { word: strings.verified, severity: 'red' },
  clearing: { word: strings.clearing, severity: 'neutral' },
  cleared: { word: strings.cleared, severity: null },
  failed: { word: strings.failed, severity: 'amber' },
  dismissed: { word: strings.isDismissed, severity: null },
}

/** Key of a quarantine in addresses. It contains the host, because the list has a filter by host but not by id. */
export const quarantineKey = ({ uuid, id }: Pick<Quarantine, 'uuid' | 'id'>): string => `${uuid}~${id}`

export const quarantineAddress = (quarantine: Pick<Quarantine, 'uuid' | 'id'>): string =>
  `/quarantines?open=${encodeURIComponent(quarantineKey(quarantine))}`
