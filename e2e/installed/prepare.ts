import type { DebianRoot } from '../../scripts/release/debian-root.ts'
import { START } from '../../scripts/release/packages-testing.ts'
import type { Debs } from './packages.ts'

/** Settings of an agent in a folder that has no /sys. */
const NO_DEVICES = `export PORTCULLIS_AGENT_SYSFS_ROOT=/packages/sys PORTCULLIS_AGENT_MONITOR_COMMAND=none
mkdir -p /packages/sys/bus/usb/devices
`

/** Runs a script in the system. Throws with its output if it fails. */
const runIn = (root: DebianRoot, script: string): string => {
  const { status, out, all } = root.run(script)
  if (status !== 0) throw new Error(`exit code ${status}\n${all}`)
  return out
}

/**
 * Installs server and agent, starts the server once as its unit does and enrols the agent with the command of its package.
 * An emulated processor would need minutes to create the database.
 */
export const installBoth = (root: DebianRoot, debs: Pick<Debs, 'server' | 'agent'>): void => {
  runIn(
    root,
    `dpkg -i ${root.add(debs.server)} ${root.add(debs.agent)}
${START}${NO_DEVICES}start
cli --json enrolment create-token --name machine >/packages/token.json
/usr/lib/portcullis/node/bin/node -p 'JSON.parse(fs.readFileSync("/packages/token.json", "utf8")).token' >/packages/token
portcullis-agent enrol --server http://127.0.0.1:8080 --token-file /packages/token
stop`,
  )
}
