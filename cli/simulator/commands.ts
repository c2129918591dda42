/** Executes commands on a simulated host, without the checks of a real agent. */
import { randomBytes } from 'node:crypto'
import { gzipSync } from 'node:zlib'
import {
  type AgentCommand,
  agentPaths,
  type CheckInRequest,
  type DeviceReport,
  type EnforcementState,
  type PolicyPayload,
} from '@portcullis/contract/agent-protocol.ts'
import { createEvaluator } from './evaluator.ts'
import type { Inventory } from './inventory.ts'
import type { Answer } from './transport.ts'

type Ack = NonNullable<CheckInRequest['acks']>[number]

export interface CommandsDeps {
  inventory: Inventory
  clock: { now(): number }
  /** Sends a request with the session's token. Resolves with any answer of the server. */
  post(path: string, body: string | Buffer, contentType?: string): Promise<Answer>
  sleep(ms: number): Promise<void>
  /** Called when the host runs another agent version. */
  updated(version: string): void
}

/** Number of times a host sends its logs: the server takes a few at once and asks the others to wait. */
const uploads = 5
/** Number of remembered outcomes, for repeated commands. */
const remembered = 64
/** Returns the identity of a device at its port. */
const identityOf = (d: DeviceReport): string => `${d.portPath} ${d.serial ?? ''} ${d.descriptors}`

export const createCommands = ({ inventory, clock, post, sleep, updated }: CommandsDeps) => {
  const outcomes = new Map<string, Ack>()
  let lastCounter = 0
  let state: EnforcementState = { mode: 'Free', policyVersion: 0, reason: '' }
  let rules: PolicyPayload['rules'] = []
  let exempt = new Set<string>()
  let acks: Ack[] = []
  let isStateUnreported = false

  const evaluator = (): void =>
    inventory.enforce(
      state.mode === 'Free'
        ? null
        : createEvaluator(rules, state.policyVersion, (report) => exempt.has(identityOf(report)), clock.now()),
    )

  const fetchPolicy = async (): Promise<void> => {
    const nonce = randomBytes(24).toString('base64url')
    const answer = await post(agentPaths.policy, JSON.stringify({ nonce }))
    if (answer.status !== 200) throw new Error(`the server refused the policy request with status ${answer.status}`)
    const policy = JSON.parse(String(answer.body.payload)) as PolicyPayload
    rules = policy.rules
    state = { ...state, policyVersion: policy.version }
    isStateUnreported = true
  }

  const execute = async (command: AgentCommand): Promise<void> => {
    if (command.kind === 'configure') {
      if (command.mode === 'Armed') await fetchPolicy()
      exempt = new Set(command.mode === 'Armed' && !command.applyToPresent ? inventory.devices().map(identityOf) : [])
      state = { ...state, mode: command.mode, reason: '' }
      isStateUnreported = true
      evaluator()
    } else if (command.kind === 'policy') {
      await fetchPolicy()
      evaluator()
    } else if (command.kind === 'collect-logs') {
      const gzip = gzipSync(`simulated host, ${new Date(clock.now()).toISOString()}\n`)
      const upload = () => post(`${agentPaths.debugLogs}/${command.id}`, gzip, 'application/gzip')
      let answer = await upload()
      for (let left = uploads - 1; answer.status === 503 && left > 0; left--) {
        await sleep(answer.retryAfterMs * (1 + Math.random()))
        answer = await upload()
      }
      if (answer.status !== 200) throw new Error(`the server refused the logs with status ${answer.status}`)
    } else if (command.kind === 'update') updated(command.version)
  }

  /** Executes one command once. Does not check signatures, because a simulated host trusts its server. */
  const take = async (command: AgentCommand): Promise<Ack | null> => {
    const known = outcomes.get(command.id)
    if (known !== undefined) return known
    if (command.counter <= lastCounter) return null
    lastCounter = command.counter
    let ack: Ack = { commandId: command.id, outcome: 'confirmed', message: '' }
    try {
      if (Date.parse(command.expiresAt) <= clock.now()) throw new Error('the command has expired')
      await execute(command)
    } catch (error) {
      ack = { ...ack, outcome: 'failed', message: (error as Error).message.slice(0, 500) }
    }
    outcomes.set(command.id, ack)
    if (outcomes.size > remembered) outcomes.delete(outcomes.keys().next().value as string)
    return ack
  }

  return {
    /** Executes the commands of a response and fetches the policy if necessary. */
    handleAnswer: async (answer: Answer): Promise<void> => {
      if (answer.body.needPolicy === true && state.mode === 'Armed') {
        await fetchPolicy().catch(() => {})
        evaluator()
      }
      const given = Array.isArray(answer.body.commands) ? (answer.body.commands as { payload: string }[]) : []
      for (const { payload } of given) {
        const ack = await take(JSON.parse(payload) as AgentCommand)
        if (ack !== null) acks.push(ack)
      }
    },
    /** Returns whether the next check-in has acknowledgements or a new state. */
    hasReport: (): boolean => acks.length > 0 || isStateUnreported,
    /** Returns the acknowledgements and the state for the next check-in. `acknowledged` clears them. */
    report: (): Pick<CheckInRequest, 'acks' | 'enforcement'> => ({
      ...(acks.length > 0 ? { acks: acks.slice(0, 64) } : {}),
      ...(isStateUnreported ? { enforcement: state } : {}),
    }),
    acknowledged: (sent: Pick<CheckInRequest, 'acks' | 'enforcement'>): void => {
      acks = acks.filter((ack) => sent.acks?.includes(ack) !== true)
      if (sent.enforcement === state) isStateUnreported = false
    },
  }
}
