import { randomBytes } from 'node:crypto'
import { join } from 'node:path'
import type { PolicyPayload, SignedText } from '@portcullis/contract/agent-protocol.ts'
import { type AttackToolRow, createAttackTools, type GenuineRow } from '@portcullis/domain'
import type { CommandKeys } from '../command-keys.ts'
import { messageOf } from '../exit.ts'
import { readIfThere, writeDurable } from '../files.ts'
import { sha256Hex } from '../keys.ts'
import { parsePolicy } from './parse-policy.ts'

/** A verified policy with the attack tools of its knowledge. */
export interface HeldPolicy {
  policy: PolicyPayload
  attackTools: ReturnType<typeof createAttackTools>
}

export interface PolicyFileDeps {
  stateDir: string
  agentId: string
  keys: Pick<CommandKeys, 'verify' | 'verifyKept'>
}

/** Limit in characters. 10,000 rules with all members have fewer than 9 million. */
const MAX_PAYLOAD = 10_000_000

export const freshNonce = (): string => randomBytes(24).toString('base64url')

const attackToolsOf = (text: string, hash: string): HeldPolicy['attackTools'] => {
  if (sha256Hex(text) !== hash) throw new Error('the digest of the knowledge does not match the policy')
  const value = JSON.parse(text) as { attackTools?: unknown; genuine?: unknown } | null
  if (!Array.isArray(value?.attackTools) || !Array.isArray(value.genuine))
    throw new Error('the knowledge has no attackTools or no genuine')
  // The signed digest proves that the rows come from the server. `createAttackTools` throws for an invalid pattern.
  return createAttackTools(value.attackTools as AttackToolRow[], value.genuine as GenuineRow[])
}

/**
 * Stores the last signed policy and its knowledge as received (`policy.json`, `knowledge.json`). Every load verifies both,
 * so that an edited file cannot free a host.
 */
export const createPolicyFile = ({ stateDir, agentId, keys }: PolicyFileDeps) => {
  const policyPath = join(stateDir, 'policy.json')
  const knowledgePath = join(stateDir, 'knowledge.json')

  /** @throws with the reason if the policy is invalid */
  function verify({ payload, signature }: SignedText, isSigned: CommandKeys['verify']): PolicyPayload {
    if (payload.length > MAX_PAYLOAD) throw new Error('the policy is too long')
    if (!isSigned(payload, signature)) throw new Error('the signature of the policy does not verify')
    const policy = parsePolicy(payload)
    if (policy.agentId !== agentId) throw new Error('the policy is for another agent')
    return policy
  }

  return {
    /**
     * Verifies a policy, fetches its knowledge if necessary and stores both durably.
     *
     * @param fetchKnowledge returns the text with a hash
     * @throws with the reason if the policy is invalid; the previous policy then stays in force
     */
    async accept(
      signed: SignedText,
      nonce: string,
      fetchKnowledge: (hash: string) => Promise<string>,
    ): Promise<HeldPolicy> {
      const policy = verify(signed, keys.verify)
      if (policy.nonce !== nonce) throw new Error('the nonce of the policy does not match the request')
      const held = readIfThere(knowledgePath)
      const isHeld = held !== undefined && sha256Hex(held) === policy.knowledgeHash
      const text = isHeld ? held : await fetchKnowledge(policy.knowledgeHash)
      const attackTools = attackToolsOf(text, policy.knowledgeHash)
      // Knowledge first: a kill in between leaves the old policy without its knowledge, and `load` refuses it.
      if (!isHeld) writeDurable(knowledgePath, text)
      writeDurable(policyPath, JSON.stringify(signed))
      return { policy, attackTools }
    },
    /** Returns the policy on disk, the reason for refusing it, or undefined if the file does not exist. */
    load(): HeldPolicy | { refused: string } | undefined {
      const text = readIfThere(policyPath)
      if (text === undefined) return undefined
      try {
        const policy = verify(JSON.parse(text) as SignedText, keys.verifyKept)
        return { policy, attackTools: attackToolsOf(readIfThere(knowledgePath) ?? '', policy.knowledgeHash) }
      } catch (error) {
        return { refused: messageOf(error) }
      }
    },
  }
}
export type PolicyFile = ReturnType<typeof createPolicyFile>
