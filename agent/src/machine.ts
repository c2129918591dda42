/** Hashes that identify the machine. Null if the system does not provide one. */
export interface Machine {
  /** Created when the system was installed. A copy of the disk keeps it unless it is reset. */
  machineIdHash: string | null
  /** UUID of the firmware. A hypervisor assigns a new one to a copy of a virtual machine. */
  smbiosHash: string | null
}

/**
 * Returns whether an identity was enrolled on another machine, such as the original of a copied virtual machine.
 * The firmware decides if it is known on both sides: some systems create a new machine ID at each start. Ignores hashes
 * that are unknown on one side.
 */
export const isOtherMachine = (enrolled: Machine | undefined, now: Machine): boolean => {
  if (enrolled === undefined) return false
  const hash = enrolled.smbiosHash !== null && now.smbiosHash !== null ? 'smbiosHash' : 'machineIdHash'
  return enrolled[hash] !== null && now[hash] !== null && enrolled[hash] !== now[hash]
}

/** Returns the hashes to store: those of the enrolment, completed with hashes that were unknown then. */
export const completeMachine = (enrolled: Machine | undefined, now: Machine): Machine => ({
  machineIdHash: enrolled?.machineIdHash ?? now.machineIdHash,
  smbiosHash: enrolled?.smbiosHash ?? now.smbiosHash,
})
