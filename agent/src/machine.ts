import { knownMachineHash } from '@portcullis/domain'

/** Hashes that identify the machine. Null if the system does not provide one. */
export interface Machine {
  /** Created when the system was installed. A copy of the disk keeps it unless it is reset. Null if it changes at each start. */
  machineIdHash: string | null
  /** UUID of the firmware, or the serial number of a board without one. Most hypervisors assign a new one to a copy. */
  smbiosHash: string | null
}

/**
 * Returns whether an identity was enrolled on another machine, such as the original of a copied disk: a hash that is
 * known on both sides differs. Earlier versions stored the hashes of placeholders, which identify no machine.
 */
export const isOtherMachine = (enrolled: Machine | undefined, now: Machine): boolean =>
  (['machineIdHash', 'smbiosHash'] as const).some((hash) => {
    const known = knownMachineHash(enrolled?.[hash] ?? null)
    return known !== null && now[hash] !== null && known !== now[hash]
  })

/** Returns the hashes to store: those of the enrolment, completed with hashes that were unknown then. */
export const completeMachine = (enrolled: Machine | undefined, now: Machine): Machine => ({
  machineIdHash: knownMachineHash(enrolled?.machineIdHash ?? null) ?? now.machineIdHash,
  smbiosHash: knownMachineHash(enrolled?.smbiosHash ?? null) ?? now.smbiosHash,
})
