/** Exit codes of the agent process; systemd is told not to restart on `revoked`. */
export const exitCodes = { ok: 0, cannotStart: 1, enrolmentRefused: 2, revoked: 3 } as const
export type ExitCode = (typeof exitCodes)[keyof typeof exitCodes]

/** Ends the agent with a code and one sentence for a person. */
export class AgentExit extends Error {
  readonly code: ExitCode
  constructor(code: ExitCode, message: string) {
    super(message)
    this.name = 'AgentExit'
    this.code = code
  }
}

/** Shorthand for the exit that says what to correct before the next start. */
export const cannotStart = (message: string): AgentExit => new AgentExit(exitCodes.cannotStart, message)

/** The text of whatever was thrown. */
export const messageOf = (error: unknown): string => (error instanceof Error ? error.message : String(error))

/** The `code` of a Node system error (`ENOENT`), or undefined. */
export const errnoOf = (error: unknown): string | undefined =>
  error instanceof Error && 'code' in error && typeof error.code === 'string' ? error.code : undefined
