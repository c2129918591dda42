/** Longest time in minutes after which an arming order may free a host without contact. */
export const maxRevertMinutes = 1_440
/** Highest number of armed hosts, including those of an order, at which the fleet counts as a pilot. */
export const pilotHosts = 25
/** Default of `revertMinutes` during a pilot. */
export const pilotRevertMinutes = 10
