import type { AgentRevocation, CommandKeyRotation } from '@portcullis/contract/command-keys.ts'
import { type ErrorCode, errorTable } from './errors.ts'

/** One invalid field or line of a request. */
export interface FieldError {
  /** Where: `query.pageSize`, `body.items[3].uuid`, `line 7`. */
  field: string
  /** The fault and the expected value. */
  message: string
}

/** The body of every error response (RFC 9457). */
export interface Problem {
  type: string
  title: string
  status: number
  detail: string
  instance: string
  code: ErrorCode
  errors: FieldError[]
  traceId: string
  /** With `second_person_required`: the ID of the change request that waits for a second approver. */
  requestId?: string
  /** With `session_proof_old`: the nonce that the agent signs, within five minutes. */
  nonce?: string
  /** With `agent_revoked`: the signed statement that lets an agent free its host. */
  revocation?: AgentRevocation
  /** With `agent_revoked`: all rotations of the command key, oldest first, to verify the statement. */
  commandKeys?: CommandKeyRotation[]
}

/** Returns the detail text of a problem with its parameters inserted. */
export const problemDetail = (code: ErrorCode, params: Readonly<Record<string, string | number>>): string =>
  errorTable[code].detail.replace(/\{(\w+)\}/g, (whole, name: string) => String(params[name] ?? whole))
