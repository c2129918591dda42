import { publicKeyHash } from '@portcullis/domain'
import { AppError } from '@portcullis/platform/server/app-error.ts'
import type { CommandKeys } from '@portcullis/platform/server/command-keys.ts'
import { type AgentRevocation, agentRevocationText } from '#features/contract.ts'
import type { AgentsContext } from './context.ts'
import { createSessionsStore } from './sessions.store.ts'

export interface DeletedAgent {
  agent_id: string
  /** Null for a host without an agent, which never asks for its revocation. */
  public_key: Buffer | null
  command_counter: number
}

/** Signs the deletion of an agent. The agent frees its host only for this statement. */
export const revocationOf = (
  { agent_id, public_key, command_counter }: DeletedAgent,
  now: number,
  keys: CommandKeys,
): AgentRevocation | null => {
  if (public_key === null) return null
  const statement = {
    agentId: agent_id,
    publicKeyHash: publicKeyHash(public_key.toString('base64')),
    counter: Math.max(command_counter + 1, now),
    revokedAt: new Date(now).toISOString(),
  }
  return { ...statement, signature: keys.signerFor(keys.newest().number, now).sign(agentRevocationText(statement)) }
}

export const createRevocations = ({ db, keys }: AgentsContext) => {
  const store = createSessionsStore(db)
  return {
    isRevoked: async (agentId: string): Promise<boolean> => (await store.revocation(agentId)) !== null,

    /** Returns the refusal for a deleted agent, with the statement that the agent verifies; null: it was not deleted. */
    revoked: async (agentId: string): Promise<AppError | null> => {
      const found = await store.revocation(agentId)
      if (found === null) return null
      const { statement } = found
      if (statement === null) return new AppError('agent_revoked')
      const revocation = JSON.parse(statement) as AgentRevocation
      return new AppError(
        'agent_revoked',
        {},
        { extensions: { revocation, commandKeys: keys.command.rotationsAfter(0) } },
      )
    },
  }
}
