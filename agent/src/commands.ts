import type { CheckInRequest, CheckInResponse } from '@portcullis/contract/agent-protocol'
import type { Clock } from './clock.ts'
import { verifySignature } from './keys.ts'
import type { Log } from './log.ts'
import type { Reports } from './reports.ts'
import type { CommandMemory, CommandOutcome } from './state.ts'

type Ack = NonNullable<CheckInRequest['acks']>[number]
type SignedCommand = NonNullable<CheckInResponse['commands']>[number]

export interface CommandsDeps {
  agentId: string
  /** Base64 SPKI DER of the key that signs commands. */
  commandKey: string
  clock: Clock
  log: Log
  reports: Pick<Reports, 'add'>
  memory: CommandMemory
  saveMemory: (memory: CommandMemory) => void
}

/** What every command says, whatever its kind. */
interface Command {
  id: string
  agentId: string
  kind: string
  counter: number
  expiresAt: string
}

const MAX_PAYLOAD = 65_536
const REMEMBERED = 64
/** The protocol's bound of one check-in. */
const MAX_ACKS = 64

const parse = (payload: string): Command | undefined => {
  try {
    const value = JSON.parse(payload) as Partial<Command> | null
    if (typeof value !== 'object' || value === null) return undefined
    const { id, agentId, kind, counter, expiresAt } = value
    if (
      typeof id !== 'string' ||
      id === '' ||
      id.length > 64 ||
      typeof agentId !== 'string' ||
      typeof kind !== 'string'
    )
      return undefined
    if (typeof counter !== 'number' || !Number.isSafeInteger(counter) || typeof expiresAt !== 'string') return undefined
    return { id, agentId, kind, counter, expiresAt }
  } catch {
    return undefined
  }
}

/**
 * Verifies commands and forms their acknowledgements. This version executes none and says so; a command that does not
 * verify is never acknowledged, because its id is an unknown writer's word.
 */
export const createCommands = ({ agentId, commandKey, clock, log, reports, memory, saveMemory }: CommandsDeps) => {
  let due: Ack[] = []

  const judge = (signed: SignedCommand): { outcome?: CommandOutcome; counter?: number; refusal?: string } => {
    if (signed.payload.length > MAX_PAYLOAD) return { refusal: 'too long' }
    if (!verifySignature(commandKey, signed.payload, signed.signature))
      return { refusal: 'the signature does not verify' }
    const command = parse(signed.payload)
    if (command === undefined) return { refusal: 'signed, but not a command' }
    if (command.agentId !== agentId) return { refusal: 'meant for another agent' }
    const known = memory.recent.find((outcome) => outcome.id === command.id)
    if (known) return { outcome: known }
    if (command.counter <= memory.counter)
      return { refusal: `counter ${command.counter} was passed (${memory.counter})` }
    const isLate = !(Date.parse(command.expiresAt) > clock.now())
    const message = isLate
      ? 'Expired before it reached the host.'
      : `Not supported by this agent version: ${command.kind.slice(0, 64)}.`
    return { outcome: { id: command.id, outcome: 'failed', message }, counter: command.counter }
  }

  return {
    /** Takes the commands of an answer. True when there is something new to acknowledge at once. */
    receive(commands: readonly SignedCommand[]): boolean {
      let isNew = false
      for (const signed of commands) {
        const { outcome, counter, refusal } = judge(signed)
        if (refusal !== undefined) reports.add('command_refused', `A command was refused: ${refusal}.`)
        if (outcome === undefined) continue
        if (counter !== undefined) {
          memory = { counter, recent: [...memory.recent, outcome].slice(-REMEMBERED) }
          saveMemory(memory)
          log.info('command_answered', { id: outcome.id, outcome: outcome.outcome, message: outcome.message })
          isNew = true
        }
        if (!due.some((ack) => ack.commandId === outcome.id))
          due.push({ commandId: outcome.id, outcome: outcome.outcome, message: outcome.message })
      }
      return isNew
    },
    /** Hands the due acknowledgements over to a check-in body. */
    takeAcks(): Ack[] {
      const taken = due.slice(0, MAX_ACKS)
      due = due.slice(MAX_ACKS)
      return taken
    },
  }
}
export type Commands = ReturnType<typeof createCommands>
