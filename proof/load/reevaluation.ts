/** Measures how long a server takes to recompute all verdicts after a knowledge update, and reads its progress. */
import { setTimeout as pause } from 'node:timers/promises'
import { atMost, figure, round } from '../kit/verdict.ts'
import type { Prepared } from './fleet.ts'
import type { BenchResult } from './result.ts'

/** A fleet of this size is evaluated again within the limit. Other sizes get a proportional limit. */
const fleetOfLimit = 100_000
const limitSeconds = 600
const longestSeconds = 3_600
const path = '/prime/webui/admin/knowledge'

/**
 * Makes every verdict outdated: all fingerprints have an older knowledge version and other findings. The next server
 * that starts evaluates all hosts again, as after an update.
 */
const outdateAll = `UPDATE designs SET knowledge_version = 'another one', findings = 'of other knowledge'`

interface Progress {
  designs: number
  waiting: number
  hosts: number
}

export const benchReevaluation = async ({ server, fleet, client, startReplica }: Prepared): Promise<BenchResult> => {
  const token = await server.signIn()
  const progress = async (): Promise<Progress> =>
    (await server.call(path, undefined, token)).judging as unknown as Progress
  await client.query(outdateAll)
  const before = await progress()
  const replica = await startReplica()
  const startedAt = performance.now()
  const seconds = (): number => (performance.now() - startedAt) / 1000
  let steps = 0
  let last = JSON.stringify(before)
  let fingerprintsDone = 0
  let mostHosts = 0
  try {
    while (seconds() < longestSeconds) {
      const now = await progress()
      const text = JSON.stringify(now)
      if (text !== last) steps++
      last = text
      mostHosts = Math.max(mostHosts, now.hosts)
      if (now.waiting === 0 && fingerprintsDone === 0) fingerprintsDone = seconds()
      if (now.waiting === 0 && now.hosts === 0) break
      await pause(250)
    }
  } finally {
    replica.signal('SIGTERM')
  }
  const limit = (limitSeconds * Math.max(fleet.agents, 1)) / fleetOfLimit
  return {
    what: `${fleet.agents} hosts, ${fleet.peripherals} peripherals, ${before.waiting} fingerprints, every verdict changes; a second server starts and evaluates`,
    findings: [
      atMost('all verdicts and decisions recomputed', round(seconds()), Math.max(limit, 30), 's'),
      figure('designs', round(fingerprintsDone), 's'),
      figure('hosts that were decided about', mostHosts),
      figure('steps of its progress that were seen', steps),
    ],
  }
}
