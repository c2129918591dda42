import type { AgentCommand, CheckInRequest, SignedText } from '@portcullis/contract/agent-protocol'
import type { Clock } from './clock.ts'
import { cutText } from './collectors/text.ts'
import type { CommandKeys } from './command-keys.ts'
import { messageOf } from './exit.ts'
import type { Log } from './log.ts'
import { parseCommand } from './parse-command.ts'
import type { Reports } from './reports.ts'
import type { CommandMemory, CommandOutcome } from './state.ts'

type Ack = NonNullable<CheckInRequest['acks']>[number]

export interface CommandsDeps {
  agentId: string
  keys: Pick<CommandKeys, 'verify' | 'verifyKept'>
  clock: Clock
  log: Log
  reports: Pick<Reports, 'add'>
  memory: CommandMemory
  saveMemory: (memory: CommandMemory) => void
  /**
   * Does what a verified command says. Resolves when it is done, to `later` when its outcome comes by another way;
   * rejects with the reason why it failed. A command may be executed again after a kill: it has to bear that.
   */
  execute: (command: AgentCommand, signal: AbortSignal) => Promise<'done' | 'later'>
  /** Whether an earlier start began with this command, and its outcome is still to come. */
  isUnderWay: (commandId: string) => boolean
  /** Acknowledgements are waiting. */
  onDue: () => void
}

const MAX_PAYLOAD = 65_536
const REMEMBERED = 64
/** The protocol's bound of one check-in. */
const MAX_ACKS = 64
const MAX_MESSAGE = 500

const lanes = ['host', 'transfer'] as const
type Lane = (typeof lanes)[number]
/** What moves many bytes has a queue of its own: a Free must not wait for a download. */
const laneOf = (kind: string): Lane => (kind === 'update' || kind === 'collect-logs' ? 'transfer' : 'host')

/**
 * Verifies commands, has them executed one after the other (transfers beside the others), and forms their acknowledgements. A verified command is on
 * disk before it is executed, its outcome before it is acknowledged. One that does not verify is never acknowledged,
 * because its id is an unknown writer's word.
 */
export const createCommands = (deps: CommandsDeps) => {
  const { agentId, keys, clock, log, reports } = deps
  // Another identity has counters of its own, and what was pending is another agent's.
  const isOurs = (deps.memory.agentId ?? agentId) === agentId
  let memory: CommandMemory = isOurs ? { ...deps.memory, agentId } : { agentId, counter: 0, recent: [] }
  let due: Ack[] = []
  const running = new Map<Lane, Promise<void>>()
  const stop = new AbortController()
  /** Pending commands whose outcome is somebody else's to tell. */
  const later = new Set<string>()

  function save(change: Partial<CommandMemory>): void {
    memory = { ...memory, ...change }
    deps.saveMemory(memory)
  }

  const isLate = ({ expiresAt }: { expiresAt: string }): boolean => !(Date.parse(expiresAt) > clock.now())

  /** What a start goes on with. The file is only as good as who can write it: all that was verified once is verified again. */
  function isStillGood({ payload, signature }: SignedText): boolean {
    if (!keys.verifyKept(payload, signature)) return false
    const parsed = parseCommand(payload)
    if (parsed === undefined || parsed.agentId !== agentId || parsed.counter > memory.counter) return false
    return !memory.recent.some(({ id }) => id === parsed.id)
  }

  function acknowledge({ id, outcome, message }: CommandOutcome): void {
    if (!due.some((ack) => ack.commandId === id)) due.push({ commandId: id, outcome, message })
  }

  /** Durable first, then due. */
  function settle(outcome: CommandOutcome, change: Partial<CommandMemory> = {}): void {
    const pending = (memory.pending ?? []).filter(({ payload }) => parseCommand(payload)?.id !== outcome.id)
    save({ ...change, pending, recent: [...memory.recent, outcome].slice(-REMEMBERED) })
    later.delete(outcome.id)
    log.info('command_answered', { id: outcome.id, outcome: outcome.outcome, message: outcome.message })
    acknowledge(outcome)
    deps.onDue()
  }

  const nextOf = (lane: Lane) =>
    (memory.pending ?? [])
      .flatMap(({ payload }) => parseCommand(payload) ?? [])
      .find(({ id, kind }) => laneOf(kind) === lane && !later.has(id))

  async function run(lane: Lane): Promise<void> {
    for (;;) {
      const next = nextOf(lane)
      if (next === undefined || stop.signal.aborted) return
      log.info('command_started', { id: next.id, kind: next.kind })
      let outcome: CommandOutcome = { id: next.id, outcome: 'confirmed', message: '' }
      try {
        if (next.command === undefined)
          throw new Error(`Not supported by this agent version: ${next.kind.slice(0, 64)}.`)
        if ((await deps.execute(next.command, stop.signal)) === 'later') {
          later.add(next.id)
          continue
        }
      } catch (error) {
        // A stop is no outcome: the next start goes on with it.
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
    if (signed.payload.length > MAX_PAYLOAD) return 'too long'
    if (!keys.verify(signed.payload, signed.signature)) return 'the signature does not verify'
    const parsed = parseCommand(signed.payload)
    if (parsed === undefined) return 'signed, but not a command'
    if (parsed.agentId !== agentId) return 'meant for another agent'
    const known = memory.recent.find((outcome) => outcome.id === parsed.id)
    if (known !== undefined) {
      acknowledge(known)
      return undefined
    }
    if ((memory.pending ?? []).some(({ payload }) => payload === signed.payload)) return undefined
    if (parsed.counter <= memory.counter) return `counter ${parsed.counter} was passed (${memory.counter})`
    const { counter } = parsed
    if (isLate(parsed))
      settle({ id: parsed.id, outcome: 'failed', message: 'Expired before it reached the host.' }, { counter })
    else save({ counter, pending: [...(memory.pending ?? []), signed] })
    return undefined
  }

  return {
    /** Takes the commands of an answer. */
    receive(commands: readonly SignedText[]): void {
      for (const signed of commands) {
        const refusal = receiveOne(signed)
        if (refusal !== undefined) reports.add('command_refused', `A command was refused: ${refusal}.`)
      }
      start()
    },
    /** Goes on with what an earlier run did not finish; what is not this agent's, or does not verify any more, is dropped. */
    resume(): void {
      const left = (isOurs ? memory : deps.memory).pending ?? []
      if (left.length === 0) return
      const pending = left.filter(isStillGood)
      if (pending.length < left.length) log.warn('pending_commands_dropped', { count: left.length - pending.length })
      save({ pending })
      for (const { payload } of pending) {
        const parsed = parseCommand(payload)
        // An update that began is answered by what became of it, however long the start took.
        if (parsed !== undefined && isLate(parsed) && !deps.isUnderWay(parsed.id))
          settle({ id: parsed.id, outcome: 'failed', message: 'Expired before it was executed.' })
      }
      start()
    },
    /** The outcome of a command that was put off. */
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
    /** Resolves when nothing is being executed. */
    async idle(signal: AbortSignal): Promise<void> {
      while (running.size > 0 && !signal.aborted) await Promise.all(running.values())
    },
    /** Hands the due acknowledgements over to a check-in body. */
    takeAcks(): Ack[] {
      const taken = due.slice(0, MAX_ACKS)
      due = due.slice(MAX_ACKS)
      return taken
    },
    stop: (): void => stop.abort(),
  }
}
export type Commands = ReturnType<typeof createCommands>
