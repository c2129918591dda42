import { statfs } from 'node:fs/promises'
import { countText } from '@portcullis/domain'
import type { Clock } from '@portcullis/platform/server/clock.ts'
import { confirmationsOf } from '@portcullis/platform/server/failover/members.ts'
import type { HealthStatus } from '#features/contract.ts'
import type { Thresholds } from '#features/settings/server/index.ts'
import type { HealthRead, Replication } from './health.read.ts'

export interface ProbeResult {
  status: HealthStatus
  description: string
}
/** Tests one subsystem. An error thrown counts as status Error. */
export type Probe = () => Promise<ProbeResult>

export interface IngestFigures {
  queueDepth: number
  /** Average over the last minute. */
  checkInsPerSecond: number
}

export interface FleetFigures {
  total: number
  connected: number
}

/** A consumer that reads all events in order, and its number of unread events. */
export interface Follower {
  name: string
  behind: number
}

/** Compares a value with two thresholds; higher is worse. */
const above = (value: number, warning: number, error: number): HealthStatus =>
  value > error ? 'Error' : value > warning ? 'Warning' : 'OK'

/** Evaluates the replication. Null: the database neither has a standby nor waits for one. */
export const evaluateReplication = ({
  synchronous,
  standbys,
  confirming,
  lagSeconds,
}: Replication): ProbeResult | null => {
  const needed = confirmationsOf(synchronous)
  if (needed === 0 && standbys === 0) return null
  const lag = lagSeconds === null ? '' : `, the slowest ${lagSeconds.toFixed(1)} s behind`
  const connected = `${standbys} ${standbys === 1 ? 'standby' : 'standbys'} connected${lag}`
  if (needed === 0) return { status: 'OK', description: `${connected}. Replication is asynchronous.` }
  // Without pg_monitor, only the number of connected standbys is visible.
  const able = confirming ?? standbys
  return able < needed
    ? {
        status: 'Warning',
        description: `Changes cannot be stored: ${needed} of the standbys in synchronous_standby_names must confirm each commit, and ${able} can.`,
      }
    : {
        status: 'OK',
        description: `${connected}.${confirming === null ? '' : ` ${confirming} can confirm commits; ${needed} must.`}`,
      }
}

export const databaseProbe =
  (read: HealthRead, thresholds: Thresholds): Probe =>
  async () => {
    const startedAt = performance.now()
    await read.ping()
    const took = performance.now() - startedAt
    const status = above(took, thresholds('DATABASE_WARNING_MS'), thresholds('DATABASE_ERROR_MS'))
    const replication = evaluateReplication(await read.replication())
    return {
      status: status === 'OK' && replication !== null ? replication.status : status,
      description: [
        `Answers in ${took.toFixed(1)} ms.`,
        ...(replication === null ? [] : [replication.description]),
      ].join(' '),
    }
  }

/** PostgreSQL stops when the disk is full, so the probe warns early. */
export const diskProbe =
  (folder: string, thresholds: Thresholds): Probe =>
  async () => {
    const { bsize, blocks, bavail } = await statfs(folder)
    const percent = blocks === 0 ? 0 : (bavail / blocks) * 100
    const gigabytes = (bavail * bsize) / 1e9
    const isBelow = (level: 'WARNING' | 'ERROR'): boolean =>
      percent < thresholds(`DISK_${level}_PERCENT`) || gigabytes < thresholds(`DISK_${level}_GB`)
    return {
      status: isBelow('ERROR') ? 'Error' : isBelow('WARNING') ? 'Warning' : 'OK',
      description: `${gigabytes.toFixed(1)} GB free (${percent.toFixed(0)} %) for the data.`,
    }
  }

/** Returns the connected hosts whose clock is off by at least this many seconds, and the worst one. */
export type HostClocks = (
  seconds: number,
) => Promise<{ hosts: number; worst: { hostIdentifier: string; seconds: number } | null }>

/** Formats a clock difference in readable form. */
const apart = (seconds: number): string => {
  const minutes = Math.round(Math.abs(seconds) / 60)
  const length = minutes < 120 ? `${minutes} min` : `${Math.round(minutes / 60)} h`
  return `${length} ${seconds < 0 ? 'behind' : 'ahead'}`
}

/** Compares this clock, which tokens, sessions and agent times depend on, with that of the database and of hosts. */
export const clockProbe =
  (read: HealthRead, clock: Clock, hostClocks: HostClocks, thresholds: Thresholds): Probe =>
  async () => {
    const before = clock.now()
    const theirs = await read.now()
    const skew = Math.abs(theirs.getTime() - (before + clock.now()) / 2) / 1000
    const status = above(skew, thresholds('CLOCK_WARNING_SECONDS'), thresholds('CLOCK_ERROR_SECONDS'))
    const { hosts, worst } = await hostClocks(thresholds('HOST_CLOCK_SECONDS'))
    return {
      status: status === 'OK' && worst !== null ? 'Warning' : status,
      description: [
        `${skew.toFixed(1)} s difference from the database clock.`,
        ...(worst === null
          ? []
          : [
              `${hosts} ${hosts === 1 ? 'host has a wrong clock' : 'hosts have wrong clocks'}; ${worst.hostIdentifier} is ${apart(worst.seconds)}.`,
            ]),
      ].join(' '),
    }
  }

export const agentGatewayProbe =
  (ingest: () => IngestFigures, fleet: () => Promise<FleetFigures>, thresholds: Thresholds): Probe =>
  async () => {
    const { total, connected } = await fleet()
    const rate = ingest().checkInsPerSecond
    // Single disconnected hosts are normal. If most are disconnected, the gateway or the path to it is at fault.
    const isMostlySilent =
      total >= thresholds('SILENT_MIN_HOSTS') && (total - connected) * 100 > total * thresholds('SILENT_PERCENT')
    return {
      status: isMostlySilent ? 'Warning' : 'OK',
      description: `${connected} of ${countText(total, 'host')} connected, ${rate.toFixed(1)} check-ins per second.`,
    }
  }

export const eventProcessingProbe =
  (
    read: HealthRead,
    ingest: () => IngestFigures,
    followers: () => Promise<readonly Follower[]>,
    thresholds: Thresholds,
  ): Probe =>
  async () => {
    const [newest, all] = await Promise.all([read.newestEventId(), followers()])
    const { queueDepth } = ingest()
    const last = all.reduce<Follower | null>((a, b) => (a === null || b.behind > a.behind ? b : a), null)
    const isBehind = last !== null && last.behind > thresholds('FOLLOWER_WARNING')
    const status = above(queueDepth, thresholds('QUEUE_WARNING'), thresholds('QUEUE_ERROR'))
    return {
      status: status === 'OK' && isBehind ? 'Warning' : status,
      description: [
        `${queueDepth} reports wait to be stored; the newest event is ${newest}.`,
        ...(last === null ? [] : [`Furthest behind: ${last.name}, by ${last.behind} events.`]),
      ].join(' '),
    }
  }

/** Warns about an old knowledge set, which lacks recent devices. */
export const knowledgeProbe =
  (age: () => { version: string; ageDays: number }, thresholds: Thresholds): Probe =>
  async () => {
    const { version, ageDays } = age()
    return {
      status: ageDays > thresholds('KNOWLEDGE_DAYS') ? 'Warning' : 'OK',
      description: `Version ${version}, ${ageDays} ${ageDays === 1 ? 'day' : 'days'} old.`,
    }
  }

/**
 * Warns about an old backup, and about scheduled backups that fail. `newest` returns when the newest completed backup was
 * made; null: none. `scheduled` returns the state of the scheduled backups; null: disabled.
 */
export const backupsProbe =
  (
    newest: () => Promise<Date | null>,
    scheduled: () => Promise<ProbeResult | null>,
    { clock, thresholds }: { clock: Clock; thresholds: Thresholds },
  ): Probe =>
  async () => {
    const [madeAt, plan] = await Promise.all([newest(), scheduled()])
    if (madeAt === null)
      return plan === null
        ? { status: 'Unknown', description: 'No backup has been made yet.' }
        : { status: plan.status, description: `No backup has been made yet. ${plan.description}`.trim() }
    const days = Math.max(0, clock.now() - madeAt.getTime()) / 86_400_000
    const age = above(days, thresholds('BACKUP_WARNING_DAYS'), thresholds('BACKUP_ERROR_DAYS'))
    const text = `The newest backup was made ${days < 1 ? 'less than a day' : days < 2 ? '1 day' : `${Math.floor(days)} days`} ago.`
    if (plan === null) return { status: age, description: text }
    const isAgeWorse = age === 'Error' || (age === 'Warning' && plan.status === 'OK')
    return {
      status: isAgeWorse ? age : plan.status,
      description: (plan.status === 'OK' ? [text, plan.description] : [plan.description, text]).join(' ').trim(),
    }
  }
