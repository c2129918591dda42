import type { AgentRevocation, CommandKeyRotation } from '@portcullis/contract/agent-protocol.ts'
import { followCommandKeys, isSignedBy, isSignedRevocation, publicKeyHash } from '@portcullis/domain'
import { messageOf } from './exit.ts'
import type { Log } from './log.ts'
import type { Reports } from './reports.ts'
import type { Identity, State } from './state.ts'

export interface CommandKeysDeps {
  identity: Pick<Identity, 'agentId' | 'commandKey' | 'commandKeyNumber' | 'formerCommandKeys'>
  /** Base64 SPKI DER of the agent's own key. */
  publicKey: string
  state: Pick<State, 'amendIdentity'>
  log: Log
  reports: Pick<Reports, 'add'>
}

/** Number of former keys that still verify data on disk. */
const REMEMBERED = 16

type Fields = Readonly<Record<string, unknown>>
const isKey = (value: unknown): value is string =>
  typeof value === 'string' && value.length <= 512 && /^[A-Za-z0-9+/]+={0,2}$/.test(value)
/** A word without spaces or line ends cannot shift the lines of a signed text. */
const isWord = (value: unknown, max: number): value is string =>
  typeof value === 'string' && value.length <= max && /^[!-~]+$/.test(value)

const rotationsOf = (value: unknown): CommandKeyRotation[] => {
  // Stryker disable next-line ArrayDeclaration: A string is not a rotation of the key in force, so it is skipped.
  if (!Array.isArray(value)) return []
  return value.filter((item): item is CommandKeyRotation => {
    const { number, oldKey, newKey, createdAt, signature } = (item ?? {}) as Fields
    return (
      Number.isSafeInteger(number) && isKey(oldKey) && isKey(newKey) && isWord(createdAt, 64) && isWord(signature, 256)
    )
  })
}

const revocationOf = (value: unknown): AgentRevocation | undefined => {
  const { agentId, publicKeyHash: hash, counter, revokedAt, signature } = (value ?? {}) as Fields
  const isWhole =
    isWord(agentId, 128) &&
    isWord(hash, 64) &&
    Number.isSafeInteger(counter) &&
    isWord(revokedAt, 64) &&
    isWord(signature, 256)
  return isWhole ? (value as AgentRevocation) : undefined
}

/** Returns a check that the current or a former key of an identity signed data on disk. */
export const verifyKeptBy =
  ({ commandKey, formerCommandKeys }: Pick<Identity, 'commandKey' | 'formerCommandKeys'>) =>
  (text: string, signature: string): boolean =>
    isSignedBy(commandKey, text, signature) ||
    formerCommandKeys?.some((key) => isSignedBy(key, text, signature)) === true

/**
 * Creates the keeper of the key that signs commands, policies and revocations for this host. Enrolment pins the key.
 * Only a key that it signed can replace it, never an earlier one.
 */
export const createCommandKeys = ({ identity, publicKey, state, log, reports }: CommandKeysDeps) => {
  let held = { key: identity.commandKey, number: identity.commandKeyNumber ?? 0 }
  let former: readonly string[] = identity.formerCommandKeys ?? []

  return {
    /** Returns whether the key in force signed a text from the server. */
    verify: (text: string, signature: string): boolean => isSignedBy(held.key, text, signature),
    /** Returns whether the key in force or a former one signed a text that was accepted earlier. */
    verifyKept: (text: string, signature: string): boolean =>
      verifyKeptBy({ commandKey: held.key, formerCommandKeys: former })(text, signature),
    /** Returns the SHA-256 (hex) of the key in force. */
    id: (): string => publicKeyHash(held.key),
    /**
     * Applies the rotations of a response and stores them durably. A rotation that does not verify changes nothing.
     *
     * @returns whether the key in force changed
     */
    learn(value: unknown): boolean {
      const { after, isForged } = followCommandKeys(held, rotationsOf(value))
      if (isForged)
        reports.add(
          'command_key_refused',
          'The agent refused a rotation of the command key because its signature does not verify.',
        )
      const next = after.at(-1)
      if (next === undefined) return false
      const passed = [
        ...after
          .slice(0, -1)
          .map(({ key }) => key)
          .reverse(),
        held.key,
        ...former,
      ].slice(0, REMEMBERED)
      try {
        state.amendIdentity({ commandKey: next.key, commandKeyNumber: next.number, formerCommandKeys: passed })
      } catch (error) {
        // The agent uses the new key in memory. Its next start applies the rotations again from the key on disk.
        reports.add('identity_write_failed', messageOf(error))
      }
      held = next
      former = passed
      log.info('command_key_rotated', { number: next.number, id: publicKeyHash(next.key) })
      return true
    },
    /** Returns why the body of an `agent_revoked` does not free this host; undefined if it does. */
    revocationFault(body: unknown, lastCounter: number): string | undefined {
      const { revocation: given, commandKeys } = (body ?? {}) as Fields
      const revocation = revocationOf(given)
      if (revocation === undefined) return 'it is not signed'
      const keys = [held, ...followCommandKeys(held, rotationsOf(commandKeys)).after].map(({ key }) => key)
      if (!isSignedRevocation(revocation, keys)) return 'its signature does not verify'
      if (revocation.agentId !== identity.agentId) return 'it is for another agent'
      if (revocation.publicKeyHash !== publicKeyHash(publicKey)) return 'it is for another enrolment of this host'
      if (revocation.counter <= lastCounter)
        return `its counter ${revocation.counter} is not higher than the last one (${lastCounter})`
      return undefined
    },
  }
}
export type CommandKeys = ReturnType<typeof createCommandKeys>
