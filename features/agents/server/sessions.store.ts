import type { Queryable, Tx } from '@portcullis/platform/server/db/db.ts'
import { sql } from '@portcullis/platform/server/db/sql.ts'

export interface SessionAgent {
  agent_id: string
  public_key: Buffer | null
  host: string
  address: string
  enrolled_at: Date
  boot_id: string | null
  seq: number
  /** Whether only current proofs count. */
  bounded_proofs: boolean
}

/** Number of boots remembered per agent, to detect a copied key. */
const bootsKept = 50
/** Maximum number of new boots within an hour. Otherwise a copied key could evict the boot of the real host. */
const bootsWithinMs = 3_600_000

export interface BootEntry {
  agentId: string
  bootId: string
  /** Host clock of the proof, ms since 1970. */
  proofAt: number
  /** Whether the nonce of the proof is still remembered. */
  isNonceKept: boolean
  /** Whether the proof is recent by the server's clock. */
  isFresh: boolean
  now: Date
  ip: string
}

export const createSessionsStore = (db: Queryable) => ({
  agent: async (agentId: string): Promise<SessionAgent | undefined> =>
    (
      await db.prepared<SessionAgent>(sql`
        select a.agent_id, a.public_key, a.host, a.address, a.enrolled_at, h.boot_id, h.seq, h.bounded_proofs
        from agents a join agent_heartbeats h on h.agent_id = a.agent_id where a.agent_id = ${agentId}::uuid`)
    )[0],

  /** Returns the record of a deleted agent; null: it was not deleted. */
  revocation: async (agentId: string): Promise<{ statement: string | null } | null> =>
    (
      await db.prepared<{ statement: string | null }>(
        sql`select v.statement from revoked_agents v where v.agent_id = ${agentId}::uuid`,
      )
    )[0] ?? null,

  /** Stores which command key a host holds after its session opened. Locks its heartbeat. */
  holdsKey: async (tx: Tx, agentId: string, number: number): Promise<void> => {
    await tx.prepared(sql`
      update agent_heartbeats h set command_key = ${number}::int, follows_keys = true
      where h.agent_id = ${agentId}::uuid and (h.command_key, h.follows_keys) is distinct from (${number}::int, true)`)
  },

  /** From now on, only current proofs count. Locks the heartbeat. */
  bindProofs: async (tx: Tx, agentId: string): Promise<void> => {
    await tx.prepared(sql`update agent_heartbeats h set bounded_proofs = true where h.agent_id = ${agentId}::uuid`)
  },

  /** Stores a nonce; returns false if it was seen before. */
  takeNonce: async (tx: Tx, nonce: string, expiresAt: Date): Promise<boolean> =>
    (await tx.execute(
      sql`insert into agent_session_nonces (nonce, expires_at) values (${nonce}, ${expiresAt}) on conflict do nothing`,
    )) === 1,

  forgetNonces: (now: Date): Promise<number> =>
    db.execute(sql`delete from agent_session_nonces n where n.expires_at < ${now}`),

  /**
   * Makes a boot the current one and returns its next seq. `isOld`: this boot was current before, and another one since.
   * A restart never causes this, because every boot has its own id. Returns 'stale' if the nonce of the proof is not
   * remembered and the proof is not newer than all others of this agent. Returns 'tooMany' if the agent booted too often
   * within an hour.
   */
  enterBoot: async (tx: Tx, entry: BootEntry): Promise<{ nextSeq: number; isOld: boolean } | 'stale' | 'tooMany'> => {
    const { agentId, bootId, proofAt, now, ip } = entry
    const [current] = await tx.prepared<{ boot_id: string | null; seq: number; proof_floor: number }>(sql`
      select h.boot_id, h.seq, greatest(h.proof_floor, (
        select max(b.proof_at) from agent_boots b where b.agent_id = h.agent_id and b.proof_at <= ${now.getTime()}::bigint)) as proof_floor
      from agent_heartbeats h where h.agent_id = ${agentId} for update`)
    if (!entry.isNonceKept && proofAt <= (current?.proof_floor ?? 0)) return 'stale'
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
        with gone as (
          delete from agent_boots b where b.agent_id = ${agentId} and b.boot_id not in (
            select k.boot_id from agent_boots k where k.agent_id = ${agentId} order by k.started_at desc limit ${bootsKept})
          returning b.proof_at)
        update agent_heartbeats h set proof_floor = greatest(h.proof_floor, g.proof_at)
        from (select max(o.proof_at) as proof_at from gone o where o.proof_at <= ${now.getTime()}::bigint) g
        where h.agent_id = ${agentId} and g.proof_at > h.proof_floor`)
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
