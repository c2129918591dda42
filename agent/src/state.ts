import { writeFileSync } from 'node:fs'
import { join } from 'node:path'
import type { SignedText } from '@portcullis/contract/agent-protocol.ts'
import { cannotStart, messageOf } from './exit.ts'
import { readIfThere, removeIfThere, writeDurable } from './files.ts'
import type { Stamp } from './host-time.ts'
import type { Machine } from './machine.ts'
import type { Platform } from './platform/platform.ts'

/** The identity of this host at its server. Enrolment writes it. */
export interface Identity {
  agentId: string
  /** Base address of the server. */
  server: string
  /** Base64 SPKI DER of the Ed25519 key that signs commands. */
  commandKey: string
  /** Number of the rotation that introduced the key; absent for the key of the enrolment. */
  commandKeyNumber?: number
  /** Former keys, newest first. Data accepted under them stays valid. */
  formerCommandKeys?: readonly string[]
  /** SHA-256 of the enrolment token. A different token means that the operator wants to enrol the host again. */
  tokenHash: string
  /** ISO time of the enrolment. */
  enrolledAt: string
  /** The machine that enrolled. On another machine, the agent does not use this identity. */
  machine?: Machine
  /** Set when the server revoked this identity. */
  revoked?: { code: string; at: string }
  /** ISO time since which the server does not know this agent. A fresh token then enrols the host again. */
  unknownSince?: string | undefined
}

/** Outcome of a command. The agent stores it to answer a repeated delivery. */
export interface CommandOutcome {
  id: string
  outcome: 'confirmed' | 'failed'
  message: string
}

/** A verified command without an outcome, as received. */
export interface PendingCommand extends SignedText {
  /** When the agent received it. Missing in files of older versions. */
  received?: Stamp
}

export interface CommandMemory {
  /** Agent that received the commands; missing in files of older versions. */
  agentId?: string
  /** Highest counter of a verified command. A lower or equal counter is a replay. */
  counter: number
  recent: CommandOutcome[]
  /** Verified commands without an outcome, as received. The next start resumes them. */
  pending?: PendingCommand[]
}

/** State of a host without a usable identity. `lastProblem` contains the reason. */
export const NOT_ENROLLED = 'not enrolled'

/** Output of the `status` command. */
export interface Status {
  state: string
  updatedAt: string
  lastCheckInAt?: string
  lastProblem?: string
  devices: number
  spooledChanges: number
  nextCheckInSeconds?: number
}

/**
 * Creates the state directory if necessary and makes it private.
 *
 * @throws AgentExit(1) with the reason if it cannot be used
 */
export const prepareStateDir = (dir: string, platform: Pick<Platform, 'prepareStateDir'>): void => {
  try {
    platform.prepareStateDir(dir)
    // mkdir succeeds on a read-only file system if the directory exists, so only a write shows that it is usable.
    writeFileSync(join(dir, '.probe'), '')
    removeIfThere(join(dir, '.probe'))
  } catch (error) {
    throw cannotStart(
      `Cannot use the state directory ${dir}: ${messageOf(error)}. Set another one with --state-dir or run as root.`,
    )
  }
}

const parseOr = <T>(text: string | undefined, path: string): T | undefined => {
  if (text === undefined) return undefined
  try {
    return JSON.parse(text) as T
  } catch {
    throw cannotStart(`The file ${path} is damaged. Remove the state directory and enrol the host again.`)
  }
}

/** Creates access to the files of the state directory other than key, spool and log. */
export const createState = (dir: string) => {
  const identityPath = join(dir, 'identity.json')
  const caPath = join(dir, 'ca.pem')
  const commandsPath = join(dir, 'commands.json')
  const statusPath = join(dir, 'status.json')
  const identity = (): Identity | undefined => parseOr<Identity>(readIfThere(identityPath), identityPath)
  const saveIdentity = (next: Identity): void => writeDurable(identityPath, `${JSON.stringify(next, null, 2)}\n`)
  return {
    dir,
    identity,
    saveIdentity,
    /** Changes some members of the identity on disk. */
    amendIdentity(change: Partial<Identity>): void {
      const current = identity()
      if (current !== undefined) saveIdentity({ ...current, ...change })
    },
    /** Returns the PEM of the pinned CA certificate. An empty file means that the system decides. */
    pinnedCa: (): string | undefined => readIfThere(caPath) || undefined,
    savePinnedCa: (pem: string): void => writeDurable(caPath, pem),
    commands: (): CommandMemory =>
      parseOr<CommandMemory>(readIfThere(commandsPath), commandsPath) ?? { counter: 0, recent: [] },
    saveCommands: (memory: CommandMemory): void => writeDurable(commandsPath, JSON.stringify(memory)),
    status: (): Status | undefined => parseOr<Status>(readIfThere(statusPath), statusPath),
    /** Writes the status without a flush, because a loss affects only `status`. */
    saveStatus(status: Status): void {
      try {
        writeFileSync(statusPath, JSON.stringify(status), { mode: 0o600 })
      } catch {
        // The spool reports a full disk.
      }
    },
  }
}
export type State = ReturnType<typeof createState>
