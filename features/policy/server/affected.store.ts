import { ruleMatches } from '@portcullis/domain'
import type { Queryable, Tx } from '@portcullis/platform/server/db/db.ts'
import { unnestOf } from '@portcullis/platform/server/db/ordered.ts'
import { sql } from '@portcullis/platform/server/db/sql.ts'
import { createYielder } from '@portcullis/platform/server/yielder.ts'
import type { PolicyRule } from '#features/contract.ts'
import type { DevicesApi } from '#features/devices/server/index.ts'
import { criteriaOf, forAnySerial } from './open-policy.ts'
import { type PolicyStore, type RuleRow, wireRule } from './policy.store.ts'
import type { IdentityPart } from './seal.ts'

/** How often a host attached a device on one day. */
export interface AttachmentCount {
  agentId: string
  deviceId: string
  /** Day in UTC as `yyyy-MM-dd`. */
  day: string
  n: number
  /** How many of them were blocked. */
  blocked: number
}

export const countAttachments = async (tx: Tx, rows: readonly AttachmentCount[]): Promise<void> => {
  if (rows.length === 0) return
  await tx.prepared(sql`
    insert into attachment_days as d (day, agent_id, device_id, n, blocked)
    select u.day, u.agent_id, u.device_id, u.n, u.blocked from ${unnestOf([
      [rows.map((r) => r.agentId), 'uuid[]'],
      [rows.map((r) => r.deviceId), 'text[]'],
      [rows.map((r) => r.day), 'date[]'],
      [rows.map((r) => r.n), 'int[]'],
      [rows.map((r) => r.blocked), 'int[]'],
    ])} u(agent_id, device_id, day, n, blocked)
    on conflict (agent_id, device_id, day) do update set n = d.n + excluded.n, blocked = d.blocked + excluded.blocked`)
}

/** The queue of hosts whose decisions need recalculation. */
const queues = {
  /**
   * Queues hosts for recalculation: all, those with a tag, or those that ever had a device with one of some
   * fingerprints.
   */
  queueAll: (tx: Tx): Promise<number> =>
    tx.execute(
      sql`insert into policy_queue (agent_id) select r.agent_id from agent_rows r order by r.agent_id on conflict do nothing`,
    ),
  queueTagged: (tx: Tx, tagId: number): Promise<number> =>
    tx.execute(sql`
      insert into policy_queue (agent_id) select x.agent_id from agent_tags x where x.tag_id = ${tagId}
      order by x.agent_id on conflict do nothing`),
  queueHolders: (tx: Tx, fingerprintIds: readonly number[]): Promise<number> =>
    tx.execute(sql`
      insert into policy_queue (agent_id)
      select distinct p.agent_id from peripherals p where p.design_id = any(${fingerprintIds}::int[])
      order by p.agent_id on conflict do nothing`),
  queueThese: (tx: Tx, agentIds: readonly string[]): Promise<number> =>
    tx.execute(sql`
      insert into policy_queue (agent_id)
      select a.agent_id from agents a where a.agent_id = any(${agentIds}::uuid[]) order by a.agent_id on conflict do nothing`),

  /** Assigns a job to the hosts that were just queued. */
  giveJob: async (tx: Tx, jobId: string): Promise<void> => {
    await tx.execute(sql`update policy_queue q set job_id = ${jobId}::uuid where q.job_id is null`)
  },

  /** Takes some hosts off the queue. If the transaction fails, they stay queued. */
  takeQueued: (tx: Tx, limit: number): Promise<{ agent_id: string; job_id: string | null }[]> =>
    tx.prepared(sql`
      delete from policy_queue q where q.agent_id in (
        select w.agent_id from policy_queue w order by w.agent_id limit ${limit}::int for update skip locked)
      returning q.agent_id, q.job_id`),
}

const isWideAllow = (r: RuleRow): boolean =>
  r.effect === 'allow' && !r.is_grant && r.agent_id === null && r.tag_name === null

/** Finds the fingerprints that a rule may decide about, and the hosts whose decisions a rule change may affect. */
export const createAffected = (store: PolicyStore, fingerprints: DevicesApi['fingerprints']) => {
  /**
   * Returns the fingerprints with the ids that rules name, in one query. A rule without a vendor id may match any
   * fingerprint.
   */
  const fingerprintsMatching = (
    tx: Queryable,
    matches: readonly { vid: string | null; pid: string | null }[],
  ): Promise<{ design_id: number }[]> => {
    if (matches.some(({ vid }) => vid === null)) return tx.query(sql`select d.design_id from designs d`)
    const models = [...new Set(matches.map(({ vid, pid }) => `${vid}${pid === null ? '' : `:${pid}`}`))]
    return tx.query(sql`
      select d.design_id from designs d join models m on m.model_id = d.model_id
      where m.vid = any(${models}::text[]) or m.vid || ':' || m.pid = any(${models}::text[])`)
  }

  const withoutRevision = (tx: Queryable, fingerprints: readonly string[]): Promise<{ design_id: number }[]> =>
    tx.query(sql`
      select distinct on (d.policy_without_revision) d.design_id from designs d
      where d.policy_without_revision = any(${fingerprints}::text[]) order by d.policy_without_revision, d.design_id`)

  async function fingerprintsOf(tx: Queryable, rules: readonly RuleRow[]): Promise<Set<number>> {
    const found = new Set<number>()
    if (rules.length === 0) return found
    // Rules that differ only in the serial number match the same fingerprints, so one is enough.
    const wires = new Map(rules.map(wireRule).map((rule) => [criteriaOf(rule), forAnySerial(rule)]))
    const byVendor = Map.groupBy(wires.values(), ({ vid }) => vid)
    const yieldNow = createYielder(10)
    const ids = (await fingerprintsMatching(tx, rules)).map((row) => row.design_id)
    for (const fingerprint of (await fingerprints.byIds(ids)).values()) {
      await yieldNow()
      const device = { ...fingerprint.device, serial: '', attackTool: null }
      const mayDecide = (rule: PolicyRule): boolean => ruleMatches(rule, device)
      if ([byVendor.get(fingerprint.vid), byVendor.get(undefined)].some((some) => some?.some(mayDecide)))
        found.add(fingerprint.id)
    }
    return found
  }

  const hasWideAllow = async (tx: Queryable): Promise<boolean> => (await store.wide(tx)).some(isWideAllow)

  /**
   * Finds the rule fingerprints of fingerprints without revision that devices have reported. It computes both fingerprints
   * from the stored descriptors, so a changed row of the database cannot name another model.
   */
  async function rulePrints(q: Queryable, withoutRevisions: readonly string[]): Promise<Map<string, string>> {
    if (withoutRevisions.length === 0) return new Map()
    const ids = (await withoutRevision(q, [...new Set(withoutRevisions)])).map((row) => row.design_id)
    return new Map(
      [...(await fingerprints.byIds(ids)).values()].flatMap(({ device }) =>
        device.ruleFingerprint === '' ? [] : [[device.fingerprintWithoutRevision, device.ruleFingerprint] as const],
      ),
    )
  }

  return {
    fingerprintsOf,
    rulePrints,
    /**
     * Returns what a written rule binds. A serial number that an earlier release cleaned keeps its mark until somebody
     * changes it.
     */
    identityOf: async (
      q: Queryable,
      { fingerprint, serial }: Pick<RuleRow, 'fingerprint' | 'serial'>,
      known: RuleRow | null,
    ): Promise<Required<IdentityPart>> => ({
      rule_fingerprint: fingerprint === null ? null : ((await rulePrints(q, [fingerprint])).get(fingerprint) ?? null),
      exact_serial: known === null || known.serial !== serial || known.exact_serial === true,
    }),
    queueAll: queues.queueAll,
    giveJob: queues.giveJob,
    takeQueued: queues.takeQueued,
    /** Returns whether an allow rule applies to every host. Call it before and after a change. */
    hasWideAllow,

    /** Queues every host whose decisions may change. Returns how many hosts were not already queued. */
    queue: async (tx: Tx, changed: readonly RuleRow[], hadWideAllow: boolean): Promise<number> => {
      // The first allow for all hosts starts an allowlist on every host; removing the last one ends it.
      if (hadWideAllow !== (await hasWideAllow(tx))) return queues.queueAll(tx)
      let queued = 0
      const own = [...new Set(changed.flatMap((r) => (r.agent_id === null ? [] : [r.agent_id])))]
      if (own.length > 0) queued += await queues.queueThese(tx, own)
      for (const tagId of new Set(changed.flatMap((r) => (r.tag_id === null ? [] : [r.tag_id]))))
        queued += await queues.queueTagged(tx, tagId)
      const wide = await fingerprintsOf(
        tx,
        changed.filter((r) => r.agent_id === null && r.tag_name === null),
      )
      if (wide.size > 0) queued += await queues.queueHolders(tx, [...wide])
      return queued
    },
  }
}

export type Affected = ReturnType<typeof createAffected>
