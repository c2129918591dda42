import {
  type Connection,
  connectionPlatforms,
  connectionStates,
  connectionStatusList,
  hostKeyTrusts,
  type PollFailure,
  pollCauses,
  pollFailures,
} from '@portcullis/contract'
import { mustExist } from '@portcullis/domain'
import type { Queryable } from '@portcullis/platform/server/db/db.ts'
import { raw, sql } from '@portcullis/platform/server/db/sql.ts'
import { contains, fold, isTime, isTrue, likePattern, oneOf } from '@portcullis/platform/server/list/columns.ts'
import type { ListSpec } from '@portcullis/platform/server/list/compile.ts'
import { listSpec } from '@portcullis/platform/server/list/spec.ts'
import { requireTime, utcSql, zonelessSql } from '@portcullis/platform/server/time.ts'
import { isSource } from './polls.store.ts'

const tags = `case when c.agent_id is null then array_to_string(c.tags, ',') else (select n.tags from agent_rows n where n.agent_id = c.agent_id) end`
const anyOf = (column: string, values: readonly string[]) =>
  oneOf(Object.fromEntries(values.map((value) => [value, `${column} = '${value}'`])))

/** How far the pinned host key is trusted: a password is sent only to a host with a confirmed key. */
const keyTrust = `case when c.host_key = '' then 'None' when c.host_key = c.confirmed_host_key then 'Confirmed' else 'FirstUse' end`

const rowSelect = `c.computer_name as "computerName", c.port as "port", c.platform as "platform", c.user_name as "userName",
    c.password is not null as "hasPassword", c.private_key is not null as "hasPrivateKey", c.passphrase is not null as "hasPassphrase",
    c.host_key as "hostKeyFingerprint", c.shown_host_key as "shownHostKeyFingerprint", ${keyTrust} as "hostKeyTrust", c.interval_minutes as "intervalMinutes", c.is_override as "isOverrideDefaults",
    ${tags} as "hashtags", c.is_registered as "isRegistered", c.is_confirmed as "isConfirmed", coalesce(c.agent_id::text, '') as "uuid",
    ${utcSql('c.created_at')} as "createdAt", ${utcSql('c.changed_at')} as "changedAt"`

/** Connections by name. Secrets are not columns, so nothing can list, filter or sort by them. */
export const connectionsList: ListSpec = {
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
    computerName: { sort: 'address_order(c.name_key)', filter: contains('c.name_key') },
    port: { sort: 'c.port' },
    platform: { sort: 'c.platform', filter: anyOf('c.platform', connectionPlatforms) },
    userName: { sort: 'lower(c.user_name)', filter: contains('lower(c.user_name)') },
    hasPassword: { sort: 'c.password is not null' },
    hasPrivateKey: { sort: 'c.private_key is not null' },
    hasPassphrase: { sort: 'c.passphrase is not null' },
    hostKeyFingerprint: { sort: 'c.host_key' },
    shownHostKeyFingerprint: { sort: 'c.shown_host_key' },
    hostKeyTrust: { sort: keyTrust, filter: anyOf(keyTrust, hostKeyTrusts) },
    intervalMinutes: { sort: 'c.interval_minutes' },
    isOverrideDefaults: { sort: 'c.is_override', filter: isTrue('c.is_override') },
    hashtags: {
      sort: tags,
      filter: (_field, text) =>
        sql`string_to_array(lower(${raw(tags)}), ',') && ${text.split(',').map((tag) => fold(tag.trim()))}::text[]`,
    },
    isConfirmed: { sort: 'c.is_confirmed', filter: isTrue('c.is_confirmed') },
    isRegistered: { sort: 'c.is_registered', filter: isTrue('c.is_registered') },
    uuid: { sort: 'c.agent_id' },
    createdAt: { sort: 'c.created_at' },
    changedAt: { sort: 'c.changed_at' },
  },
  rowJoins: 'join connections c on c.connection_id = ids.id',
  rowSelect,
}

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
  defaultSort: [{ key: 'computerName', descending: false }],
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
    StatusString: anyOf(state, connectionStates),
    StatusDescription: contains(`lower(${description})`),
    StatusErrorDescription: contains('lower(r.error)'),
    PrevRunningErrors: contains(`lower(${previous})`),
    StartTime: isTime('r.started_at'),
    FromTimeStart: (field, text) => sql`r.started_at >= ${requireTime(field, text).from.toISOString()}::timestamptz`,
    ToTimeStart: (field, text) => sql`r.started_at < ${requireTime(field, text).to.toISOString()}::timestamptz`,
    EndTime: isTime('r.ended_at'),
    FromTimeEnd: (field, text) => sql`r.ended_at >= ${requireTime(field, text).from.toISOString()}::timestamptz`,
    ToTimeEnd: (field, text) => sql`r.ended_at < ${requireTime(field, text).to.toISOString()}::timestamptz`,
    IsOverrideDefaults: isTrue('c.is_override'),
    Cause: anyOf(cause, pollFailures),
    HostKeyTrust: anyOf(keyTrust, hostKeyTrusts),
  },
  rowJoins: 'join connections c on c.connection_id = ids.id join connection_runs r on r.connection_id = ids.id',
})

export const createConnectionsRead = (db: Queryable) => ({
  /** Returns a connection in its shown form, in the transaction that changed it. */
  one: async (q: Queryable, key: string): Promise<Connection> =>
    mustExist(
      (await q.query<Connection>(sql`select ${raw(rowSelect)} from connections c where c.name_key = ${key}`))[0],
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
