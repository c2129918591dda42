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

export const createSessionsStore = (db: Queryable) => ({
  agent: async (agentId: string): Promise<SessionAgent | undefined> =>
    (
      await db.prepared<SessionAgent>(sql`
        select a.agent_id, a.public_key, a.host, a.address, h.boot_id, h.seq
        from agents a join agent_heartbeats h on h.agent_id = a.agent_id where a.agent_id = ${agentId}::uuid`)
    )[0],

  isRevoked: async (agentId: string): Promise<boolean> =>
    (await db.prepared(sql`select 1 from revoked_agents v where v.agent_id = ${agentId}::uuid`)).length > 0,

  /** Remembers a nonce; false when it was seen before. */
  takeNonce: async (tx: Tx, nonce: string, expiresAt: Date): Promise<boolean> =>
    (await tx.execute(
      sql`insert into agent_session_nonces (nonce, expires_at) values (${nonce}, ${expiresAt}) on conflict do nothing`,
    )) === 1,

  forgetNonces: (now: Date): Promise<number> =>
    db.execute(sql`delete from agent_session_nonces n where n.expires_at < ${now}`),

  /**
   * Makes a start the current one and gives its next seq. `isOld`: it was current before and another one since, which a
   * restart never is, since every start has an id of its own.
   */
  enterBoot: async (
    tx: Tx,
    agentId: string,
    bootId: string,
    now: Date,
    ip: string,
  ): Promise<{ nextSeq: number; isOld: boolean }> => {
    const [current] = await tx.prepared<{ boot_id: string | null; seq: number }>(
      sql`select h.boot_id, h.seq from agent_heartbeats h where h.agent_id = ${agentId} for update`,
    )
    if (current?.boot_id === bootId) return { nextSeq: current.seq + 1, isOld: false }
    if (current?.boot_id != null)
      await tx.prepared(
        sql`update agent_boots b set seq = ${current.seq} where b.agent_id = ${agentId} and b.boot_id = ${current.boot_id}`,
      )
    const [known] = await tx.prepared<{ seq: number }>(
      sql`select b.seq from agent_boots b where b.agent_id = ${agentId} and b.boot_id = ${bootId}`,
    )
    if (known === undefined) {
      await tx.prepared(
        sql`insert into agent_boots (agent_id, boot_id, started_at, ip) values (${agentId}, ${bootId}, ${now}, ${ip})`,
      )
      await tx.prepared(sql`
        delete from agent_boots b where b.agent_id = ${agentId} and b.boot_id not in (
          select k.boot_id from agent_boots k where k.agent_id = ${agentId} order by k.started_at desc limit ${bootsKept})`)
    }
    const seq = known?.seq ?? 0
    await tx.prepared(
      sql`update agent_heartbeats h set boot_id = ${bootId}, seq = ${seq} where h.agent_id = ${agentId}`,
    )
    return { nextSeq: seq + 1, isOld: known !== undefined }
  },
})
