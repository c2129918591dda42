/** The time of this machine. Files that commands write and sign carry it. */
export const now = (): Date => new Date()
