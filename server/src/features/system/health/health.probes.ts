import { statfs } from 'node:fs/promises'
import type { HealthStatus } from '@portcullis/contract'
import type { Thresholds } from '#features/system/settings/index.ts'
import type { Clock } from '#platform/clock.ts'
import type { HealthRead } from './health.read.ts'

/** What a probe saw. */
export interface ProbeResult {
  status: HealthStatus
  description: string
}
/** Looks at one part of the product for real; a throw counts as Error. */
export type Probe = () => Promise<ProbeResult>

/** What ingest tells of itself. */
export interface IngestFigures {
  /** Reports that wait to be stored. */
  queueDepth: number
  /** Over the last minute. */
  checkInsPerSecond: number
}

/** What the fleet tells of itself. */
export interface FleetFigures {
  total: number
  connected: number
}

/** Somebody who reads all events in their order, and how many he has not read yet. */
export interface Follower {
  name: string
  behind: number
}

/** Warning and Error from a value that is worse the higher it is. */
const above = (value: number, warning: number, error: number): HealthStatus =>
  value > error ? 'Error' : value > warning ? 'Warning' : 'OK'

export const databaseProbe =
  (read: HealthRead, thresholds: Thresholds): Probe =>
  async () => {
    const startedAt = performance.now()
    await read.ping()
    const took = performance.now() - startedAt
    return {
      status: above(took, thresholds('DATABASE_WARNING_MS'), thresholds('DATABASE_ERROR_MS')),
      description: `Answers in ${took.toFixed(1)} ms.`,
    }
  }

/** PostgreSQL stops at a full disk, and every acknowledged report needs room: warn while there is time to act. */
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

/** Connected hosts whose clocks are so many seconds and more from the server's, and the one that is furthest. */
export type HostClocks = (
  seconds: number,
) => Promise<{ hosts: number; worst: { hostIdentifier: string; seconds: number } | null }>

/** Minutes as people say them. */
const apart = (seconds: number): string => {
  const minutes = Math.round(Math.abs(seconds) / 60)
  const length = minutes < 120 ? `${minutes} min` : `${Math.round(minutes / 60)} h`
  return `${length} ${seconds < 0 ? 'behind' : 'ahead'}`
}

/** Tokens, sessions and agents' times are judged by this clock; another machine's shows when it is wrong. */
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
        `${skew.toFixed(1)} s apart from the clock of the database.`,
        ...(worst === null
          ? []
          : [
              `${hosts} ${hosts === 1 ? 'host has a clock' : 'hosts have clocks'} that ${hosts === 1 ? 'is' : 'are'} wrong; ${worst.hostIdentifier} is ${apart(worst.seconds)}.`,
            ]),
      ].join(' '),
    }
  }

export const agentGatewayProbe =
  (ingest: () => IngestFigures, fleet: () => Promise<FleetFigures>, thresholds: Thresholds): Probe =>
  async () => {
    const { total, connected } = await fleet()
    const rate = ingest().checkInsPerSecond
    // One silent host is its own matter; when most are, it is the gateway or the way to it.
    const isMostlySilent =
      total >= thresholds('SILENT_MIN_HOSTS') && (total - connected) * 100 > total * thresholds('SILENT_PERCENT')
    return {
      status: isMostlySilent ? 'Warning' : 'OK',
      description: `${connected} of ${total} agents connected, ${rate.toFixed(1)} check-ins per second.`,
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

/** A set that nobody renewed misses what came on the market since. */
export const knowledgeProbe =
  (age: () => { version: string; ageDays: number }, thresholds: Thresholds): Probe =>
  async () => {
    const { version, ageDays } = age()
    return {
      status: ageDays > thresholds('KNOWLEDGE_DAYS') ? 'Warning' : 'OK',
      description: `Version ${version}, ${ageDays} ${ageDays === 1 ? 'day' : 'days'} old.`,
    }
  }

/** `madeAt`: of the newest backup that was read to its end; null: none was made here. */
export const backupsProbe =
  (newest: () => Promise<Date | null>, clock: Clock, thresholds: Thresholds): Probe =>
  async () => {
    const madeAt = await newest()
    if (madeAt === null) return { status: 'Unknown', description: 'No backup was made by this product yet.' }
    const days = Math.max(0, clock.now() - madeAt.getTime()) / 86_400_000
    return {
      status: above(days, thresholds('BACKUP_WARNING_DAYS'), thresholds('BACKUP_ERROR_DAYS')),
      description: `The newest backup was made ${days < 1 ? 'less than a day' : days < 2 ? '1 day' : `${Math.floor(days)} days`} ago.`,
    }
  }
