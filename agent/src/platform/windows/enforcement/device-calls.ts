/**
 * The calls that change Plug and Play devices. Wine aborts the process on most of them, so tests use a stand-in
 * (`agent/test/windows-machine.ts`). The caller reads the devices back, because Windows reports success even if it
 * changes nothing.
 */

/** Result of a call as Windows returned it. */
export interface CallResult {
  /** 0 for success; otherwise a CONFIGRET (`CR_`) or, for an uninstallation, an error of winerror.h. */
  code: number
  /** Windows completes the change at its next restart. */
  needsRestart?: boolean
  /** Name of the driver, service or program that refused. */
  veto?: string
}

export interface DeviceCalls {
  /** Removes a device, attached or not, with the nodes below it (DiUninstallDevice). */
  uninstall(instanceId: string): CallResult
  /** Stops a device and keeps it stopped after a restart (CM_Disable_DevNode with CM_DISABLE_PERSIST). */
  disable(instanceId: string): CallResult
  /** Ends `disable` (CM_Enable_DevNode). */
  enable(instanceId: string): CallResult
  /** Retries to install and start a device that has no driver (CM_Setup_DevNode). */
  install(instanceId: string): CallResult
  /** Makes a hub report its devices again, including those that were uninstalled (CM_Reenumerate_DevNode). */
  rescan(instanceId: string): CallResult
  /** Cuts the connection of one port for a moment (IOCTL_USB_HUB_CYCLE_PORT). */
  cyclePort(hubInstanceId: string, port: number): CallResult
}

export const CR = {
  success: 0,
  noSuchDevnode: 0x0d,
  removeVetoed: 0x17,
  accessDenied: 0x33,
  needRestart: 0x22,
  notDisableable: 0x28,
} as const

/** Returns the result as text for reports. */
export const callText = ({ code, needsRestart, veto }: CallResult): string => {
  if (needsRestart === true || code === CR.needRestart) return 'Windows completes the change at the next restart'
  if (code === CR.removeVetoed)
    return `a program or driver refused${veto ? ` (${JSON.stringify(veto.slice(0, 100))})` : ''}`
  if (code === CR.notDisableable) return 'Windows does not allow this device to be disabled'
  return code === CR.success ? 'Windows reported success' : `Windows returned error ${code}`
}
