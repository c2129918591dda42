import type { Severity } from '@portcullis/platform/console/ui/theme/tokens.ts'
import type { LicenceDetails } from '#features/contract.ts'
import { strings } from './strings.ts'

/** Titles and explanations of the states of a licence. */
export const licenceLabels: Readonly<
  Record<LicenceDetails['status'], { title: string; severity: Severity; means: string }>
> = {
  Community: {
    title: strings.community,
    severity: 'neutral',
    means: strings.communityText,
  },
  Activated: { title: strings.activated, severity: 'neutral', means: strings.activatedText },
  Grace: {
    title: strings.grace,
    severity: 'amber',
    means: strings.graceText,
  },
  Expired: {
    title: strings.expired,
    severity: 'red',
    means: strings.expiredText,
  },
  Invalid: {
    title: strings.invalid,
    severity: 'red',
    means: strings.invalidText,
  },
}

/** Returns when a licence expires, in days. */
export const expiryText = ({ expires, daysLeft }: Pick<LicenceDetails, 'expires' | 'daysLeft'>): string => {
  if (expires === null) return strings.noExpiry
  if (daysLeft === null) return strings.utcDate({ date: expires })
  if (daysLeft < 0) return strings.expiredAgo({ date: expires, days: -daysLeft })
  return daysLeft === 0 ? strings.expiresToday({ date: expires }) : strings.expiresIn({ date: expires, days: daysLeft })
}
