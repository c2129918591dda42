import { mustExist } from '@portcullis/domain'
import type { Queryable } from '@portcullis/platform/server/db/db.ts'
import { raw, sql } from '@portcullis/platform/server/db/sql.ts'
import { contains, fold, likePattern } from '@portcullis/platform/server/list/columns.ts'
import { listSpec } from '@portcullis/platform/server/list/spec.ts'
import { requireTime, utcSql, zonelessSql } from '@portcullis/platform/server/time.ts'
import {
  type Connection,
  connectionList,
  connectionStatusList,
  type PollFailure,
  pollCauses,
} from '#features/contract.ts'
import { isSource } from './polls.store.ts'

const tags = `case when c.agent_id is null then array_to_string(c.tags, ',') else (select n.tags from agent_rows n where n.agent_id = c.agent_id) end`

/** How far the pinned host key is trusted: a password is sent only to a host with a confirmed key. */
const keyTrust = `case when c.host_key = '' then 'None' when c.host_key = c.confirmed_host_key then 'Confirmed' else 'FirstUse' end`

/** Connections by name. Secrets are not columns, so nothing can list, filter or sort by them. */
export const connectionsList = listSpec(connectionList, {
  name: 'connections',
  from: 'connections c',
  id: 'c.connection_id',
  ties: ['c.name_key'],
  defaultSort: [{ key: 'computerName', descending: false }],
  search: (needle) => {
    const pattern = likePattern(needle)
    return sql`(c.name_key like ${pattern}::text or lower(c.user_name) like ${pattern}::text or lower(${raw(tags)}) like ${pattern}::text)`
  },
  columns: {
    computerName: { select: 'c.computer_name', sort: 'address_order(c.name_key)' },
    port: 'c.port',
    platform: 'c.platform',
    userName: { select: 'c.user_name', sort: 'lower(c.user_name)' },
    hasPassword: 'c.password is not null',
    hasPrivateKey: 'c.private_key is not null',
    hasPassphrase: 'c.passphrase is not null',
    hostKeyFingerprint: 'c.host_key',
    shownHostKeyFingerprint: 'c.shown_host_key',
    hostKeyTrust: keyTrust,
    intervalMinutes: 'c.interval_minutes',
    isOverrideDefaults: 'c.is_override',
    hashtags: tags,
    isRegistered: 'c.is_registered',
    isConfirmed: 'c.is_confirmed',
    uuid: { select: "coalesce(c.agent_id::text, '')", sort: 'c.agent_id' },
    createdAt: { select: utcSql('c.created_at'), sort: 'c.created_at' },
    changedAt: { select: utcSql('c.changed_at'), sort: 'c.changed_at' },
  },
  filters: {
    ComputerName: contains('c.name_key'),
    Hashtags: (_field, text) =>
      sql`string_to_array(lower(${raw(tags)}), ',') && ${text.split(',').map((tag) => fold(tag.trim()))}::text[]`,
  },
  rowJoins: 'join connections c on c.connection_id = ids.id',
})

const running = `(r.lease_until is not null and r.started_at is not null and r.ended_at is null)`
const state = `case when not c.is_registered then 'Unregistered' when ${running} then 'Running' else r.state end`
const steps = `case r.step when 'resolve' then 'Resolving the name' when 'connect' then 'Connecting' when 'host-key' then 'Checking the host key'
  when 'sign-in' then 'Signing in' when 'read' then 'Reading devices' when 'understand' then 'Interpreting the output' else 'Running' end`
const description = `case when not c.is_registered then 'Not polled' when ${running} then ${steps}
  when r.state = 'Pending' then 'Waiting for the first poll' when r.state = 'Success' then r.peripherals || case r.peripherals when 1 then ' device' else ' devices' end
    || case when ${isSource} then '' when (select n.agentless from agent_rows n where n.agent_id = c.agent_id) then '; stored under another name of this host' else '; reported by the agent on this host' end
  when r.failures = 1 then 'Failed' else 'Failed ' || r.failures || ' times in a row' end`
const cause = `case when c.is_registered then r.cause end`
const previous = `array_to_string(r.prev_errors, ' | ')`

/** The last run of each connection, by name. */
export const statusList = listSpec(connectionStatusList, {
  name: 'connection-runs',
  from: 'connections c join connection_runs r on r.connection_id = c.connection_id',
  id: 'c.connection_id',
  ties: ['c.name_key'],
  search: (needle) => {
    const pattern = likePattern(needle)
    return sql`(c.name_key like ${pattern}::text or lower(r.error) like ${pattern}::text or lower(${raw(previous)}) like ${pattern}::text)`
  },
  columns: {
    computerName: { select: 'c.computer_name', sort: 'address_order(c.name_key)' },
    uuid: { select: `coalesce(c.agent_id::text, '')`, sort: 'c.agent_id' },
    statusString: state,
    statusDescription: description,
    statusErrorDescription: 'r.error',
    prevRunningErrors: previous,
    startTime: { select: zonelessSql('r.started_at'), sort: 'r.started_at' },
    endTime: { select: zonelessSql('r.ended_at'), sort: 'r.ended_at' },
    isOverrideDefaults: 'c.is_override',
    platform: 'c.platform',
    hostKeyTrust: keyTrust,
    peripheralsCount: 'r.peripherals',
    durationMs: { select: `case when ${running} then null else r.duration_ms end`, sort: 'r.duration_ms' },
    nextRun: { select: zonelessSql('r.next_run'), sort: 'r.next_run' },
    cause: cause,
    failures: 'r.failures',
  },
  filters: {
    ComputerName: contains('c.name_key'),
    StatusDescription: contains(`lower(${description})`),
    StatusErrorDescription: contains('lower(r.error)'),
    PrevRunningErrors: contains(`lower(${previous})`),
    FromTimeStart: (field, text) => sql`r.started_at >= ${requireTime(field, text).from.toISOString()}::timestamptz`,
    ToTimeStart: (field, text) => sql`r.started_at < ${requireTime(field, text).to.toISOString()}::timestamptz`,
    FromTimeEnd: (field, text) => sql`r.ended_at >= ${requireTime(field, text).from.toISOString()}::timestamptz`,
    ToTimeEnd: (field, text) => sql`r.ended_at < ${requireTime(field, text).to.toISOString()}::timestamptz`,
  },
  rowJoins: 'join connections c on c.connection_id = ids.id join connection_runs r on r.connection_id = ids.id',
})

export const createConnectionsRead = (db: Queryable) => ({
  /** Returns a connection in its shown form, in the transaction that changed it. */
  one: async (q: Queryable, key: string): Promise<Connection> =>
    mustExist(
      (
        await q.query<Connection>(
          sql`select ${raw(connectionsList.rowSelect)} from connections c where c.name_key = ${key}`,
        )
      )[0],
      'the connection',
    ),

  /** Counts failing connections by cause, most first. */
  causes: async () => {
    const rows = await db.query<{ cause: PollFailure; count: number; names: string[] }>(sql`
      select r.cause, count(*)::int as count, (array_agg(c.computer_name order by c.name_key))[1:5] as names
      from connection_runs r join connections c on c.connection_id = r.connection_id and c.is_registered
      where r.cause is not null group by r.cause order by count desc, r.cause`)
    return {
      data: rows.map(({ cause, count, names }) => ({ cause, ...pollCauses[cause], count, computerNames: names })),
    }
  },
})
