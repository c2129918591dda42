import { pilotHosts, pilotRevertMinutes } from '@portcullis/contract/revert.ts'

/** Returns the minutes after which newly armed hosts become Free without contact. `armed` includes the hosts of the order. */
export const revertMinutesOf = (asked: number | null | undefined, armed: number): number =>
  asked ?? (armed <= pilotHosts ? pilotRevertMinutes : 0)

/** Returns the addition to the name of an arming order; empty if the hosts stay armed. */
export const revertText = (minutes: number): string =>
  minutes === 0 ? '' : ` (Free again without contact for ${minutes} ${minutes === 1 ? 'minute' : 'minutes'})`
