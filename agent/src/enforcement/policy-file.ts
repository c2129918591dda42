import { randomBytes } from 'node:crypto'
import { join } from 'node:path'
import type { PolicyPayload, SignedText } from '@portcullis/contract/agent-protocol'
import { type AttackToolRow, createAttackTools, type GenuineRow } from '@portcullis/domain'
import type { CommandKeys } from '../command-keys.ts'
import { messageOf } from '../exit.ts'
import { readIfThere, writeDurable } from '../files.ts'
import { sha256Hex } from '../keys.ts'
import { parsePolicy } from './parse-policy.ts'

/** A policy that was verified, with the judge of attack tools that it names. */
export interface HeldPolicy {
  policy: PolicyPayload
  attackTools: ReturnType<typeof createAttackTools>
}

export interface PolicyFileDeps {
  stateDir: string
  agentId: string
  keys: Pick<CommandKeys, 'verify' | 'verifyKept'>
}

/** 10,000 rules with every member filled are under 9 million characters. */
const MAX_PAYLOAD = 10_000_000

export const freshNonce = (): string => randomBytes(24).toString('base64url')

const attackToolsOf = (text: string, hash: string): HeldPolicy['attackTools'] => {
  if (sha256Hex(text) !== hash) throw new Error('the knowledge is not what the policy names (digest differs)')
  const value = JSON.parse(text) as { attackTools?: unknown; genuine?: unknown } | null
  if (!Array.isArray(value?.attackTools) || !Array.isArray(value.genuine))
    throw new Error('the knowledge has no attackTools or genuine')
  // The digest is signed, so the rows are what the server holds; compiling them finds a pattern that is none.
  return createAttackTools(value.attackTools as AttackToolRow[], value.genuine as GenuineRow[])
}

/**
 * The last signed policy and its knowledge in the state directory: `policy.json` with text and signature as received,
 * `knowledge.json` as received. Both are verified at each load, so that nobody frees a host with a text editor.
 */
export const createPolicyFile = ({ stateDir, agentId, keys }: PolicyFileDeps) => {
  const policyPath = join(stateDir, 'policy.json')
  const knowledgePath = join(stateDir, 'knowledge.json')

  /** @throws with what is wrong with it */
  function verify({ payload, signature }: SignedText, isSigned: CommandKeys['verify']): PolicyPayload {
    if (payload.length > MAX_PAYLOAD) throw new Error('the policy is too long')
    if (!isSigned(payload, signature)) throw new Error('the signature of the policy does not verify')
    const policy = parsePolicy(payload)
    if (policy.agentId !== agentId) throw new Error('the policy is for another agent')
    return policy
  }

  return {
    /**
     * Takes a policy from the server: verified, its knowledge fetched unless it is held, both durable.
     *
     * @param fetchKnowledge gets the text of a hash
     * @throws with what is wrong with it; what was held stays
     */
    async accept(
      signed: SignedText,
      nonce: string,
      fetchKnowledge: (hash: string) => Promise<string>,
    ): Promise<HeldPolicy> {
      const policy = verify(signed, keys.verify)
      if (policy.nonce !== nonce) throw new Error('the policy answers another question (nonce differs)')
      const held = readIfThere(knowledgePath)
      const isHeld = held !== undefined && sha256Hex(held) === policy.knowledgeHash
      const text = isHeld ? held : await fetchKnowledge(policy.knowledgeHash)
      const attackTools = attackToolsOf(text, policy.knowledgeHash)
      // Knowledge first: a kill in between leaves the old policy without its knowledge, which the load refuses.
      if (!isHeld) writeDurable(knowledgePath, text)
      writeDurable(policyPath, JSON.stringify(signed))
      return { policy, attackTools }
    },
    /** What is on disk; undefined when there is none, a reason when it is refused. */
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
