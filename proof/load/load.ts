/** Measures the cost of a fleet before any request: loading time, size on disk, and the server's memory. */

import { residentBytes } from '../kit/proc.ts'
import { figure, round } from '../kit/verdict.ts'
import type { Prepared } from './fleet.ts'
import type { BenchResult } from './result.ts'

const megabyte = 1024 * 1024

export const describeLoad = async ({ server, client, fleet, loadSeconds }: Prepared): Promise<BenchResult> => {
  const { rows } = await client.query<{ events: string; whole: string; n: string }>(
    `SELECT (SELECT sum(pg_total_relation_size(inhrelid)) FROM pg_inherits WHERE inhparent = 'events'::regclass) AS events,
       pg_database_size(current_database()) AS whole, (SELECT count(*) FROM events) AS n`,
  )
  const [events = 0, whole = 0, n = 0] = [rows[0]?.events, rows[0]?.whole, rows[0]?.n].map(Number)
  return {
    what: `${fleet.agents} hosts with ${fleet.peripherals} peripherals and ${n} events, by COPY`,
    findings: [
      figure('devices', fleet.peripherals),
      figure('time to load the fleet', round(loadSeconds, 0), 's'),
      figure('disk, without events', round((whole - events) / megabyte, 0), 'MB'),
      figure('disk of a million events', round(events / n, 0), 'MB'),
      figure('server memory', round(residentBytes(server.pid) / megabyte, 0), 'MB'),
    ],
  }
}
