import type { AgentCommand, AgentCommandBodies } from '@portcullis/contract/agent-protocol.ts'
import type { Enforcer } from './enforcement/enforcer.ts'
import type { HeldPolicy } from './enforcement/policy-file.ts'
import type { ScannedDevice } from './platform/platform.ts'

export interface ExecuteDeps {
  enforcer: Enforcer
  /** Fetches, verifies and stores the policy. Rejects with the reason. */
  fetchPolicy: (signal: AbortSignal) => Promise<HeldPolicy>
  /** Returns the devices of the last scan. */
  scanned: () => ScannedDevice[]
  /** Uploads the logs for the command of this id. */
  sendLogs: (commandId: string, signal: AbortSignal) => Promise<void>
  /** Replaces this executable. The next version reports the outcome. */
  update: (commandId: string, build: AgentCommandBodies['update'], signal: AbortSignal) => Promise<void>
}

/** Creates the executor of verified commands. */
export const createExecute = ({ enforcer, fetchPolicy, scanned, sendLogs, update }: ExecuteDeps) => {
  async function configure(
    { mode, applyToPresent, revertMinutes }: AgentCommandBodies['configure'],
    signal: AbortSignal,
  ) {
    if (mode === 'Free') {
      const problems = enforcer.free('')
      if (problems.length > 0)
        throw new Error(`The host is free, but the system refused some changes: ${problems.join('; ')}`)
      return
    }
    const { grade, reason } = enforcer.grade()
    if (grade === 'observe') throw new Error(`This host cannot block devices. ${reason}`)
    enforcer.arm(await fetchPolicy(signal), applyToPresent, scanned(), revertMinutes)
  }

  return async (command: AgentCommand, signal: AbortSignal): Promise<'done' | 'later'> => {
    switch (command.kind) {
      case 'configure':
        await configure(command, signal)
        return 'done'
      case 'policy':
        enforcer.usePolicy(await fetchPolicy(signal))
        return 'done'
      case 'release-ports':
        enforcer.releasePorts(command.releases)
        return 'done'
      case 'collect-logs':
        await sendLogs(command.id, signal)
        return 'done'
      case 'update':
        await update(command.id, command, signal)
        return 'later'
    }
  }
}
