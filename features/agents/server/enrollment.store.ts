import type { Queryable, Tx } from '@portcullis/platform/server/db/db.ts'
import { unnestOf } from '@portcullis/platform/server/db/ordered.ts'
import { raw, sql } from '@portcullis/platform/server/db/sql.ts'
import { utcSql } from '@portcullis/platform/server/time.ts'
import type { EnrollmentToken } from '#features/contract.ts'

export type EnrollmentStore = ReturnType<typeof createEnrollmentStore>

export interface TokenRow {
  token_id: string
  name: string
  secret_hash: Buffer
  created_at: Date
  created_by: string
  expires_at: Date
  max_uses: number
  uses: number
  hashtags: string[]
  allow_take_over: boolean
  revoked_at: Date | null
  /** Whether only the listed hosts can enrol. */
  has_list: boolean
}

/** The list of a token. */
export interface TokenList {
  total: number
  missing: number
  missing_names: string[]
}

type EnrolledHost = EnrollmentToken['hosts'][number]

export interface NewAgentRow {
  agentId: string
  host: string
  /** Null for a host without an agent. */
  publicKey: Buffer | null
  keyAlgorithm: string | null
  machineIdHash: string | null
  smbiosHash: string | null
  now: Date
  tokenId: string | null
  osId: number
  versionId: number
  agentless: boolean
  /** Number of the command key that it pins. */
  commandKey: number
}

export interface KnownHost {
  agent_id: string
  host: string
  address: string
  machine_id_hash: string | null
  smbios_hash: string | null
  macs: string[]
  connected: boolean
  armed: boolean
  /** A polled host, which never checks in itself. */
  agentless: boolean
}

/** Maximum number of links of a host. Thousands of boards can have one image, and each new one looks like the first. */
const maxLinks = 100

export const createEnrollmentStore = (db: Queryable) => ({
  tokens: (): Promise<(TokenRow & { hosts: EnrolledHost[]; list: TokenList | null })[]> =>
    db.query<TokenRow & { hosts: EnrolledHost[]; list: TokenList | null }>(sql`
      select e.*, (
        select coalesce(jsonb_agg(jsonb_build_object('uuid', h.agent_id, 'hostIdentifier', h.host, 'enrolledAt', ${raw(utcSql('h.enrolled_at'))})
          order by h.enrolled_at desc, h.agent_id), '[]')
        from (select a.agent_id, a.host, a.enrolled_at from agents a where a.enrollment_token_id = e.token_id
          order by a.enrolled_at desc, a.agent_id limit 5) h) as hosts,
        case when e.has_list then (
          select jsonb_build_object('total', count(*), 'missing', count(*) filter (where l.enrolled_at is null),
            'missing_names', coalesce((
              select jsonb_agg(m.host order by m.host) from (
                select n.host from enrollment_token_hosts n where n.token_id = e.token_id and n.enrolled_at is null
                order by n.host limit 100) m), '[]'))
          from enrollment_token_hosts l where l.token_id = e.token_id) end as list
      from enrollment_tokens e order by e.created_at desc, e.token_id desc limit 1000`),

  insertToken: async (tx: Tx, t: Omit<TokenRow, 'uses' | 'revoked_at'>): Promise<void> => {
    await tx.execute(sql`
      insert into enrollment_tokens (token_id, name, secret_hash, created_at, created_by, expires_at, max_uses, hashtags, allow_take_over, has_list)
      values (${t.token_id}, ${t.name}, ${t.secret_hash}, ${t.created_at}, ${t.created_by}, ${t.expires_at}, ${t.max_uses}, ${t.hashtags}, ${t.allow_take_over}, ${t.has_list})`)
  },

  insertList: async (tx: Tx, tokenId: string, hosts: readonly string[]): Promise<void> => {
    await tx.execute(
      sql`insert into enrollment_token_hosts (token_id, host) select ${tokenId}::uuid, unnest(${[...hosts]}::text[])`,
    )
  },

  /** Takes a name of the list; false if the list does not contain it or a host took it before. */
  takeListed: async (tx: Tx, tokenId: string, host: string, now: Date): Promise<boolean> =>
    (await tx.execute(sql`
      update enrollment_token_hosts l set enrolled_at = ${now}
      where l.token_id = ${tokenId} and l.host = ${host} and l.enrolled_at is null`)) === 1,

  revokeToken: (tx: Tx, tokenId: string, now: Date): Promise<{ name: string }[]> =>
    tx.query<{ name: string }>(
      sql`update enrollment_tokens e set revoked_at = ${now} where e.token_id = ${tokenId} and e.revoked_at is null returning e.name`,
    ),

  tokenById: async (tokenId: string): Promise<TokenRow | undefined> =>
    (await db.prepared<TokenRow>(sql`select * from enrollment_tokens e where e.token_id = ${tokenId}::uuid`))[0],

  /**
   * Takes one use of a token; false if it is used up, expired or revoked. The database decides, so two hosts cannot
   * share the last use.
   */
  useToken: async (tx: Tx, tokenId: string, now: Date): Promise<boolean> =>
    (await tx.execute(sql`
      update enrollment_tokens e set uses = e.uses + 1
      where e.token_id = ${tokenId} and e.uses < e.max_uses and e.expires_at > ${now} and e.revoked_at is null`)) === 1,

  /** Returns the agent that was enrolled with this key and token, if the response to that enrolment was lost. */
  agentOfKey: async (tx: Tx, publicKey: Buffer, tokenId: string): Promise<string | undefined> =>
    (
      await tx.query<{ agent_id: string }>(
        sql`select a.agent_id from agents a where a.public_key = ${publicKey} and a.enrollment_token_id = ${tokenId}`,
      )
    )[0]?.agent_id,

  /**
   * Locks and returns look-alikes, disconnected ones first: agents with the same firmware, or with the same machine ID
   * unless their firmware is known to differ.
   */
  lookAlikes: (tx: Tx, machineIdHash: string | null, smbiosHash: string | null): Promise<KnownHost[]> =>
    tx.query<KnownHost>(sql`
      with found as materialized (
        select a.agent_id from agents a join agent_rows r on r.agent_id = a.agent_id
        where a.smbios_hash = ${smbiosHash}::text
           or (a.machine_id_hash = ${machineIdHash}::text and (a.smbios_hash is null or ${smbiosHash}::text is null))
        order by r.connected and not r.agentless, a.enrolled_at limit 20),
      locked as materialized (
        select a.* from agents a where a.agent_id in (select f.agent_id from found f) order by a.agent_id for update)
      select l.agent_id, l.host, l.address, l.machine_id_hash, l.smbios_hash, r.connected, r.armed, r.agentless,
        (select coalesce(array_agg(n ->> 'mac'), '{}') from jsonb_array_elements(l.nics) n) as macs
      from locked l join agent_rows r on r.agent_id = l.agent_id
      order by r.connected and not r.agentless, l.enrolled_at`),

  insertAgent: async (tx: Tx, a: NewAgentRow): Promise<void> => {
    await tx.execute(sql`
      insert into agents (agent_id, host, address, public_key, key_algorithm, machine_id_hash, smbios_hash, enrolled_at, enrollment_token_id, facts)
      values (${a.agentId}, ${a.host}, '', ${a.publicKey}, ${a.keyAlgorithm}, ${a.machineIdHash}, ${a.smbiosHash}, ${a.now}, ${a.tokenId}, '{}')`)
    await tx.execute(sql`
      insert into agent_rows (agent_id, host, address, last_configured, first_seen, os_id, version_id, agentless)
      values (${a.agentId}, lower(${a.host}::text), '', ${a.now}, ${a.now}, ${a.osId}, ${a.versionId}, ${a.agentless})`)
    await tx.execute(sql`
      insert into agent_heartbeats (agent_id, last_seen, agentless, boot_id, command_key)
      values (${a.agentId}, ${a.now}, ${a.agentless}, case when ${a.agentless}::boolean then ${a.agentId}::uuid end, ${a.commandKey}::int)`)
  },

  /** Adds hosts that appear only in events of another system. */
  insertObserved: async (
    tx: Tx,
    now: Date,
    hosts: readonly Pick<NewAgentRow, 'agentId' | 'host' | 'osId' | 'versionId'>[],
  ): Promise<void> => {
    const added = unnestOf([
      [hosts.map((one) => one.agentId), 'uuid[]'],
      [hosts.map((one) => one.host), 'text[]'],
      [hosts.map((one) => one.osId), 'int[]'],
      [hosts.map((one) => one.versionId), 'int[]'],
    ])
    await tx.execute(sql`
      insert into agents (agent_id, host, address, enrolled_at, facts)
      select u.agent_id, u.host, '', ${now}::timestamptz, '{}' from ${added} u(agent_id, host, os_id, version_id) order by u.agent_id`)
    await tx.execute(sql`
      insert into agent_rows (agent_id, host, address, last_configured, first_seen, os_id, version_id, agentless, feed)
      select u.agent_id, lower(u.host), '', ${now}::timestamptz, ${now}::timestamptz, u.os_id, u.version_id, true, true
      from ${added} u(agent_id, host, os_id, version_id) order by u.agent_id`)
    await tx.execute(sql`
      insert into agent_heartbeats (agent_id, last_seen, agentless, boot_id, command_key)
      select u.agent_id, ${now}::timestamptz, true, u.agent_id, 0 from ${added} u(agent_id, host, os_id, version_id) order by u.agent_id`)
  },

  /**
   * Gives a known agent id a new key after its host was reinstalled or was polled before. Boots of the old key no
   * longer count.
   */
  replaceKey: async (
    tx: Tx,
    agentId: string,
    a: Pick<
      NewAgentRow,
      'publicKey' | 'keyAlgorithm' | 'machineIdHash' | 'smbiosHash' | 'now' | 'tokenId' | 'commandKey'
    >,
  ): Promise<void> => {
    await tx.execute(sql`
      update agents a set public_key = ${a.publicKey}, key_algorithm = ${a.keyAlgorithm}, machine_id_hash = ${a.machineIdHash},
        smbios_hash = ${a.smbiosHash}, enrolled_at = ${a.now}, enrollment_token_id = ${a.tokenId} where a.agent_id = ${agentId}`)
    await tx.execute(sql`update agent_rows r set agentless = false where r.agent_id = ${agentId} and r.agentless`)
    await tx.execute(
      sql`update agent_heartbeats h set boot_id = null, seq = 0, inventory_hash = null, agentless = false,
        command_key = ${a.commandKey}::int, follows_keys = false, bounded_proofs = false where h.agent_id = ${agentId}`,
    )
    await tx.execute(sql`delete from agent_boots b where b.agent_id = ${agentId}`)
  },

  /** Links agents that may be the same machine. */
  linkDuplicates: async (tx: Tx, agentIds: readonly string[]): Promise<void> => {
    await tx.execute(sql`
      update agents a set possible_duplicates = (a.possible_duplicates || array(
        select x from unnest(${agentIds}::uuid[]) x where x <> a.agent_id and x <> all(a.possible_duplicates)))[1:${maxLinks}::int]
      where a.agent_id = any(${agentIds}::uuid[])`)
  },
})
