/** Exit codes of the agent process. The systemd unit does not restart the agent after `revoked`. */
export const exitCodes = { ok: 0, cannotStart: 1, enrolmentRefused: 2, revoked: 3 } as const
export type ExitCode = (typeof exitCodes)[keyof typeof exitCodes]

/** Ends the agent with an exit code and a message for the operator. */
export class AgentExit extends Error {
  readonly code: ExitCode
  constructor(code: ExitCode, message: string) {
    super(message)
    this.name = 'AgentExit'
    this.code = code
  }
}

/** Returns an exit with code 1. The message says what to correct before the next start. */
export const cannotStart = (message: string): AgentExit => new AgentExit(exitCodes.cannotStart, message)

/** Returns the message of a thrown value. */
export const messageOf = (error: unknown): string => (error instanceof Error ? error.message : String(error))

/** Returns the `code` of a Node system error (`ENOENT`), or undefined. */
export const errnoOf = (error: unknown): string | undefined =>
  error instanceof Error && 'code' in error && typeof error.code === 'string' ? error.code : undefined
