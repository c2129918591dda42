import { releaseKeyFingerprint } from '@portcullis/domain'
import { verifyKeptBy } from './command-keys.ts'
import { blockedLines, type Lines, linesText, readPublicStatus } from './enforcement/blocked-lines.ts'
import { createMemoryFile } from './enforcement/memory.ts'
import { createPolicyFile } from './enforcement/policy-file.ts'
import { cannotStart, errnoOf, messageOf } from './exit.ts'
import { holderOf } from './lock.ts'
import type { Platform, System } from './platform/platform.ts'
import { createState, type Identity } from './state.ts'
import { builtInReleaseKey, createReleaseKey } from './update/release-key.ts'

/** Returns the state of enforcement. A host that was never armed has only its grade. */
const enforcementLines = ({ stateDir, platform }: StatusDeps, identity: Identity | undefined): Lines => {
  const { grade, reason } = platform.gate.grade()
  const lines: Lines = [['grade', reason === '' ? grade : `${grade} (${reason})`]]
  const memory = createMemoryFile(stateDir).load()
  if (memory === undefined) return lines
  if (memory === 'damaged') return [...lines, ['mode', 'unknown: enforcement.json is damaged']]
  const held =
    identity &&
    createPolicyFile({
      stateDir,
      agentId: identity.agentId,
      keys: { verify: () => false, verifyKept: verifyKeptBy(identity) },
    }).load()
  if (held !== undefined)
    lines.push(['policy', 'refused' in held ? `refused: ${held.refused}` : `version ${held.policy.version}`])
  if (memory.mode === 'Armed' && memory.contactBy !== null)
    lines.push(['check-in', `required by ${new Date(memory.contactBy).toISOString()}, otherwise the host frees itself`])
  const contact = held === undefined || 'refused' in held ? '' : held.policy.contact
  return [...lines, ...blockedLines(memory, contact)]
}

export interface StatusDeps {
  stateDir: string
  system: Pick<System, 'processes'>
  platform: Pick<Platform, 'gate' | 'publicDir'>
}

/**
 * Returns the state of an agent as lines for the operator. Changes nothing, so the agent can run in the meantime. A user
 * without access to the state directory gets the public status.
 *
 * @throws AgentExit(1) if the directory cannot be read
 */
export const statusText = (deps: StatusDeps): string => {
  const { stateDir, system, platform } = deps
  try {
    const state = createState(stateDir)
    const identity = state.identity()
    const status = state.status()
    const pid = holderOf(stateDir, system.processes)
    const lines: Lines = [
      ['agent', pid === undefined ? 'not running' : `running (process ${pid})`],
      ['identity', identity === undefined ? 'not enrolled' : `${identity.agentId}, enrolled ${identity.enrolledAt}`],
    ]
    if (identity) lines.push(['server', identity.server])
    if (identity) lines.push(['CA', state.pinnedCa() === undefined ? 'trusted by the system' : 'pinned at enrolment'])
    if (identity?.revoked) lines.push(['revoked', `${identity.revoked.code}, ${identity.revoked.at}`])
    if (identity?.unknownSince)
      lines.push(['warning', `the server does not know this agent since ${identity.unknownSince}`])
    if (status) {
      lines.push(['state', `${status.state} (${status.updatedAt})`])
      lines.push(['last check-in', status.lastCheckInAt ?? 'none since the agent started'])
      lines.push(['devices', String(status.devices)])
      lines.push(['changes waiting', String(status.spooledChanges)])
      if (status.lastProblem) lines.push(['last problem', status.lastProblem])
    }
    const releaseKey = createReleaseKey({ builtIn: builtInReleaseKey(), stateDir }).known()
    lines.push([
      'release key',
      releaseKey === undefined ? 'missing: this agent installs no updates' : releaseKeyFingerprint(releaseKey),
    ])
    lines.push(...enforcementLines(deps, identity))
    return linesText(lines)
  } catch (error) {
    const shown = errnoOf(error) === 'EACCES' ? readPublicStatus(platform.publicDir) : undefined
    if (shown !== undefined) return shown
    throw cannotStart(messageOf(error))
  }
}
