import type { CapabilityKind } from '@portcullis/domain'
import type { Queryable, Tx } from '@portcullis/platform/server/db/db.ts'
import { sql } from '@portcullis/platform/server/db/sql.ts'

export interface RuleTestRow {
  test_id: string
  name: string
  name_key: string
  expected: 'allow' | 'block'
  vid: string
  pid: string
  serial: string
  kinds: CapabilityKind[]
  fingerprint: string | null
  is_attack_tool: boolean
  agent_id: string | null
  tag_name: string | null
  changed_at: Date
  changed_by: string
}

/** A test with the data of its host. */
export interface HostedTest extends RuleTestRow {
  host: string | null
  /** Names of the tags of the host, joined by commas. */
  hashtags: string
}

/** Returns all tests: at most `mostRuleTests`. */
export const allRuleTests = (q: Queryable): Promise<HostedTest[]> =>
  q.query<HostedTest>(sql`
    select t.test_id, t.name, t.name_key, t.expected, t.vid, t.pid, t.serial, t.kinds, t.fingerprint, t.is_attack_tool, t.agent_id,
      t.tag_name, t.changed_at, t.changed_by, r.host, coalesce(t.tag_name, r.tags, '') as hashtags
    from policy_tests t left join agent_rows r on r.agent_id = t.agent_id order by t.name_key`)

/** Adds or replaces a test. Throws 23505 if the name is taken. */
export const putRuleTest = (tx: Tx, t: RuleTestRow): Promise<unknown> =>
  tx.execute(sql`
    insert into policy_tests (test_id, name, name_key, expected, vid, pid, serial, kinds, fingerprint, is_attack_tool, agent_id, tag_name,
      changed_at, changed_by)
    values (${t.test_id}::uuid, ${t.name}, ${t.name_key}, ${t.expected}, ${t.vid}, ${t.pid}, ${t.serial}, ${t.kinds}::text[],
      ${t.fingerprint}, ${t.is_attack_tool}, ${t.agent_id}::uuid, ${t.tag_name}, ${t.changed_at}, ${t.changed_by})
    on conflict (test_id) do update set name = excluded.name, name_key = excluded.name_key, expected = excluded.expected,
      vid = excluded.vid, pid = excluded.pid, serial = excluded.serial, kinds = excluded.kinds, fingerprint = excluded.fingerprint,
      is_attack_tool = excluded.is_attack_tool, agent_id = excluded.agent_id, tag_name = excluded.tag_name,
      changed_at = excluded.changed_at, changed_by = excluded.changed_by`)

/** Gives the tests of a host to another record of the same computer. */
export const moveRuleTests = (tx: Tx, from: string, to: string): Promise<unknown> =>
  tx.execute(sql`update policy_tests t set agent_id = ${to}::uuid where t.agent_id = ${from}::uuid`)

export const removeRuleTest = (tx: Tx, id: string): Promise<unknown> =>
  tx.execute(sql`delete from policy_tests t where t.test_id = ${id}::uuid`)
