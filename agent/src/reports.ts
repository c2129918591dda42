import { agentLimits, type CheckInRequest } from '@portcullis/contract/agent-protocol'
import type { Clock } from './clock.ts'
import { cutText } from './collectors/text.ts'
import type { Log } from './log.ts'

export type AgentError = NonNullable<CheckInRequest['errors']>[number]

/**
 * Errors of the agent itself, told to the server with the next check-in and to the local log at once.
 * Bounded: the newest 32 are kept, since the log has all of them.
 */
export const createReports = ({ clock, log }: { clock: Clock; log: Log }) => {
  let pending: AgentError[] = []
  return {
    /** Notes an error. `code` is short and stable, `message` for people. */
    add(code: string, message: string): void {
      log.warn(code, { message })
      pending.push({ at: clock.now(), code: cutText(code, 64), message: cutText(message, 500) })
      if (pending.length > agentLimits.errors) pending = pending.slice(-agentLimits.errors)
    },
    /** Hands the pending errors over to a check-in body. */
    take(): AgentError[] {
      const taken = pending
      pending = []
      return taken
    },
    get count(): number {
      return pending.length
    },
  }
}
export type Reports = ReturnType<typeof createReports>
