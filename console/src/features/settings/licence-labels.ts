import type { LicenceDetails } from '@portcullis/contract'
import type { Severity } from '../../ui/theme/tokens.ts'
import { strings } from './strings.ts'

/** How a licence stands, in words, and how much that matters. */
export const licenceWords: Readonly<
  Record<LicenceDetails['status'], { title: string; severity: Severity; means: string }>
> = {
  Community: {
    title: strings.community,
    severity: 'neutral',
    means: strings.noLicenceIsEnteredAndNothing,
  },
  Activated: { title: strings.activated, severity: 'neutral', means: strings.theLicenceIsInForce },
  Grace: {
    title: strings.overInItsGracePeriod,
    severity: 'amber',
    means: strings.nothingChangesYetEnterANew,
  },
  Expired: {
    title: strings.expired,
    severity: 'red',
    means: strings.hostsAreMarkedExpiredNothingStops,
  },
  Invalid: {
    title: strings.notAcceptedAnyMore,
    severity: 'red',
    means: strings.itIsStoredButNoKey,
  },
}

const dayWords = (days: number) => (days === 1 ? '1 day' : strings.daysDays({ days }))

/** When it ends, as a person counts. */
export const endWords = ({ expires, daysLeft }: Pick<LicenceDetails, 'expires' | 'daysLeft'>): string => {
  if (expires === null) return strings.itDoesNotEnd
  if (daysLeft === null) return `${expires} (UTC)`
  if (daysLeft < 0) return strings.expiresUtcValueAgo({ expires, value: dayWords(-daysLeft) })
  return daysLeft === 0
    ? strings.expiresUtcToday({ expires })
    : strings.expiresUtcInDaysleft({ expires, daysLeft: dayWords(daysLeft) })
}
