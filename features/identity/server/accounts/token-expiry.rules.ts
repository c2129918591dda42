import { tokenDays, tokenNoticeDays } from '#features/contract.ts'

export const dayMs = 86_400_000

/** When a token expires if its creator sets no date. */
export const defaultExpiry = (now: Date): Date => new Date(now.getTime() + tokenDays * dayMs)

/** Returns the latest expiry date of a token: the same moment next year. */
export const latestExpiry = (now: Date): Date => {
  const latest = new Date(now)
  latest.setUTCFullYear(now.getUTCFullYear() + 1)
  return latest
}

/** Returns the expiry step that applies: 1 within 14 days, 2 within 3 days, 3 when expired, else 0. */
export const stepOf = (expiresAt: Date, now: number): 0 | 1 | 2 | 3 => {
  const left = expiresAt.getTime() - now
  if (left <= 0) return 3
  if (left <= tokenNoticeDays[1] * dayMs) return 2
  return left <= tokenNoticeDays[0] * dayMs ? 1 : 0
}
