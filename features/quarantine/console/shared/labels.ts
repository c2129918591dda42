import type { Severity } from '@portcullis/platform/console/ui/theme/tokens.ts'
import type { Quarantine, QuarantineState } from '#features/contract.ts'

/** Severities of the states; states without one are final. */
export const quarantineSeverities: Readonly<Record<QuarantineState, Severity | null>> = {
  waiting: 'amber',
  wanted: 'neutral',
  applying: 'neutral',
  applied: 'neutral',
  verified: 'red',
  clearing: 'neutral',
  cleared: null,
  failed: 'amber',
  dismissed: null,
}

/** Key of a quarantine in addresses. It contains the host, because the list has a filter by host but not by id. */
export const quarantineKey = ({ uuid, id }: Pick<Quarantine, 'uuid' | 'id'>): string => `${uuid}~${id}`

export const quarantineAddress = (quarantine: Pick<Quarantine, 'uuid' | 'id'>): string =>
  `/quarantines?open=${encodeURIComponent(quarantineKey(quarantine))}`
