import type { Queryable, Tx } from '@portcullis/platform/server/db/db.ts'
import { raw, sql } from '@portcullis/platform/server/db/sql.ts'
import { utcSql } from '@portcullis/platform/server/time.ts'
import type { AssetLocation } from '#features/contract.ts'

interface EntryRow {
  since: string
  until: string | null
  location: AssetLocation
  announced: boolean
}
export interface PreviousLocation {
  agent_id: string
  host: string
  since: string
  until: string
  location: AssetLocation
}

const locationColumns = 'address, l.subnet, l.switch_ip, l.switch_name, l.port_id, l.port_name'
const location = raw(`json_build_object('address', l.address, 'subnet', l.subnet, 'switchIp', l.switch_ip,
  'switchName', l.switch_name, 'portId', l.port_id, 'portName', l.port_name) as location`)
const times = raw(`${utcSql('l.since')} as since, ${utcSql('l.until')} as until`)
/** A location that was left, is not announced yet, is known, and is not the host's current one. */
const isDue = raw(`l.until is not null and not l.announced and l.address <> '' and not exists (
  select from agent_locations n where n.agent_id = l.agent_id and n.until is null
    and (n.address, n.subnet, n.switch_ip, n.switch_name, n.port_id, n.port_name)
      = (l.${locationColumns}))`)

export const createLocationsStore = (db: Queryable) => ({
  of: (agentId: string): Promise<EntryRow[]> =>
    db.query<EntryRow>(sql`
      select ${times}, ${location}, l.announced from agent_locations l where l.agent_id = ${agentId}::uuid
      order by l.location_id desc limit 100`),

  /**
   * Takes previous locations of some hosts to announce and marks them as announced: each location once, however often
   * the host was there. The limit keeps the statement under a second. A concurrent call waits and finds none.
   */
  take: (tx: Tx, hosts: number, limit: number): Promise<PreviousLocation[]> =>
    tx.query<PreviousLocation>(sql`
      with hosts as materialized (select distinct l.agent_id from agent_locations l where ${isDue} limit ${hosts}::int),
      due as materialized (
        select l.location_id from agent_locations l where l.agent_id in (select o.agent_id from hosts o) and ${isDue}
        order by l.location_id limit ${limit}::int for update),
      told as (
        update agent_locations l set announced = true from due d where l.location_id = d.location_id and not l.announced
        returning l.*)
      select distinct on (l.agent_id, l.${raw(locationColumns)}) l.agent_id, a.host, ${times}, ${location}
      from told l join agents a on a.agent_id = l.agent_id
      order by l.agent_id, l.${raw(locationColumns)}, l.location_id desc`),

  /** Counts the locations that a call would publish now, up to `limit`. */
  due: async (limit: number): Promise<number> =>
    (
      await db.query<{ n: number }>(sql`
        select count(*)::int as n from (
          select distinct l.agent_id, l.${raw(locationColumns)} from agent_locations l where ${isDue} limit ${limit}::int) d`)
    )[0]?.n ?? 0,

  /** Deletes old announced entries, and keeps only the newest entries of hosts that move constantly. */
  trim: (before: Date, perHost: number): Promise<number> =>
    db.execute(sql`
      delete from agent_locations l where l.until is not null and (
        (l.announced and l.until < ${before}) or l.location_id in (
          select r.location_id from (
            select o.location_id, row_number() over (partition by o.agent_id order by o.location_id desc) as n
            from agent_locations o) r where r.n > ${perHost}::int))`),
})
