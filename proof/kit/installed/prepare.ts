import type { DebianRoot } from '../../../scripts/release/debian-root.ts'

/** Settings of an agent in a folder that has no /sys. */
export const NO_DEVICES = `export PORTCULLIS_AGENT_SYSFS_ROOT=/packages/sys PORTCULLIS_AGENT_MONITOR_COMMAND=none
mkdir -p /packages/sys/bus/usb/devices
`

/** Runs a script in the system. Throws with its output if it fails. */
export const runIn = (root: DebianRoot, script: string): string => {
  const { status, out, all } = root.run(script)
  if (status !== 0) throw new Error(`exit code ${status}\n${all}`)
  return out
}
