import { statfs } from 'node:fs/promises'
import type { HealthStatus } from '@portcullis/contract'
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

/** A bare query takes under 5 ms on any database that is well; at a quarter of a second lists are seconds. */
const slowQueryMs = 250

export const databaseProbe =
  (read: HealthRead): Probe =>
  async () => {
    const startedAt = performance.now()
    await read.ping()
    const took = performance.now() - startedAt
    return {
      status: took > slowQueryMs ? 'Warning' : 'OK',
      description: `Answers in ${took.toFixed(1)} ms.`,
    }
  }

/** PostgreSQL stops at a full disk, and every acknowledged report needs room: warn while there is time to act. */
export const diskProbe =
  (folder: string): Probe =>
  async () => {
    const { bsize, blocks, bavail } = await statfs(folder)
    const share = blocks === 0 ? 0 : bavail / blocks
    const gigabytes = (bavail * bsize) / 1e9
    const status = share < 0.03 || gigabytes < 0.5 ? 'Error' : share < 0.1 ? 'Warning' : 'OK'
    return { status, description: `${gigabytes.toFixed(1)} GB free (${(share * 100).toFixed(0)} %) for the data.` }
  }

/** Tokens, sessions and agents' times are judged by this clock; another machine's shows when it is wrong. */
export const clockProbe =
  (read: HealthRead, clock: Clock): Probe =>
  async () => {
    const before = clock.now()
    const theirs = await read.now()
    const skew = Math.abs(theirs.getTime() - (before + clock.now()) / 2) / 1000
    return {
      status: skew > 30 ? 'Error' : skew > 2 ? 'Warning' : 'OK',
      description: `${skew.toFixed(1)} s apart from the clock of the database.`,
    }
  }

export const agentGatewayProbe =
  (ingest: () => IngestFigures, fleet: () => Promise<FleetFigures>): Probe =>
  async () => {
    const { total, connected } = await fleet()
    const rate = ingest().checkInsPerSecond
    // One silent host is its own matter; when most are, it is the gateway or the way to it.
    const isMostlySilent = total >= 10 && connected < total / 2
    return {
      status: isMostlySilent ? 'Warning' : 'OK',
      description: `${connected} of ${total} agents connected, ${rate.toFixed(1)} check-ins per second.`,
    }
  }

/** At 20,000 reports a second, half a second of work; more means that the database does not keep up. */
const longQueue = 10_000

export const eventProcessingProbe =
  (read: HealthRead, ingest: () => IngestFigures): Probe =>
  async () => {
    const newest = await read.newestEventId()
    const { queueDepth } = ingest()
    return {
      status: queueDepth > 4 * longQueue ? 'Error' : queueDepth > longQueue ? 'Warning' : 'OK',
      description: `${queueDepth} reports wait to be stored; the newest event is ${newest}.`,
    }
  }
