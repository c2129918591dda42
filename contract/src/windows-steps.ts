/** The steps of the Windows verification. Separate from the schemas, so that agents do not load them. */

/** Number of Windows hosts of one build that can be armed before a verification of this build is imported. */
export const windowsHostsUnverified = 5

/**
 * The twenty steps of the verification, in order. Each checks an assumption about Windows that only a real host can
 * confirm. `docs/guide/windows-verification.md` describes how to perform each step.
 */
export const windowsSteps = [
  { id: 'edition', title: 'The edition and build support layered restrictions and instance IDs' },
  { id: 'image-path', title: 'The path of the service is quoted' },
  { id: 'service-recovery', title: 'Windows restarts the service after a crash' },
  { id: 'state-acl', title: 'Only SYSTEM and Administrators can open the state directory' },
  { id: 'arrival', title: 'A new device appears in the console within a second' },
  { id: 'arrival-without-driver', title: 'A device without a driver is reported too' },
  { id: 'hub-descriptors', title: 'The hub returns the descriptors of each device' },
  { id: 'hub-descriptors-without-driver', title: 'The hub returns the descriptors of a device without a driver' },
  { id: 'keyboard-ids', title: 'Each keyboard has the hardware ID of a keyboard' },
  { id: 'denied-not-installed', title: 'A denied device gets no driver, and the user sees a message' },
  { id: 'denied-without-agent', title: 'A denied device gets no driver while the agent is stopped' },
  { id: 'denied-after-restart', title: 'A denied device gets no driver after a restart' },
  { id: 'policy-without-restart', title: 'Restrictions apply without a restart' },
  { id: 'install-after-allow', title: 'A device that is allowed later is installed without unplugging it' },
  { id: 'composite-children', title: 'The functions of an allowed composite device are installed' },
  { id: 'hubs-and-docks', title: 'Hubs and docks keep working' },
  { id: 'uninstall-devices', title: 'Disallowed devices are removed, including those that are not present' },
  { id: 'disable-read-back', title: 'A device that cannot be disabled is reported, and the last keyboard is kept' },
  { id: 'restore-values', title: 'Freeing the host restores the previous values' },
  { id: 'uninstall-leftovers', title: 'Uninstalling after an upgrade leaves nothing' },
] as const satisfies readonly { id: string; title: string }[]

export type WindowsStepId = (typeof windowsSteps)[number]['id']

/** Results of a step. A person must confirm each step that the program did not perform. */
export const windowsStepResults = ['passed', 'failed', 'not-performed'] as const
export type WindowsStepResult = (typeof windowsStepResults)[number]
