import type { Tx } from '@portcullis/platform/server/db/db.ts'
import { sql } from '@portcullis/platform/server/db/sql.ts'

/**
 * Gives a host the devices, findings and decisions of another record of the same computer, which is about to be removed. Its
 * devices arrive as removed ones: what is attached, the host reports itself. Of two open findings about a device, the one of the
 * host stays and counts for both. Among the others, an open finding only moves if no later one exists.
 */
export const moveHistory = async (tx: Tx, from: string, to: string, now: Date): Promise<void> => {
  await tx.execute(sql`
    insert into peripherals as p (agent_id, device_id, design_id, port_path, serial, serial_folded, first_seen, last_seen, speed, severity, present,
      authorized, source, rule_id, unapproved, case_number, driver_mismatch, kernel, controller)
    select ${to}::uuid, o.device_id, o.design_id, o.port_path, o.serial, o.serial_folded, o.first_seen, o.last_seen, o.speed, o.severity, false,
      o.authorized, o.source, o.rule_id, false, '', o.driver_mismatch, o.kernel, o.controller
    from peripherals o where o.agent_id = ${from}::uuid order by o.device_id
    on conflict (agent_id, device_id) do update set first_seen = least(p.first_seen, excluded.first_seen)`)
  await tx.execute(sql`
    update host_findings k set opened_at = least(k.opened_at, o.opened_at), attachments = k.attachments + o.attachments
    from host_findings o
    where k.agent_id = ${to}::uuid and k.verdict is null
      and o.agent_id = ${from}::uuid and o.verdict is null and o.device_id = k.device_id`)
  await tx.execute(sql`
    update host_findings o set agent_id = ${to}::uuid, detached_at = coalesce(o.detached_at, ${now}::timestamptz),
      halves_at = case when o.verdict is null then coalesce(o.halves_at, ${now}::timestamptz + interval '7 days') end
    where o.agent_id = ${from}::uuid and not exists (
      select from host_findings k where k.agent_id = ${to}::uuid and k.device_id = o.device_id and case
        when o.verdict is null then k.verdict is null or k.finding_id > o.finding_id
        else k.verdict is null and k.finding_id < o.finding_id end)`)
  await tx.execute(sql`update device_decisions c set agent_id = ${to}::uuid where c.agent_id = ${from}::uuid`)
}
