import { AppError } from '@portcullis/platform/server/app-error.ts'

/** How long a suspension lasts. */
export const suspensionMs = 24 * 3_600_000

interface Suspendable {
  suspended_until: Date | null
}

/** Returns whether the account's credentials are refused at this time. */
export const isSuspended = ({ suspended_until: until }: Suspendable, nowMs: number): boolean =>
  until !== null && until.getTime() > nowMs

export const atText = (time: Date): string => `${time.toISOString().slice(0, 16).replace('T', ' ')} UTC`

/** Refuses a suspended account after a correct sign-in. */
export const assertNotSuspended = (row: Suspendable, nowMs: number): void => {
  if (isSuspended(row, nowMs)) throw new AppError('account_suspended', { until: atText(row.suspended_until as Date) })
}
