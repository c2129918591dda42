import type { Queryable } from '#platform/db/db.ts'
import { unnestOf } from '#platform/db/ordered.ts'
import { sql } from '#platform/db/sql.ts'

/** A device that a draft may decide about. */
export interface Candidate {
  agent_id: string
  device_id: string
  design_id: number
  serial: string
  speed: number
  port_path: string
  present: boolean
  source: number
  armed: boolean
  hashtags: string
}

/** Devices as rules see them: which ones a rule may be about. */
export const createDevicesRead = () => ({
  /** Designs by the ids that rules name: one query for all of them. A rule without a vendor id may be about any design. */
  designsMatching: (
    tx: Queryable,
    matches: readonly { vid: string | null; pid: string | null }[],
  ): Promise<{ design_id: number }[]> => {
    if (matches.some(({ vid }) => vid === null)) return tx.query(sql`select d.design_id from designs d`)
    const models = [...new Set(matches.map(({ vid, pid }) => `${vid}${pid === null ? '' : `:${pid}`}`))]
    return tx.query(sql`
      select d.design_id from designs d join models m on m.model_id = d.model_id
      where m.vid = any(${models}::text[]) or m.vid || ':' || m.pid = any(${models}::text[])`)
  },

  /** Devices that rules about these designs may decide about. */
  candidates: (
    tx: Queryable,
    designIds: readonly number[],
    agentIds: readonly string[] | null,
    since: Date,
  ): Promise<Candidate[]> =>
    tx.query<Candidate>(sql`
      select p.agent_id, p.device_id, p.design_id, p.serial, p.speed, p.port_path, p.present, p.source, r.armed, r.tags as hashtags
      from peripherals p join agent_rows r on r.agent_id = p.agent_id
      where p.design_id = any(${designIds}::int[]) and (${agentIds}::uuid[] is null or p.agent_id = any(${agentIds}::uuid[]))
        and (p.present or p.last_seen >= ${since}) order by p.agent_id, p.device_id`),

  /** Names of some devices, for screens. */
  named: (
    tx: Queryable,
    devices: readonly { agentId: string; deviceId: string }[],
  ): Promise<
    { agent_id: string; device_id: string; host: string; caption: string; vid: string; pid: string; icon: number }[]
  > =>
    devices.length === 0
      ? Promise.resolve([])
      : tx.query(sql`
      select p.agent_id, p.device_id, a.host, coalesce(nullif(d.product, ''), nullif(m.product, ''), m.vendor) as caption, m.vid, m.pid, d.icon
      from ${unnestOf([
        [devices.map((d) => d.agentId), 'uuid[]'],
        [devices.map((d) => d.deviceId), 'text[]'],
      ])} u(agent_id, device_id) join peripherals p on p.agent_id = u.agent_id and p.device_id = u.device_id
        join agents a on a.agent_id = p.agent_id join designs d on d.design_id = p.design_id join models m on m.model_id = d.model_id`),
})

export type DevicesRead = ReturnType<typeof createDevicesRead>
