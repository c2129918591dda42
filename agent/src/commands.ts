import type { AgentCommand, CheckInRequest, SignedText } from '@portcullis/contract/agent-protocol.ts'
import { cutText } from './collectors/text.ts'
import type { CommandKeys } from './command-keys.ts'
import { messageOf } from './exit.ts'
import type { HostTime } from './host-time.ts'
import type { Log } from './log.ts'
import { parseCommand } from './parse-command.ts'
import type { Reports } from './reports.ts'
import type { CommandMemory, CommandOutcome, PendingCommand } from './state.ts'

type Ack = NonNullable<CheckInRequest['acks']>[number]

type Memory = CommandMemory & { pending: PendingCommand[] }

export interface CommandsDeps {
  agentId: string
  keys: Pick<CommandKeys, 'verify' | 'verifyKept'>
  time: Pick<HostTime, 'now' | 'after' | 'stampOf'>
  log: Log
  reports: Pick<Reports, 'add'>
  memory: CommandMemory
  saveMemory: (memory: CommandMemory) => void
  /**
   * Executes a verified command. Resolves to `later` if the outcome follows through `settle`. Rejects with the reason of
   * a failure. A command may run again after a kill, so it must be idempotent.
   */
  execute: (command: AgentCommand, signal: AbortSignal) => Promise<'done' | 'later'>
  /** Returns whether an earlier start began this command and its outcome is still open. */
  isUnderWay: (commandId: string) => boolean
  /** Called when acknowledgements are waiting. */
  onDue: () => void
}

const MAX_PAYLOAD = 65_536
const REMEMBERED = 64
/** The protocol's limit per check-in. */
const MAX_ACKS = 64
const MAX_MESSAGE = 500

const lanes = ['host', 'transfer'] as const
type Lane = (typeof lanes)[number]
/** Large transfers have their own queue, so that a Free never waits for a download. */
const laneOf = (kind: string): Lane => (kind === 'update' || kind === 'collect-logs' ? 'transfer' : 'host')

/**
 * Verifies and executes commands one at a time (transfers in parallel to the others) and creates their acknowledgements.
 * A verified command is on disk before it is executed, and its outcome before it is acknowledged. The agent never
 * acknowledges a command that does not verify, because its id comes from an unknown writer.
 */
export const createCommands = (deps: CommandsDeps) => {
  const { agentId, keys, time, log, reports } = deps
  // Counters and pending commands of another identity do not apply.
  const isOurs = (deps.memory.agentId ?? agentId) === agentId
  let memory: Memory = { pending: [], ...(isOurs ? deps.memory : { counter: 0, recent: [] }), agentId }
  let due: Ack[] = []
  const running = new Map<Lane, Promise<void>>()
  const stop = new AbortController()
  /** Pending commands whose outcome follows through `settle`. */
  const later = new Set<string>()

  function save(change: Partial<Memory>): void {
    memory = { ...memory, ...change }
    deps.saveMemory(memory)
  }

  /** Returns the time now. A command also ends if the host clock was set back after the agent received it. */
  const timeFor = (received: PendingCommand['received']): number =>
    Math.max(time.now(), received === undefined ? Number.NEGATIVE_INFINITY : time.after(received))
  const isLate = ({ expiresAt }: { expiresAt: string }, received?: PendingCommand['received']): boolean =>
    !(Date.parse(expiresAt) > timeFor(received))

  /** Verifies a pending command again, because the file may have been changed since. */
  function isStillValid({ payload, signature }: SignedText): boolean {
    if (!keys.verifyKept(payload, signature)) return false
    const parsed = parseCommand(payload)
    if (parsed === undefined || parsed.agentId !== agentId || parsed.counter > memory.counter) return false
    return !memory.recent.some(({ id }) => id === parsed.id)
  }

  function acknowledge({ id, outcome, message }: CommandOutcome): void {
    if (!due.some((ack) => ack.commandId === id)) due.push({ commandId: id, outcome, message })
  }

  /** Stores the outcome durably before it becomes due. */
  function settle(outcome: CommandOutcome, change: Partial<Memory> = {}): void {
    const pending = memory.pending.filter(({ payload }) => parseCommand(payload)?.id !== outcome.id)
    save({ ...change, pending, recent: [...memory.recent, outcome].slice(-REMEMBERED) })
    // Stryker disable next-line CallExpression: It only frees memory, because the command is no longer pending.
    later.delete(outcome.id)
    log.info('command_finished', { id: outcome.id, outcome: outcome.outcome, message: outcome.message })
    acknowledge(outcome)
    deps.onDue()
  }

  const nextOf = (lane: Lane) =>
    memory.pending
      .flatMap(({ payload, received }) => {
        const parsed = parseCommand(payload)
        return parsed === undefined ? [] : [{ ...parsed, received }]
      })
      .find(({ id, kind }) => laneOf(kind) === lane && !later.has(id))

  async function run(lane: Lane): Promise<void> {
    for (;;) {
      const next = nextOf(lane)
      if (next === undefined || stop.signal.aborted) return
      log.info('command_started', { id: next.id, kind: next.kind })
      let outcome: CommandOutcome = { id: next.id, outcome: 'confirmed', message: '' }
      try {
        // An update that began reports its result even after its expiry.
        if (isLate(next, next.received) && !deps.isUnderWay(next.id))
          throw new Error('The command expired before the agent executed it.')
        if (next.command === undefined)
          throw new Error(
            `This agent version does not support the command ${next.kind.slice(0, 64)}. Update the agent.`,
          )
        if ((await deps.execute(next.command, stop.signal)) === 'later') {
          later.add(next.id)
          continue
        }
      } catch (error) {
        // A stop is not an outcome: the next start resumes the command.
        if (stop.signal.aborted) return
        outcome = { id: next.id, outcome: 'failed', message: cutText(messageOf(error), MAX_MESSAGE) }
      }
      settle(outcome)
    }
  }

  function start(): void {
    for (const lane of lanes) {
      if (running.has(lane) || nextOf(lane) === undefined) continue
      const work = run(lane)
        .catch((error: unknown) => reports.add('command_broke', messageOf(error)))
        .finally(() => running.delete(lane))
      running.set(lane, work)
    }
  }

  function receiveOne(signed: SignedText): string | undefined {
    if (signed.payload.length > MAX_PAYLOAD) return 'it is too long'
    if (!keys.verify(signed.payload, signed.signature)) return 'its signature does not verify'
    const parsed = parseCommand(signed.payload)
    if (parsed === undefined) return 'it is signed but not a valid command'
    if (parsed.agentId !== agentId) return 'it is for another agent'
    const known = memory.recent.find((outcome) => outcome.id === parsed.id)
    if (known !== undefined) {
      acknowledge(known)
      return undefined
    }
    if (memory.pending.some(({ payload }) => payload === signed.payload)) return undefined
    if (parsed.counter <= memory.counter)
      return `its counter ${parsed.counter} is not higher than the last one (${memory.counter})`
    const { counter } = parsed
    if (isLate(parsed))
      settle(
        { id: parsed.id, outcome: 'failed', message: 'The command expired before it reached the host.' },
        { counter },
      )
    else save({ counter, pending: [...memory.pending, { ...signed, received: time.stampOf(time.now()) }] })
    return undefined
  }

  return {
    /** Receives the commands of a response. */
    receive(commands: readonly SignedText[]): void {
      for (const signed of commands) {
        const refusal = receiveOne(signed)
        if (refusal !== undefined) reports.add('command_refused', `The agent refused a command: ${refusal}.`)
      }
      start()
    },
    /** Resumes the commands that an earlier run did not finish. Drops those that no longer verify or are for another agent. */
    resume(): void {
      const left = isOurs ? memory.pending : (deps.memory.pending ?? [])
      if (left.length === 0) return
      // A new stamp, because the time of this boot does not count in the next one.
      const pending = left
        .filter(isStillValid)
        .map((one) => ({ ...one, received: time.stampOf(timeFor(one.received)) }))
      if (pending.length < left.length) log.warn('pending_commands_dropped', { count: left.length - pending.length })
      save({ pending })
      start()
    },
    /** Records the outcome of a command whose `execute` returned `later`. */
    settle(id: string, failure: string | undefined): void {
      if (memory.recent.some((known) => known.id === id)) return
      settle({
        id,
        outcome: failure === undefined ? 'confirmed' : 'failed',
        message: cutText(failure ?? '', MAX_MESSAGE),
      })
    },
    /** Counter of the last verified command. */
    get counter(): number {
      return memory.counter
    },
    get hasDue(): boolean {
      return due.length > 0
    },
    /** Resolves when no command is running. */
    async idle(signal: AbortSignal): Promise<void> {
      while (running.size > 0 && !signal.aborted) await Promise.all(running.values())
    },
    /** Returns the due acknowledgements for a check-in and removes them. */
    takeAcks(): Ack[] {
      const taken = due.slice(0, MAX_ACKS)
      due = due.slice(MAX_ACKS)
      return taken
    },
    stop: (): void => stop.abort(),
  }
}
export type Commands = ReturnType<typeof createCommands>
