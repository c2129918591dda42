/**
 * Measures two replicas behind HAProxy on one database, compared with one replica behind it. HAProxy adds
 * cost to each connection, and it shares the cores with the servers.
 */

import { haproxyIsMissing, startHaproxy } from '../kit/haproxy.ts'
import { cpuSecondsOf } from '../kit/proc.ts'
import { atLeast, atMost, figure, round } from '../kit/verdict.ts'
import { connections, type Measured, measure, openSessions } from './check-in.ts'
import type { Prepared } from './fleet.ts'
import type { BenchResult } from './result.ts'

/** Share of check-ins that report a change. */
const changedShare = 0.01

export const benchReplicas = async ({ server, fleet, isQuick, startReplica }: Prepared): Promise<BenchResult> => {
  const missing = haproxyIsMissing()
  if (missing !== null) return { what: 'two replicas', findings: [], notRun: [missing] }
  const seconds = isQuick ? 5 : 20
  await using second = await startReplica()
  await using toOne = await startHaproxy([server.url])
  await using balancer = await startHaproxy([server.url, second.url])
  const cpuOfBoth = () => ({
    server: server.cpu().server + cpuSecondsOf(second.pid),
    database: server.cpu().database,
  })
  const behind = { url: toOne.url, ca: undefined, cpu: cpuOfBoth }
  const both = { url: balancer.url, ca: undefined, cpu: cpuOfBoth }
  // Replicas accept each other's sessions.
  const players = await openSessions(behind, fleet.played)
  const run = async (target: typeof both): Promise<Measured> => {
    // Send changes, too, so that a new replica has compiled that code before the measurement.
    await measure(target, players, connections, Math.min(3, seconds), changedShare)
    return measure(target, players, connections, seconds, changedShare)
  }
  const one = await run(behind)
  const two = await run(both)
  return {
    what: `1 % of check-ins changed, ${fleet.played.length} hosts of ${fleet.agents}, ${seconds} s each; HAProxy, load generator, replicas and database on the same cores`,
    findings: [
      figure('one replica: per core-second', Math.round(one.perCoreSecond), '/s'),
      figure('two replicas: per core-second', Math.round(two.perCoreSecond), '/s'),
      figure('one replica: p99', round(one.p99), 'ms'),
      atLeast('two replicas, share of one', round(two.perCoreSecond / one.perCoreSecond), 0.8),
      atMost('two replicas: p99', round(two.p99), 250, 'ms'),
      atMost('two replicas: refused or asked for an inventory', two.failed, 0),
    ],
  }
}
