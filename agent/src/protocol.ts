import { randomBytes } from 'node:crypto'
import {
  agentLimits,
  agentPaths,
  type CheckInResponse,
  commandKeyHeader,
  type EnrolRequest,
  type EnrolResponse,
  enrolProofText,
  type PolicyRequest,
  type SessionResponse,
  type SignedText,
  sessionProofText,
} from '@portcullis/contract/agent-protocol'
import type { Clock } from './clock.ts'
import type { AgentKey } from './keys.ts'
import type { Transport } from './transport/http.ts'
import { type Answer, Refusal } from './transport/refusal.ts'

/** The server answered 200 with something that is not the protocol's answer (a captive portal, a wrong address). */
class BadAnswer extends Error {}

/** Bounds of the interval that a server may name: neither a spin nor a sleep without end. */
const MIN_INTERVAL_SECONDS = 0.1
const MAX_INTERVAL_SECONDS = 86_400

/** Of 10,000 rules with every member filled. */
const MAX_POLICY = 10_000_000
/** The same as JSON text inside JSON, in a script of three bytes a character. */
const MAX_POLICY_ANSWER_BYTES = 3 * MAX_POLICY

/** Eight times what the knowledge delivered needs, and twice what a server takes. */
const MAX_KNOWLEDGE_BYTES = 16 * 1024 * 1024

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

/**
 * The text of an enrolment, at most 16 KiB. A host with hundreds of addresses omits its last interfaces; its first
 * check-in contains all of them.
 */
const enrolText = (body: EnrolRequest): string => {
  const text = JSON.stringify(body)
  const { nics } = body.facts
  return Buffer.byteLength(text) <= agentLimits.newcomerBytes || nics.length === 0
    ? text
    : enrolText({ ...body, facts: { ...body.facts, nics: nics.slice(0, -1) } })
}

/** The agent's side of the requests: forms proofs, checks answers, turns refusals into `Refusal`. */
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
    const proven = { agentId, bootId, timestamp: clock.now(), nonce: randomBytes(24).toString('base64url') }
    const body = JSON.stringify({ ...proven, signature: key.sign(sessionProofText(proven)) })
    // A header, because servers without rotations refuse unknown members of the body.
    const headers = { [commandKeyHeader]: commandKeyId }
    const answer = asObject(await transport.post(agentPaths.session, body, undefined, signal, { headers }))
    return {
      token: text(answer.token, 'token', 8192),
      expiresInSeconds: Math.max(1, number(answer.expiresInSeconds, 'expiresInSeconds')),
      nextSeq: number(answer.nextSeq, 'nextSeq'),
      /** Not yet verified. */
      commandKeys: answer.commandKeys,
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
      needPolicy: answer.needPolicy === true,
      commands: commandsOf(answer.commands),
    }
  },

  /** The policy of this agent as signed for `nonce`; not yet verified. */
  async policy(nonce: string, token: string, signal: AbortSignal): Promise<SignedText> {
    const request: PolicyRequest = { nonce, understands: ['options'] }
    const bounds = { maxAnswerBytes: MAX_POLICY_ANSWER_BYTES, isAside: true }
    const answer = asObject(await transport.post(agentPaths.policy, JSON.stringify(request), token, signal, bounds))
    return {
      payload: text(answer.payload, 'payload', MAX_POLICY),
      signature: text(answer.signature, 'signature', 512),
    }
  },

  /** The text with this SHA-256; not yet compared with it. */
  async knowledge(hash: string, token: string, signal: AbortSignal): Promise<string> {
    const answer = await transport.get(`${agentPaths.knowledge}/${hash}`, token, signal, MAX_KNOWLEDGE_BYTES)
    if (answer.status !== 200) throw new Refusal(answer)
    return answer.text
  },

  /** Hands a gzip of logs in for the command that asked for it. */
  async debugLogs(commandId: string, gzip: Buffer, token: string, signal: AbortSignal): Promise<void> {
    const path = `${agentPaths.debugLogs}/${encodeURIComponent(commandId)}`
    const answer = await transport.post(path, gzip, token, signal, { contentType: 'application/gzip', isAside: true })
    if (answer.status < 200 || answer.status > 299) throw new Refusal(answer)
  },
})
export type Protocol = ReturnType<typeof createProtocol>
