import type { LicenceDetails } from '@portcullis/contract'
import type { Severity } from '../../ui/theme/tokens.ts'

/** How a licence stands, in words, and how much that matters. */
export const licenceWords: Readonly<
  Record<LicenceDetails['status'], { title: string; severity: Severity; means: string }>
> = {
  Community: {
    title: 'Community',
    severity: 'neutral',
    means: 'No licence is entered, and nothing is limited.',
  },
  Activated: { title: 'Activated', severity: 'neutral', means: 'The licence is in force.' },
  Grace: {
    title: 'Over, in its grace period',
    severity: 'amber',
    means: 'Nothing changes yet. Enter a new one before the grace period ends.',
  },
  Expired: {
    title: 'Expired',
    severity: 'red',
    means: 'Hosts are marked Expired. Nothing stops working; enter a new one.',
  },
  Invalid: {
    title: 'Not accepted any more',
    severity: 'red',
    means:
      'It is stored, but no key this server trusts has signed it. Put the key of its issuer back, or enter the licence anew.',
  },
}

const dayWords = (days: number) => (days === 1 ? '1 day' : `${days.toLocaleString('en')} days`)

/** When it ends, as a person counts. */
export const endWords = ({ expires, daysLeft }: Pick<LicenceDetails, 'expires' | 'daysLeft'>): string => {
  if (expires === null) return 'It does not end'
  if (daysLeft === null) return `${expires} (UTC)`
  if (daysLeft < 0) return `${expires} (UTC), ${dayWords(-daysLeft)} ago`
  return daysLeft === 0 ? `${expires} (UTC), today` : `${expires} (UTC), in ${dayWords(daysLeft)}`
}
