import { cannotStart, messageOf } from './exit.ts'
import { holderOf } from './lock.ts'
import { createState } from './state.ts'

/**
 * The state of the agent of a state directory, as lines for a person. Reads only; the agent may run meanwhile.
 *
 * @throws AgentExit(1) when the directory can not be read
 */
export const statusText = (stateDir: string): string => {
  try {
    const state = createState(stateDir)
    const identity = state.identity()
    const status = state.status()
    const pid = holderOf(stateDir)
    const lines: Array<[string, string]> = [
      ['agent', pid === undefined ? 'not running' : `running (process ${pid})`],
      ['identity', identity === undefined ? 'not enrolled' : `${identity.agentId}, enrolled ${identity.enrolledAt}`],
    ]
    if (identity) lines.push(['server', identity.server])
    if (identity) lines.push(['CA', state.pinnedCa() === undefined ? 'those of the system' : 'pinned at enrolment'])
    if (identity?.revoked) lines.push(['revoked', `${identity.revoked.code}, ${identity.revoked.at}`])
    if (status) {
      lines.push(['state', `${status.state} (${status.updatedAt})`])
      lines.push(['last check-in', status.lastCheckInAt ?? 'none since the start'])
      lines.push(['devices', String(status.devices)])
      lines.push(['changes waiting', String(status.spooledChanges)])
      if (status.lastProblem) lines.push(['last problem', status.lastProblem])
    }
    const width = Math.max(...lines.map(([name]) => name.length))
    return lines.map(([name, value]) => `${name.padEnd(width)}  ${value}\n`).join('')
  } catch (error) {
    throw cannotStart(messageOf(error))
  }
}
