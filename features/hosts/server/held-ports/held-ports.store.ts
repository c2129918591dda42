import type { Queryable, Tx } from '@portcullis/platform/server/db/db.ts'
import { unnestOf } from '@portcullis/platform/server/db/ordered.ts'
import { sql } from '@portcullis/platform/server/db/sql.ts'

/** A held port as its host reports it. */
export interface ReportedHold {
  agentId: string
  id: string
  portPath: string
  evidence: string
  vid: string
  pid: string
  serial: string
  name: string
  fingerprint: string
}

export interface HeldPortRecord {
  id: string
  uuid: string
  host: string
  address: string
  port_path: string
  held_at: Date
  evidence: string
  vid: string
  pid: string
  serial: string
  name: string
  fingerprint: string
  armed: boolean
  release_asked_by: string | null
}

/** A held port whose release a person requested. */
export type ReleasedHold = Pick<HeldPortRecord, 'host' | 'port_path' | 'evidence' | 'fingerprint'>

export const createHeldPortsStore = () => ({
  /** Deletes the ports that these hosts no longer hold. */
  dropOthers: async (tx: Tx, agentIds: readonly string[], holds: readonly ReportedHold[]): Promise<void> => {
    await tx.prepared(sql`
      delete from held_ports h where h.agent_id = any(${agentIds}::uuid[]) and not exists (
        select 1 from ${unnestOf([
          [holds.map((h) => h.agentId), 'uuid[]'],
          [holds.map((h) => h.id), 'uuid[]'],
        ])} u(agent_id, hold_id) where u.agent_id = h.agent_id and u.hold_id = h.hold_id)`)
  },

  /** Adds new held ports and returns their ids. */
  add: async (tx: Tx, now: Date, holds: readonly ReportedHold[]): Promise<{ agent_id: string; hold_id: string }[]> =>
    holds.length === 0
      ? []
      : tx.prepared(sql`
          insert into held_ports (agent_id, hold_id, port_path, held_at, evidence, vid, pid, serial, name, fingerprint)
          select u.agent_id, u.hold_id, u.port_path, ${now}, u.evidence, u.vid, u.pid, u.serial, u.name, u.fingerprint
          from ${unnestOf([
            [holds.map((h) => h.agentId), 'uuid[]'],
            [holds.map((h) => h.id), 'uuid[]'],
            [holds.map((h) => h.portPath), 'text[]'],
            [holds.map((h) => h.evidence), 'text[]'],
            [holds.map((h) => h.vid), 'text[]'],
            [holds.map((h) => h.pid), 'text[]'],
            [holds.map((h) => h.serial), 'text[]'],
            [holds.map((h) => h.name), 'text[]'],
            [holds.map((h) => h.fingerprint), 'text[]'],
          ])} u(agent_id, hold_id, port_path, evidence, vid, pid, serial, name, fingerprint)
          on conflict do nothing returning agent_id, hold_id`),

  list: (db: Queryable, agentId: string | null): Promise<HeldPortRecord[]> =>
    db.query<HeldPortRecord>(sql`
      select h.hold_id as id, h.agent_id as uuid, a.host, a.address, h.port_path, h.held_at, h.evidence, h.vid, h.pid,
        h.serial, h.name, h.fingerprint, r.armed, h.release_asked_by
      from held_ports h join agents a on a.agent_id = h.agent_id join agent_rows r on r.agent_id = h.agent_id
      where ${agentId}::uuid is null or h.agent_id = ${agentId}::uuid
      order by h.held_at desc, h.hold_id limit 1000`),

  /** Stores that a person released a port. Undefined: the host does not hold this port. */
  askRelease: async (
    tx: Tx,
    { agentId, id, by, accept }: { agentId: string; id: string; by: string; accept: boolean },
  ): Promise<ReleasedHold | undefined> =>
    (
      await tx.query<ReleasedHold>(sql`
        update held_ports h set release_asked_by = ${by}, accept_drivers = ${accept} from agents a
        where h.agent_id = ${agentId}::uuid and h.hold_id = ${id}::uuid and a.agent_id = h.agent_id
        returning a.host, h.port_path, h.evidence, h.fingerprint`)
    )[0],

  /** Returns all releases that the host has not confirmed, because a newer command replaces a waiting one. */
  asked: (tx: Tx, agentId: string): Promise<{ id: string; accept: boolean }[]> =>
    tx.query<{ id: string; accept: boolean }>(sql`
      select h.hold_id as id, h.accept_drivers as accept from held_ports h
      where h.agent_id = ${agentId}::uuid and h.release_asked_by is not null order by h.hold_id`),
})
