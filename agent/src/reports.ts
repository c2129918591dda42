import { agentLimits, type CheckInRequest } from '@portcullis/contract/agent-protocol.ts'
import type { Clock } from './clock.ts'
import { cutText } from './collectors/text.ts'
import type { Log } from './log.ts'

export type AgentError = NonNullable<CheckInRequest['errors']>[number]

/**
 * Collects errors of the agent for its next check-in and logs them at once. It keeps the newest 32, because the log has
 * all of them.
 */
export const createReports = ({ clock, log }: { clock: Clock; log: Log }) => {
  let pending: AgentError[] = []
  return {
    /** Reports an error with a short, stable `code` and a `message` for the operator. */
    add(code: string, message: string): void {
      log.warn(code, { message })
      pending.push({ at: clock.now(), code: cutText(code, 64), message: cutText(message, 500) })
      if (pending.length > agentLimits.errors) pending = pending.slice(-agentLimits.errors)
    },
    /** Returns the pending errors for a check-in and removes them. */
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
