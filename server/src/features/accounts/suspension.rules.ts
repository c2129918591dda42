/** How long one Administrator suspends another's credentials. */
export const suspensionMs = 24 * 3_600_000

/** Whether the account's credentials are refused at this time. */
export const isSuspended = ({ suspended_until: until }: { suspended_until: Date | null }, nowMs: number): boolean =>
  until !== null && until.getTime() > nowMs
