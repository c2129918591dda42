/** Returns the time of this machine for files that commands write and sign. */
export const now = (): Date => new Date()
