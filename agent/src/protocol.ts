import { randomBytes } from 'node:crypto'
import {
  agentLimits,
  agentPaths,
  boundedProofPrefix,
  type CheckInResponse,
  checkInAgeHeader,
  commandKeyHeader,
  type EnrolRequest,
  type EnrolResponse,
  enrolProofText,
  type PolicyRequest,
  type SessionResponse,
  type SignedText,
  sessionProofText,
} from '@portcullis/contract/agent-protocol.ts'
import type { Clock } from './clock.ts'
import type { AgentKey } from './keys.ts'
import type { Transport } from './transport/http.ts'
import { type Answer, Refusal } from './transport/refusal.ts'

/** The server answered 200 with something other than a response of the protocol (captive portal, wrong address). */
class BadAnswer extends Error {}

/** Limits of the interval that a server may set. */
const MIN_INTERVAL_SECONDS = 0.1
const MAX_INTERVAL_SECONDS = 86_400

/** Upper bound in characters for 10,000 rules with all members. */
const MAX_POLICY = 10_000_000
/** The same text inside JSON, at three bytes per character. */
const MAX_POLICY_ANSWER_BYTES = 3 * MAX_POLICY

/** Eight times the size of the shipped knowledge, and twice the limit of the server. */
const MAX_KNOWLEDGE_BYTES = 16 * 1024 * 1024

const asObject = (answer: Answer): Record<string, unknown> => {
  if (answer.status !== 200) throw new Refusal(answer)
  if (typeof answer.body !== 'object' || answer.body === null)
    throw new BadAnswer('the response is not a JSON object; check the server address')
  return answer.body as Record<string, unknown>
}

const text = (value: unknown, name: string, max: number): string => {
  if (typeof value !== 'string' || value === '' || value.length > max)
    throw new BadAnswer(`the response has no usable ${name}`)
  return value
}

const number = (value: unknown, name: string): number => {
  if (typeof value !== 'number' || !Number.isFinite(value)) throw new BadAnswer(`the response has no usable ${name}`)
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

/** Returns the nonce that the server wants signed, because the clock of this host differs from its own; null: none. */
const challengeOf = (answer: Answer): string | null => {
  if (answer.status === 200) return null
  const { code, body } = new Refusal(answer)
  const nonce = code === 'session_proof_old' ? (body as { nonce?: unknown }).nonce : null
  return typeof nonce === 'string' && /^[A-Za-z0-9_-]{22,64}$/.test(nonce) ? nonce : null
}

/**
 * Returns the text of an enrolment, at most 16 KiB. A host with hundreds of addresses omits its last interfaces and sends
 * all of them with its first check-in.
 */
const enrolText = (body: EnrolRequest): string => {
  const text = JSON.stringify(body)
  const { nics } = body.facts
  return Buffer.byteLength(text) <= agentLimits.newcomerBytes || nics.length === 0
    ? text
    : enrolText({ ...body, facts: { ...body.facts, nics: nics.slice(0, -1) } })
}

/** Creates the client of the agent protocol. It signs proofs, checks answers and throws `Refusal` for refusals. */
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
    const answer = asObject(await transport.post(agentPaths.enrol, enrolText(body), undefined, signal))
    return {
      agentId: text(answer.agentId, 'agentId', 128),
      commandKey: text(answer.commandKey, 'commandKey', 512),
      tookOver: answer.tookOver === true,
    }
  },

  async session(
    agentId: string,
    bootId: string,
    commandKeyId: string,
    signal: AbortSignal,
  ): Promise<Pick<SessionResponse, 'token' | 'expiresInSeconds' | 'nextSeq'> & { commandKeys: unknown }> {
    // A header, because older servers refuse unknown members of the body.
    const headers = { [commandKeyHeader]: commandKeyId }
    const open = async (nonce: string): Promise<Answer> => {
      const proven = { agentId, bootId, timestamp: clock.now(), nonce }
      const body = JSON.stringify({ ...proven, signature: key.sign(sessionProofText(proven)) })
      return transport.post(agentPaths.session, body, undefined, signal, { headers })
    }
    const first = await open(`${boundedProofPrefix}${randomBytes(24).toString('base64url')}`)
    const challenge = challengeOf(first)
    const answer = asObject(challenge === null ? first : await open(challenge))
    return {
      token: text(answer.token, 'token', 8192),
      expiresInSeconds: Math.max(1, number(answer.expiresInSeconds, 'expiresInSeconds')),
      nextSeq: number(answer.nextSeq, 'nextSeq'),
      /** Not yet verified. */
      commandKeys: answer.commandKeys,
    }
  },

  /** Sends the text of a `CheckInRequest`. A retry must repeat it byte for byte. */
  async checkIn({ body, ageMs }: { body: string; ageMs(): number }, token: string, signal: AbortSignal) {
    const headers = { [checkInAgeHeader]: String(Math.max(0, Math.round(ageMs()))) }
    const answer = asObject(await transport.post(agentPaths.checkIn, body, token, signal, { headers }))
    const seconds = number(answer.nextCheckInSeconds, 'nextCheckInSeconds')
    return {
      nextCheckInSeconds: Math.min(Math.max(seconds, MIN_INTERVAL_SECONDS), MAX_INTERVAL_SECONDS),
      needInventory: answer.needInventory === true,
      needFacts: answer.needFacts === true,
      needPolicy: answer.needPolicy === true,
      commands: commandsOf(answer.commands),
    }
  },

  /** Fetches the policy of this agent, signed with `nonce`. The caller verifies it. */
  async policy(nonce: string, token: string, signal: AbortSignal): Promise<SignedText> {
    const request: PolicyRequest = { nonce, understands: ['options', 'accepted', 'identity'] }
    const bounds = { maxAnswerBytes: MAX_POLICY_ANSWER_BYTES, hasOwnConnection: true }
    const answer = asObject(await transport.post(agentPaths.policy, JSON.stringify(request), token, signal, bounds))
    return {
      payload: text(answer.payload, 'payload', MAX_POLICY),
      signature: text(answer.signature, 'signature', 512),
    }
  },

  /** Fetches the knowledge with this SHA-256. The caller verifies the hash. */
  async knowledge(hash: string, token: string, signal: AbortSignal): Promise<string> {
    const answer = await transport.get(`${agentPaths.knowledge}/${hash}`, token, signal, MAX_KNOWLEDGE_BYTES)
    if (answer.status !== 200) throw new Refusal(answer)
    return answer.text
  },

  /** Uploads a gzip of logs for the command that requested it. */
  async debugLogs(commandId: string, gzip: Buffer, token: string, signal: AbortSignal): Promise<void> {
    const path = `${agentPaths.debugLogs}/${encodeURIComponent(commandId)}`
    const answer = await transport.post(path, gzip, token, signal, {
      contentType: 'application/gzip',
      hasOwnConnection: true,
    })
    if (answer.status < 200 || answer.status > 299) throw new Refusal(answer)
  },
})
export type Protocol = ReturnType<typeof createProtocol>
