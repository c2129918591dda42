import { chmodSync, existsSync, mkdirSync, statSync, writeFileSync } from 'node:fs'
import { dirname, join } from 'node:path'
import type { SignedText } from '@portcullis/contract/agent-protocol'
import { cannotStart, errnoOf, messageOf } from './exit.ts'
import { readIfThere, removeIfThere, writeDurable } from './files.ts'

/** Who this host is to its server; written once at enrolment. */
export interface Identity {
  agentId: string
  /** Base address of the server. */
  server: string
  /** Base64 SPKI DER of the Ed25519 key that signs commands. */
  commandKey: string
  /** Number of the rotation that led to it; absent for the key of the enrolment. */
  commandKeyNumber?: number
  /** Former keys, newest first. Data accepted under them stays valid. */
  formerCommandKeys?: readonly string[]
  /** SHA-256 of the enrolment token used: another token is a person's wish to enrol anew. */
  tokenHash: string
  /** ISO time of the enrolment. */
  enrolledAt: string
  /** Set when the server said that this identity is over. */
  revoked?: { code: string; at: string }
  /** ISO time since which the server says that it does not know this agent; a fresh token then enrols the host anew. */
  unknownSince?: string | undefined
}

/** Outcome of a command, kept so that a repeated delivery gets the same answer. */
export interface CommandOutcome {
  id: string
  outcome: 'confirmed' | 'failed'
  message: string
}

export interface CommandMemory {
  /** Whom the commands were for; missing in what older versions wrote. */
  agentId?: string
  /** Highest counter of a verified command: an older one is a replay. */
  counter: number
  recent: CommandOutcome[]
  /** Verified and not answered yet, as received: a start goes on with them. */
  pending?: SignedText[]
}

/** What the `status` command prints. */
export interface Status {
  state: string
  updatedAt: string
  lastCheckInAt?: string
  lastProblem?: string
  devices: number
  spooledChanges: number
  nextCheckInSeconds?: number
}

/** Not `recursive: true`: under /proc Node's own recursion never returns, because mkdir answers ENOENT for ever. */
const makeDir = (dir: string): void => {
  try {
    mkdirSync(dir, { mode: 0o700 })
  } catch (error) {
    if (errnoOf(error) === 'EEXIST') return
    if (errnoOf(error) !== 'ENOENT' || existsSync(dirname(dir))) throw error
    makeDir(dirname(dir))
    mkdirSync(dir, { mode: 0o700 })
  }
}

/**
 * Makes the state directory private and usable, or says in one sentence why it is not.
 *
 * @throws AgentExit(1)
 */
export const prepareStateDir = (dir: string): void => {
  try {
    makeDir(dir)
    const stat = statSync(dir)
    if (!stat.isDirectory()) throw new Error('it is not a directory')
    if ((stat.mode & 0o077) !== 0) chmodSync(dir, 0o700)
    // mkdir succeeds on a read-only file system when the directory is there: only a write tells.
    writeFileSync(join(dir, '.probe'), '')
    removeIfThere(join(dir, '.probe'))
  } catch (error) {
    throw cannotStart(`The state directory ${dir} cannot be used: ${messageOf(error)}.`)
  }
}

const parseOr = <T>(text: string | undefined, path: string): T | undefined => {
  if (text === undefined) return undefined
  try {
    return JSON.parse(text) as T
  } catch {
    throw cannotStart(`${path} is damaged. Remove the state directory and enrol the host anew.`)
  }
}

/** The files of the state directory other than key, spool and log. */
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
    /** Changes members of the identity on disk: several parts of a running agent do, each its own. */
    amendIdentity(change: Partial<Identity>): void {
      const current = identity()
      if (current !== undefined) saveIdentity({ ...current, ...change })
    },
    /** PEM of the pinned CA certificate. */
    pinnedCa: (): string | undefined => readIfThere(caPath),
    savePinnedCa: (pem: string): void => writeDurable(caPath, pem),
    commands: (): CommandMemory =>
      parseOr<CommandMemory>(readIfThere(commandsPath), commandsPath) ?? { counter: 0, recent: [] },
    saveCommands: (memory: CommandMemory): void => writeDurable(commandsPath, JSON.stringify(memory)),
    status: (): Status | undefined => parseOr<Status>(readIfThere(statusPath), statusPath),
    /** Not flushed: losing it loses nothing but a line of `status`. */
    saveStatus(status: Status): void {
      try {
        writeFileSync(statusPath, JSON.stringify(status), { mode: 0o600 })
      } catch {
        // A full disk shows elsewhere (spool); a status line is not worth ending for.
      }
    },
  }
}
export type State = ReturnType<typeof createState>
