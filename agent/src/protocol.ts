import { randomBytes } from 'node:crypto'
import {
  agentPaths,
  type CheckInResponse,
  type EnrolRequest,
  type EnrolResponse,
  enrolProofText,
  type SessionResponse,
  sessionProofText,
} from '@portcullis/contract/agent-protocol'
import type { Clock } from './clock.ts'
import { cutText } from './collectors/text.ts'
import type { AgentKey } from './keys.ts'
import type { Answer, Transport } from './transport/http.ts'

/** The server answered, and the answer is no. What to do about it depends on `code` (SPEC.md, Refusals). */
export class Refusal extends Error {
  readonly status: number
  /** The problem's `code`; empty when the answer was no problem document. */
  readonly code: string
  readonly retryAfterMs: number | undefined
  constructor({ status, body, retryAfterMs }: Answer) {
    const problem = typeof body === 'object' && body !== null ? (body as Record<string, unknown>) : {}
    const code = typeof problem.code === 'string' ? problem.code : ''
    const detail = typeof problem.detail === 'string' ? problem.detail : 'no reason given'
    super(cutText(`${status} ${code}: ${detail}`, 500))
    this.name = 'Refusal'
    this.status = status
    this.code = code
    this.retryAfterMs = retryAfterMs
  }
}

/** The server answered 200 with something that is not the protocol's answer (a captive portal, a wrong address). */
class BadAnswer extends Error {}

/** Bounds of the interval that a server may name: neither a spin nor a sleep without end. */
const MIN_INTERVAL_SECONDS = 0.1
const MAX_INTERVAL_SECONDS = 86_400

const asObject = (answer: Answer): Record<string, unknown> => {
  if (answer.status !== 200) throw new Refusal(answer)
  if (typeof answer.body !== 'object' || answer.body === null) throw new BadAnswer('the answer is not a JSON object')
  return answer.body as Record<string, unknown>
}

const text = (value: unknown, name: string, max: number): string => {
  if (typeof value !== 'string' || value === '' || value.length > max)
    throw new BadAnswer(`the answer has no usable ${name}`)
  return value
}

const number = (value: unknown, name: string): number => {
  if (typeof value !== 'number' || !Number.isFinite(value)) throw new BadAnswer(`the answer has no usable ${name}`)
  return value
}

const commandsOf = (value: unknown): NonNullable<CheckInResponse['commands']> => {
  if (!Array.isArray(value)) return []
  return value.filter(
    (item): item is { payload: string; signature: string } =>
      typeof item === 'object' &&
      item !== null &&
      typeof item.payload === 'string' &&
      typeof item.signature === 'string',
  )
}

/** The agent's side of the three requests: forms proofs, checks answers, turns refusals into `Refusal`. */
export const createProtocol = ({ transport, key, clock }: { transport: Transport; key: AgentKey; clock: Clock }) => ({
  async enrol(
    request: Pick<EnrolRequest, 'token' | 'machineIdHash' | 'smbiosHash' | 'facts'>,
    signal: AbortSignal,
  ): Promise<Pick<EnrolResponse, 'agentId' | 'commandKey' | 'tookOver'>> {
    const body: EnrolRequest = {
      ...request,
      keyAlgorithm: 'Ed25519',
      publicKey: key.publicKey,
      proof: key.sign(enrolProofText(request.token, key.publicKey)),
    }
    const answer = asObject(await transport.post(agentPaths.enrol, JSON.stringify(body), undefined, signal))
    return {
      agentId: text(answer.agentId, 'agentId', 128),
      commandKey: text(answer.commandKey, 'commandKey', 512),
      tookOver: answer.tookOver === true,
    }
  },

  async session(
    agentId: string,
    bootId: string,
    signal: AbortSignal,
  ): Promise<Pick<SessionResponse, 'token' | 'expiresInSeconds' | 'nextSeq'>> {
    const proven = { agentId, bootId, timestamp: clock.now(), nonce: randomBytes(24).toString('base64url') }
    const body = JSON.stringify({ ...proven, signature: key.sign(sessionProofText(proven)) })
    const answer = asObject(await transport.post(agentPaths.session, body, undefined, signal))
    return {
      token: text(answer.token, 'token', 8192),
      expiresInSeconds: Math.max(1, number(answer.expiresInSeconds, 'expiresInSeconds')),
      nextSeq: number(answer.nextSeq, 'nextSeq'),
    }
  },

  /** `body` is the text of a `CheckInRequest`: a retry has to repeat it byte for byte. */
  async checkIn(body: string, token: string, signal: AbortSignal) {
    const answer = asObject(await transport.post(agentPaths.checkIn, body, token, signal))
    const seconds = number(answer.nextCheckInSeconds, 'nextCheckInSeconds')
    return {
      nextCheckInSeconds: Math.min(Math.max(seconds, MIN_INTERVAL_SECONDS), MAX_INTERVAL_SECONDS),
      needInventory: answer.needInventory === true,
      needFacts: answer.needFacts === true,
      commands: commandsOf(answer.commands),
    }
  },
})
export type Protocol = ReturnType<typeof createProtocol>
