/** What a simulated host does with commands: a real one's moves, without its checks. */
import { randomBytes } from 'node:crypto'
import { gzipSync } from 'node:zlib'
import {
  type AgentCommand,
  agentPaths,
  type CheckInRequest,
  type DeviceReport,
  type EnforcementState,
  type PolicyPayload,
} from '@portcullis/contract/agent-protocol'
import type { Inventory } from './inventory.ts'
import { createJudge } from './judge.ts'
import type { Answer } from './transport.ts'

type Ack = NonNullable<CheckInRequest['acks']>[number]

export interface CommandsDeps {
  inventory: Inventory
  clock: { now(): number }
  /** Sends with the session's token; resolves with whatever the server answers. */
  post(path: string, body: string | Buffer, contentType?: string): Promise<Answer>
  /** The host has another agent from now on. */
  updated(version: string): void
}

/** Outcomes that are remembered, so that a repeated command is answered alike. */
const remembered = 64
/** How a device is known again at its port. */
const placeOf = (d: DeviceReport): string => `${d.portPath} ${d.serial ?? ''} ${d.descriptors}`

export const createCommands = ({ inventory, clock, post, updated }: CommandsDeps) => {
  const outcomes = new Map<string, Ack>()
  let lastCounter = 0
  let state: EnforcementState = { mode: 'Free', policyVersion: 0, reason: '' }
  let rules: PolicyPayload['rules'] = []
  let spared = new Set<string>()
  let acks: Ack[] = []
  /** Something is to be told that is not said yet. */
  let isStateNew = false

  const judge = (): void =>
    inventory.enforce(
      state.mode === 'Free'
        ? null
        : createJudge(rules, state.policyVersion, (report) => spared.has(placeOf(report)), clock.now()),
    )

  const fetchPolicy = async (): Promise<void> => {
    const nonce = randomBytes(24).toString('base64url')
    const answer = await post(agentPaths.policy, JSON.stringify({ nonce }))
    if (answer.status !== 200) throw new Error(`the policy was refused with status ${answer.status}`)
    const policy = JSON.parse(String(answer.body.payload)) as PolicyPayload
    rules = policy.rules
    state = { ...state, policyVersion: policy.version }
    isStateNew = true
  }

  const carryOut = async (command: AgentCommand): Promise<void> => {
    if (command.kind === 'configure') {
      if (command.mode === 'Armed') await fetchPolicy()
      spared = new Set(command.mode === 'Armed' && !command.applyToPresent ? inventory.devices().map(placeOf) : [])
      state = { ...state, mode: command.mode, reason: '' }
      isStateNew = true
      judge()
    } else if (command.kind === 'policy') {
      await fetchPolicy()
      judge()
    } else if (command.kind === 'collect-logs') {
      const gzip = gzipSync(`simulated host, ${new Date(clock.now()).toISOString()}\n`)
      const answer = await post(`${agentPaths.debugLogs}/${command.id}`, gzip, 'application/gzip')
      if (answer.status !== 200) throw new Error(`the logs were refused with status ${answer.status}`)
    } else if (command.kind === 'update') updated(command.version)
  }

  /** One command, once. Signatures are the real agent's to check; this host trusts its server. */
  const take = async (command: AgentCommand): Promise<Ack | null> => {
    const known = outcomes.get(command.id)
    if (known !== undefined) return known
    if (command.counter <= lastCounter) return null
    lastCounter = command.counter
    let ack: Ack = { commandId: command.id, outcome: 'confirmed', message: '' }
    try {
      if (Date.parse(command.expiresAt) <= clock.now()) throw new Error('the command has expired')
      await carryOut(command)
    } catch (error) {
      ack = { ...ack, outcome: 'failed', message: (error as Error).message.slice(0, 500) }
    }
    outcomes.set(command.id, ack)
    if (outcomes.size > remembered) outcomes.delete(outcomes.keys().next().value as string)
    return ack
  }

  return {
    /** Does what the answer to a check-in asks for. */
    obey: async (answer: Answer): Promise<void> => {
      if (answer.body.needPolicy === true && state.mode === 'Armed') {
        await fetchPolicy().catch(() => {})
        judge()
      }
      const given = Array.isArray(answer.body.commands) ? (answer.body.commands as { payload: string }[]) : []
      for (const { payload } of given) {
        const ack = await take(JSON.parse(payload) as AgentCommand)
        if (ack !== null) acks.push(ack)
      }
    },
    /** True when the next check-in has something to tell. */
    hasNews: (): boolean => acks.length > 0 || isStateNew,
    /** What the next check-in tells; forgotten only when `told`. */
    news: (): Pick<CheckInRequest, 'acks' | 'enforcement'> => ({
      ...(acks.length > 0 ? { acks: acks.slice(0, 64) } : {}),
      ...(isStateNew ? { enforcement: state } : {}),
    }),
    told: (said: Pick<CheckInRequest, 'acks' | 'enforcement'>): void => {
      acks = acks.filter((ack) => said.acks?.includes(ack) !== true)
      if (said.enforcement === state) isStateNew = false
    },
  }
}
