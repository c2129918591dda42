import { cleanText } from '@portcullis/domain'
import type { AgentConfig } from './config.ts'
import { createKernel } from './enforcement/kernel.ts'
import { createMemoryFile } from './enforcement/memory.ts'
import { createPolicyFile } from './enforcement/policy-file.ts'
import { cannotStart, messageOf } from './exit.ts'
import { holderOf } from './lock.ts'
import { createState, type Identity } from './state.ts'

type Lines = Array<[name: string, value: string]>

/** How the host stands to its policy; nothing on a host that was never armed. */
const enforcementLines = ({ stateDir, sysfsRoot }: StatusWhere, identity: Identity | undefined): Lines => {
  const { grade, reason } = createKernel({ sysfsRoot }).grade()
  const lines: Lines = [['grade', reason === '' ? grade : `${grade} (${reason})`]]
  const memory = createMemoryFile(stateDir).load()
  if (memory === undefined) return lines
  if (memory === 'damaged') return [...lines, ['mode', 'unknown: enforcement.json is damaged']]
  lines.push(['mode', memory.reason === '' ? memory.mode : `${memory.mode} (${memory.reason})`])
  const held = identity && createPolicyFile({ stateDir, ...identity }).load()
  if (held !== undefined)
    lines.push(['policy', 'refused' in held ? `not used: ${held.refused}` : `version ${held.policy.version}`])
  if (memory.mode === 'Free') return lines
  if (memory.contactBy !== null)
    lines.push(['contact', `due by ${new Date(memory.contactBy).toISOString()}, else the host frees itself`])
  lines.push(['blocked', String(memory.blocked.length)])
  for (const { caseNumber, name, portPath, since, reason: why } of memory.blocked)
    lines.push(['', `${caseNumber}  ${name} at port ${portPath}, ${since}: ${why}`])
  const contact = held === undefined || 'refused' in held ? '' : cleanText(held.policy.contact, 200)
  if (memory.blocked.length > 0)
    lines.push(['ask', contact === '' ? 'your administrator, by the number' : `${contact}, by the number`])
  return lines
}

type StatusWhere = Pick<AgentConfig, 'stateDir' | 'sysfsRoot'>

/**
 * The state of the agent of a state directory, as lines for a person. Changes nothing; the agent may run meanwhile.
 *
 * @throws AgentExit(1) when the directory can not be read
 */
export const statusText = (where: StatusWhere): string => {
  const { stateDir } = where
  try {
    const state = createState(stateDir)
    const identity = state.identity()
    const status = state.status()
    const pid = holderOf(stateDir)
    const lines: Lines = [
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
    lines.push(...enforcementLines(where, identity))
    const width = Math.max(...lines.map(([name]) => name.length))
    return lines.map(([name, value]) => `${name.padEnd(width)}  ${value}\n`).join('')
  } catch (error) {
    throw cannotStart(messageOf(error))
  }
}
