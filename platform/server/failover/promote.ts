/** Promotes a standby, so that no acknowledged change is lost and the former primary cannot acknowledge another. */
import { spawn } from 'node:child_process'
import { setTimeout as sleep } from 'node:timers/promises'
import type pg from 'pg'
import type { DatabaseHost } from '../db/hosts.ts'
import { onNode, primaryOf } from '../db/nodes.ts'
import {
  commandWithinMs,
  confirmationsOf,
  detachedHost,
  isDetached,
  isMember,
  labelOf,
  type Member,
  type MemberState,
  readMember,
  withSender,
} from './members.ts'

export interface PromoteOptions {
  hosts: readonly DatabaseHost[]
  /** Name of the host to promote. Default: the standby with the most log, if no primary answers. */
  to?: string | undefined
  /** Promotes even if acknowledged changes may be lost. */
  acceptsLoss: boolean
  /** Describes the steps without changing anything. */
  isDryRun: boolean
  /** Command that stops the former primary. */
  stopCommand?: string | undefined
  say(line: string): void
}

/** The promotion would lose acknowledged changes, or cannot be done. Nothing was changed. */
export class PromotionRefused extends Error {
  override readonly name = 'PromotionRefused'
}

/** A step failed. Running the command again continues. */
export class PromotionFailed extends Error {
  override readonly name = 'PromotionFailed'
}

const stepWithinMs = 30_000
const checkpointWithinMs = 60_000
/** A standby that replays nothing for this long has replayed all that it can. */
const stalledMs = 1_000

const command = <T>(
  member: Pick<Member, 'host'>,
  work: (client: pg.Client) => Promise<T>,
  withinMs = commandWithinMs,
) => onNode(member.host, work, { withinMs, name: 'failover' })

/** Reads a server until it is as expected. Throws after half a minute. */
const until = async (member: Member, what: string, isDone: (now: MemberState) => boolean): Promise<MemberState> => {
  const end = performance.now() + stepWithinMs
  for (;;) {
    const now = await readMember(member.host)
    if (isMember(now) && isDone(now)) return now
    if (performance.now() > end) throw new PromotionFailed(`${labelOf(member)} ${what}. See its log.`)
    await sleep(100)
  }
}

const alter = (member: Pick<Member, 'host'>, settings: Readonly<Record<string, string>>): Promise<void> =>
  command(member, async (client) => {
    for (const [name, value] of Object.entries(settings))
      await client.query(`alter system set ${name} = ${client.escapeLiteral(value)}`)
    await client.query('select pg_reload_conf()')
  })

/**
 * Returns primary_conninfo of a standby with another host.
 * @throws PromotionRefused if it cannot be read
 */
const senderFor = (standby: MemberState, host: string, port: number): string => {
  const { conninfo } = standby
  if (conninfo === null)
    throw new PromotionRefused(`The role may not read primary_conninfo of ${labelOf(standby)}. Grant it pg_monitor.`)
  const changed = withSender(conninfo, host, port)
  if (changed === null)
    throw new PromotionRefused(
      `primary_conninfo of ${labelOf(standby)} is not in the form "user=… host=…". Write it in that form.`,
    )
  return changed
}

/** Points a standby at another server, or at none. */
const follow = (standby: MemberState, host: string, port: number): Promise<void> =>
  alter(standby, { primary_conninfo: senderFor(standby, host, port) })

/** Waits until a detached standby has replayed the log that it stored. */
const replayAll = async (standby: MemberState): Promise<MemberState> => {
  let seen = standby
  let since = performance.now()
  for (;;) {
    const now = await readMember(standby.host)
    if (!isMember(now)) throw new PromotionFailed(`${labelOf(standby)} ${now.reason}`)
    if (now.replayed >= now.position) return now
    if (now.replayed > seen.replayed) since = performance.now()
    else if (performance.now() - since > stalledMs) return now
    seen = now
    await sleep(50)
  }
}

/** Stops changes on a primary that still answers, and ends the connections of its clients. */
const fence = (primary: MemberState): Promise<void> =>
  command(primary, async (client) => {
    await client.query('alter system set default_transaction_read_only = on')
    await client.query('select pg_reload_conf()')
    await client.query(
      `select pg_terminate_backend(a.pid) from pg_stat_activity a join pg_roles r on r.oid = a.usesysid
       where a.backend_type = 'client backend' and a.pid <> pg_backend_pid() and not r.rolsuper`,
    )
  })

const runCommand = (text: string): Promise<number> =>
  new Promise((resolve) => {
    const child = spawn('sh', ['-c', text], { stdio: ['ignore', 'inherit', 'inherit'] })
    child.once('error', () => resolve(127))
    child.once('exit', (code) => resolve(code ?? 1))
  })

const newer = (a: MemberState, b: MemberState): number => b.timeline - a.timeline || b.position - a.position

const named = (member: Member, name: string): boolean => member.host.host === name || labelOf(member) === name

const listOf = (members: readonly Member[]): string =>
  members.map((one) => `${labelOf(one)} ${isMember(one) ? 'is reachable' : one.reason}`).join(', ')

/** Returns the primary in use; null: none answers. */
const currentPrimary = (members: readonly Member[]): MemberState | null => {
  try {
    const { host } = primaryOf(members)
    return members.filter(isMember).find((member) => member.host === host) ?? null
  } catch {
    return null
  }
}

/** Reconnects standbys that follow no server or a former primary. */
const reattach = async (
  primary: MemberState,
  standbys: readonly MemberState[],
  { say }: Pick<PromoteOptions, 'say'>,
): Promise<void> => {
  const { host, port } = primary.host
  for (const standby of standbys) {
    say(`pointing ${labelOf(standby)} at ${labelOf(primary)}`)
    await follow(standby, host, port)
  }
  for (const standby of standbys) {
    await until(
      standby,
      `does not follow ${labelOf(primary)}; commits wait for a standby until it does`,
      ({ follows, timeline }) => follows !== null && timeline === primary.timeline,
    )
    say(`${labelOf(standby)} follows ${labelOf(primary)} on timeline ${primary.timeline}`)
  }
}

interface Decision {
  /** The primary of the newest timeline, if it answers. */
  former: MemberState | null
  standbys: MemberState[]
  synchronous: string
  /** Whether the reachable standbys have every acknowledged change between them, and can prevent another. */
  isSafe: boolean
}

/** Decides whether a promotion is safe. Changes nothing. */
const decide = (members: readonly Member[], options: PromoteOptions): Decision => {
  const { to, acceptsLoss, hosts } = options
  const reachable = members.filter(isMember)
  const newest = Math.max(...reachable.map(({ timeline }) => timeline))
  const all = reachable.filter(({ isStandby }) => isStandby)
  // A standby on an older timeline diverged: it confirms nothing and cannot be promoted.
  const standbys = all.filter(({ timeline }) => timeline === newest)
  const former = reachable.find(({ isStandby, timeline }) => !isStandby && timeline === newest) ?? null
  if (new Set(reachable.map(({ system }) => system)).size > 1)
    throw new PromotionRefused('The hosts of the database address belong to different clusters.')
  const stale = all.find((one) => one.timeline < newest && to !== undefined && named(one, to))
  if (stale !== undefined)
    throw new PromotionRefused(
      `${labelOf(stale)} is on timeline ${stale.timeline}, not ${newest}. Rebuild it with pg_rewind or pg_basebackup.`,
    )
  if (standbys.length === 0) throw new PromotionRefused(`No standby is reachable: ${listOf(members)}.`)
  if (to !== undefined && !standbys.some((standby) => named(standby, to)))
    throw new PromotionRefused(`${to} is not a reachable standby: ${listOf(members)}.`)
  for (const standby of standbys) senderFor(standby, detachedHost, standby.host.port)
  const synchronous = reachable.map((one) => one.synchronous).find((value) => value.trim() !== '') ?? ''
  const confirmations = confirmationsOf(synchronous)
  const needed = Math.max(1, hosts.length - Math.max(confirmations, 1))
  const isSafe = confirmations > 0 && standbys.length >= needed
  // A primary that answers shows how much log there is.
  if (isSafe || acceptsLoss || former !== null) return { former, standbys, synchronous, isSafe }
  throw new PromotionRefused(
    confirmations === 0
      ? 'Replication is asynchronous, so the last acknowledged changes may exist on the former primary only. Start it, or run this command again with --accept-loss.'
      : `${needed} standbys must be reachable, because any of them may be the only one with the last acknowledged changes: ${listOf(members)}. Start the others, or run this command again with --accept-loss.`,
  )
}

/** Makes a primary that answers read-only, and waits until its standbys have its log. */
const quiesce = async (
  former: MemberState,
  { standbys, isSafe }: Decision,
  { acceptsLoss, say }: PromoteOptions,
): Promise<void> => {
  say(`making ${labelOf(former)} read-only and ending its connections`)
  const isFenced = await fence(former).then(
    () => true,
    (error: Error) => {
      say(`  not possible: ${error.message}`)
      return false
    },
  )
  const end = performance.now() + commandWithinMs
  for (;;) {
    const [last, ...now] = await Promise.all([former, ...standbys].map(({ host }) => readMember(host)))
    const position = last !== undefined && isMember(last) ? last.position : former.position
    if (isFenced && now.some((standby) => isMember(standby) && standby.position >= position)) return
    if (performance.now() > end || !isFenced) break
    await sleep(100)
  }
  if (isSafe || acceptsLoss) return
  await alter(former, { default_transaction_read_only: 'off' }).catch(() => {})
  throw new PromotionRefused(
    `No reachable standby has the whole log of ${labelOf(former)}, so acknowledged changes would be lost. Wait until one has caught up, or run this command again with --accept-loss.`,
  )
}

/** Fences the former primary: by itself if it answers, and by taking its standbys away in any case. */
const isolate = async (decision: Decision, options: PromoteOptions): Promise<void> => {
  const { former, standbys } = decision
  const { say, stopCommand } = options
  if (former !== null) await quiesce(former, decision, options)
  for (const standby of standbys) {
    say(`detaching ${labelOf(standby)}${standby.follows === null ? '' : ` from ${standby.follows}`}`)
    await follow(standby, detachedHost, standby.host.port)
  }
  for (const standby of standbys) await until(standby, 'still follows its primary', ({ follows }) => follows === null)
  say('no reachable standby confirms commits of the former primary any more')
  if (stopCommand === undefined) return
  say(`stopping the former primary: ${stopCommand}`)
  const code = await runCommand(stopCommand)
  if (code !== 0) say(`  the command failed with exit code ${code}; the former primary stays fenced`)
}

/** Turns synchronous replication on if enough standbys follow the primary, and else off, or commits would wait. */
const synchronise = async (
  primary: MemberState,
  standbys: number,
  synchronous: string,
  { say }: Pick<PromoteOptions, 'say'>,
): Promise<void> => {
  const wanted = standbys >= confirmationsOf(synchronous) ? synchronous : ''
  if (wanted === primary.synchronous) return
  await alter(primary, { synchronous_standby_names: wanted })
  say(
    wanted === ''
      ? `synchronous replication is off on ${labelOf(primary)}, because no standby can confirm commits; run this command again once one follows`
      : `set synchronous_standby_names to '${wanted}' on ${labelOf(primary)}`,
  )
}

interface Choice {
  chosen: MemberState
  others: MemberState[]
}

/** Waits until the standbys have replayed their log, and returns the one to promote. */
const choose = async ({ standbys }: Decision, { to, acceptsLoss }: PromoteOptions): Promise<Choice> => {
  const ready = (await Promise.all(standbys.map(replayAll))).sort(newer)
  const [newest] = ready as [MemberState]
  const chosen = (to === undefined ? newest : ready.find((one) => named(one, to))) as MemberState
  if (newer(chosen, newest) > 0 && !acceptsLoss)
    throw new PromotionFailed(
      `${labelOf(newest)} has more log than ${labelOf(chosen)}. Run this command again with --to ${labelOf(newest)}.`,
    )
  return { chosen, others: ready.filter((one) => one !== chosen) }
}

/** Returns the service to a former primary that answers, after a failure before the promotion. */
const undo = async ({ former, standbys }: Decision, { say }: PromoteOptions): Promise<void> => {
  if (former === null || former.isFenced) return
  say(`not promoted; ${labelOf(former)} stays the primary`)
  const { host, port } = former.host
  await Promise.all([
    alter(former, { default_transaction_read_only: 'off' }).catch(() => {}),
    ...standbys.map((standby) => follow(standby, host, port).catch(() => {})),
  ])
}

const raise = async ({ chosen, others }: Choice, { synchronous }: Decision, { say }: PromoteOptions): Promise<void> => {
  say(`promoting ${labelOf(chosen)}, which has the most log`)
  const isPromoted = await command(
    chosen,
    async (client) => (await client.query<{ ok: boolean }>('select pg_promote(true, 60) as ok')).rows[0]?.ok,
    70_000,
  )
  if (isPromoted !== true) throw new PromotionFailed(`${labelOf(chosen)} was not promoted within 60 s. See its log.`)
  const primary = await until(chosen, 'is still a standby', ({ isStandby }) => !isStandby)
  say(`${labelOf(primary)} is the primary on timeline ${primary.timeline}`)
  if (primary.isFenced) await alter(primary, { default_transaction_read_only: 'off' })
  await synchronise(primary, others.length, synchronous, { say })
  await reattach(primary, others, { say })
  // pg_rewind compares control files, and takes the former primary for unchanged until the timeline is in this one.
  await command(primary, (client) => client.query('checkpoint'), checkpointWithinMs).then(
    () => say('wrote a checkpoint, so pg_rewind can bring the former primary back'),
    ({ message }: Error) =>
      say(`run CHECKPOINT on ${labelOf(primary)} before you use pg_rewind; this role could not: ${message}`),
  )
}

/**
 * Promotes a standby: fences the former primary, chooses the standby with the most log, promotes it, and lets the others
 * follow it. If a primary is in use, only reconnects its standbys, unless `to` names another server.
 *
 * @throws PromotionRefused before it changes anything
 * @throws PromotionFailed
 */
export const promote = async (options: PromoteOptions): Promise<void> => {
  const { hosts, to, isDryRun, stopCommand, say } = options
  const members = await Promise.all(hosts.map(readMember))
  const primary = currentPrimary(members)
  if (primary !== null && (to === undefined || named(primary, to))) {
    const lost = members
      .filter(isMember)
      .filter((one) => one.isStandby && (isDetached(one) || one.follows === null || one.timeline < primary.timeline))
    say(`${labelOf(primary)} is the primary on timeline ${primary.timeline}`)
    const standbys = members.filter(isMember).filter(({ isStandby }) => isStandby)
    const synchronous = standbys.map((one) => one.synchronous).find((value) => value.trim() !== '') ?? ''
    const isOff = primary.synchronous === '' && standbys.length >= Math.max(1, confirmationsOf(synchronous))
    if (lost.length === 0 && !(isOff && synchronous !== '')) return say('nothing to do')
    if (isDryRun) return say(`would point at it: ${lost.map(labelOf).join(', ')}`)
    await reattach(primary, lost, options)
    if (isOff) await synchronise(primary, standbys.length, synchronous, options)
    return
  }
  const decision = decide(members, options)
  if (isDryRun) {
    const { former, standbys } = decision
    if (former !== null) say(`would make ${labelOf(former)} read-only and end its connections`)
    say(`would detach from the former primary: ${standbys.map(labelOf).join(', ')}`)
    if (stopCommand !== undefined) say(`would stop the former primary: ${stopCommand}`)
    const first = to === undefined ? standbys.toSorted(newer)[0] : standbys.find((one) => named(one, to))
    return say(`would promote ${labelOf(first as MemberState)}, and let the others follow it`)
  }
  const chosen = await isolate(decision, options)
    .then(() => choose(decision, options))
    .catch(async (error: unknown) => {
      await undo(decision, options)
      throw error
    })
  await raise(chosen, decision, options)
  say('done')
}
