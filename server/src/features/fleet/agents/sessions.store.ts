import type { Queryable, Tx } from '#platform/db/db.ts'
import { sql } from '#platform/db/sql.ts'

export type SessionsStore = ReturnType<typeof createSessionsStore>

export interface SessionAgent {
  agent_id: string
  public_key: Buffer | null
  host: string
  address: string
  boot_id: string | null
  seq: number
}

/** Starts of one agent that are remembered: enough to tell a copied key, little enough to stay small. */
const bootsKept = 50
/** No more new starts than that within an hour: else a copied key could push the start of its host out of memory. */
const bootsWithinMs = 3_600_000

export interface BootEntry {
  agentId: string
  bootId: string
  /** Host clock of the proof, ms since 1970. */
  proofAt: number
  /** Whether the proof is so new by the server's clock that its nonce is still remembered. */
  isFresh: boolean
  now: Date
  ip: string
}

export const createSessionsStore = (db: Queryable) => ({
  agent: async (agentId: string): Promise<SessionAgent | undefined> =>
    (
      await db.prepared<SessionAgent>(sql`
        select a.agent_id, a.public_key, a.host, a.address, h.boot_id, h.seq
        from agents a join agent_heartbeats h on h.agent_id = a.agent_id where a.agent_id = ${agentId}::uuid`)
    )[0],

  /** Returns the record of a deleted agent; null if it was not deleted. */
  revocation: async (agentId: string): Promise<{ statement: string | null } | null> =>
    (
      await db.prepared<{ statement: string | null }>(
        sql`select v.statement from revoked_agents v where v.agent_id = ${agentId}::uuid`,
      )
    )[0] ?? null,

  /** Notes which command key a host holds after its session opened. Locks its heartbeat. */
  holdsKey: async (tx: Tx, agentId: string, number: number): Promise<void> => {
    await tx.prepared(sql`
      update agent_heartbeats h set command_key = ${number}::int, follows_keys = true
      where h.agent_id = ${agentId}::uuid and (h.command_key, h.follows_keys) is distinct from (${number}::int, true)`)
  },

  /** Remembers a nonce; false when it was seen before. */
  takeNonce: async (tx: Tx, nonce: string, expiresAt: Date): Promise<boolean> =>
    (await tx.execute(
      sql`insert into agent_session_nonces (nonce, expires_at) values (${nonce}, ${expiresAt}) on conflict do nothing`,
    )) === 1,

  forgetNonces: (now: Date): Promise<number> =>
    db.execute(sql`delete from agent_session_nonces n where n.expires_at < ${now}`),

  /**
   * Makes a start the current one and gives its next seq. `isOld`: it was current before and another one since, which a
   * restart never is, since every start has an id of its own. Null when the proof is not newer than the last one of this
   * start and not fresh either; `tooMany` when this agent started as often as is remembered within an hour.
   */
  enterBoot: async (tx: Tx, entry: BootEntry): Promise<{ nextSeq: number; isOld: boolean } | 'stale' | 'tooMany'> => {
    const { agentId, bootId, proofAt, now, ip } = entry
    const [current] = await tx.prepared<{ boot_id: string | null; seq: number }>(
      sql`select h.boot_id, h.seq from agent_heartbeats h where h.agent_id = ${agentId} for update`,
    )
    const [known] = await tx.prepared<{ seq: number; proof_at: number }>(
      sql`select b.seq, b.proof_at from agent_boots b where b.agent_id = ${agentId} and b.boot_id = ${bootId}`,
    )
    if (known !== undefined) {
      if (proofAt <= known.proof_at && !entry.isFresh) return 'stale'
      await tx.prepared(
        sql`update agent_boots b set proof_at = ${proofAt}::bigint where b.agent_id = ${agentId} and b.boot_id = ${bootId}`,
      )
    }
    if (current?.boot_id === bootId) return { nextSeq: current.seq + 1, isOld: false }
    if (known === undefined) {
      const since = new Date(now.getTime() - bootsWithinMs)
      const [recent] = await tx.prepared<{ n: number }>(
        sql`select count(*)::int as n from agent_boots b where b.agent_id = ${agentId} and b.started_at > ${since}`,
      )
      if ((recent?.n ?? 0) >= bootsKept) return 'tooMany'
      await tx.prepared(sql`
        insert into agent_boots (agent_id, boot_id, started_at, ip, proof_at)
        values (${agentId}, ${bootId}, ${now}, ${ip}, ${proofAt}::bigint)`)
      await tx.prepared(sql`
        delete from agent_boots b where b.agent_id = ${agentId} and b.boot_id not in (
          select k.boot_id from agent_boots k where k.agent_id = ${agentId} order by k.started_at desc limit ${bootsKept})`)
    }
    if (current?.boot_id != null)
      await tx.prepared(
        sql`update agent_boots b set seq = ${current.seq} where b.agent_id = ${agentId} and b.boot_id = ${current.boot_id}`,
      )
    const seq = known?.seq ?? 0
    await tx.prepared(
      sql`update agent_heartbeats h set boot_id = ${bootId}, seq = ${seq} where h.agent_id = ${agentId}`,
    )
    return { nextSeq: seq + 1, isOld: known !== undefined }
  },
})
