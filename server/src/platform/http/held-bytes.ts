import { AppError } from '../app-error.ts'

/** Bytes of bodies that are in memory while they come, of all callers together: nobody may fill it by many at once. */
export const createHeldBytes = (most: number) => {
  let held = 0
  return {
    /** Counts bytes that came; refused with a time to come back when there are too many. What was taken is given back. */
    take: (bytes: number): void => {
      held += bytes
      if (held > most) throw new AppError('unavailable', {}, { headers: { 'retry-after': '5' } })
    },
    give: (bytes: number): void => {
      held -= bytes
    },
  }
}
