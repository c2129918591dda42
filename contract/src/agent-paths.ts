/** Paths, headers and error reactions of the agent protocol. Separate from the schemas, so that agents do not load them. */

/** Version of the protocol. It is part of the paths. */
export const AGENT_PROTOCOL_VERSION = 1

/** Paths of the protocol. Calls are POST with a JSON body unless noted otherwise. */
export const agentPaths = {
  enrol: '/agent/v1/enrol',
  session: '/agent/v1/session',
  checkIn: '/agent/v1/check-in',
  /** WebSocket. The server sends only the text `check-in`. */
  wake: '/agent/v1/wake',
  /** Returns the signed policy of the agent. */
  policy: '/agent/v1/policy',
  /** GET with the SHA-256 (hex) as the last segment. Returns the knowledge that a policy names, as JSON of `AgentKnowledge`. */
  knowledge: '/agent/v1/knowledge',
  /** GET with the SHA-256 (hex) as the last segment. Returns the executable of a published agent build. */
  packages: '/agent/v1/packages',
  /** POST with the ID of the command as the last segment. Takes the debug logs as gzip (`application/gzip`). */
  debugLogs: '/agent/v1/debug-logs',
} as const

/** Header of `session`: SHA-256 (hex) of the SPKI DER of the agent's command key. Agents that cannot rotate keys omit it. */
export const commandKeyHeader = 'portcullis-command-key'

/**
 * Header of `checkIn`: milliseconds since the check-in was formed, including suspension. A repeated check-in has the same
 * body, so the body cannot tell how old it is.
 */
export const checkInAgeHeader = 'portcullis-age'

/** Reactions of an agent to refusals, by error code. The agent retries all other refusals with back-off. */
export const agentProblemActions = {
  agent_session_expired: 'open a new session, then repeat',
  agent_session_superseded: 'open a new session, then repeat',
  agent_revoked:
    'with a signed revocation of this agent: free the host, stop with exit code 3, and never enrol again automatically; without one: as for agent_unknown',
  agent_unknown: 'log it, keep enforcing, retry slowly; enrolling again requires a new token',
  enrolment_refused: 'log it, stop with exit code 2',
  agent_report_invalid: 'drop the report, log it, send the full inventory next',
} as const
