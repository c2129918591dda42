import { setTimeout as pause } from 'node:timers/promises'
import { agentPaths } from '@portcullis/features/contract.ts'
import { createTransport } from '../../cli/simulator/transport.ts'
import type { PlayedHost } from '../kit/loader/hosts.ts'
import { residentBytes, withMemoryGrowth } from '../kit/proc.ts'
import { openSession } from '../kit/reporting-host.ts'
import { seededRandom } from '../kit/seeded-random.ts'
import { connect } from '../kit/stored.ts'
import { amount, atLeast, atMost, type Check, figure, type Outcome } from '../kit/verdict.ts'
import { startLoaded } from './loaded-fleet.ts'

interface Counts {
  back: number
  shed: number
  /** Responses that ask the host to retry later without Retry-After. */
  shedWithoutTime: number
  broken: number
  refused: string[]
}

/** D17: reconnects all hosts at the same moment. */
export const thunderingHerd: Check = {
  name: 'D17',
  isWaiting: true,
  what: 'A fleet was offline for ten minutes, so every host is shown as disconnected. All hosts reconnect at the same moment, each over a separate connection, with a new session and a check-in. A host that is asked to retry waits for the given time and up to half of it more. This is the worst case: nothing spreads the first attempts.',
  run: async ({ isQuick, root }): Promise<Outcome> => {
    const agents = isQuick ? 2_000 : 10_000
    await using loaded = await startLoaded({ root, agents })
    const { server, hosts } = loaded
    await using client = await connect(server.connection)
    using transport = createTransport({ server: new URL(server.url), connections: agents, timeoutMs: 30_000 })
    await client.query("UPDATE agent_heartbeats SET last_seen = now() - interval '10 minutes', connected = false")
    await client.query('UPDATE agent_rows SET connected = false')
    const connected = async (): Promise<number> =>
      Number((await client.query('SELECT count(*) AS n FROM agent_rows WHERE connected')).rows[0].n)
    const away = agents - (await connected())
    const memoryBefore = residentBytes(server.pid)
    const counts: Counts = { back: 0, shed: 0, shedWithoutTime: 0, broken: 0, refused: [] }
    const later = async (retryAfterMs: number): Promise<void> => {
      counts.shed += 1
      if (retryAfterMs <= 0) counts.shedWithoutTime += 1
      await pause((retryAfterMs || 1_000) * (1 + seededRandom('D17 waits') / 2))
    }
    const comeBack = async (host: PlayedHost): Promise<void> => {
      for (let backoffMs = 500; ; backoffMs = Math.min(backoffMs * 2, 30_000)) {
        try {
          const { answer, bootId } = await openSession(transport, host)
          if (answer.status === 503 || answer.status === 429) {
            await later(answer.retryAfterMs)
            continue
          }
          const beat = { bootId, seq: 1, inventoryHash: host.inventoryHash, clock: Date.now() }
          const taken =
            answer.status === 200
              ? await transport.post(agentPaths.checkIn, () => JSON.stringify(beat), String(answer.body.token))
              : answer
          if (taken.status === 200) {
            counts.back += 1
            return
          }
          if (taken.status === 503 || taken.status === 429) await later(taken.retryAfterMs)
          else if (taken.status === 408 || taken.status === 409) {
            // The host gave up on the first request and sent it again, but the server had processed it.
            counts.broken += 1
            await pause(backoffMs * (0.5 + seededRandom('D17 waits') / 2))
          } else {
            counts.refused.push(`${taken.status} ${JSON.stringify(taken.body).slice(0, 200)}`)
            return
          }
        } catch {
          counts.broken += 1
          await pause(backoffMs * (0.5 + seededRandom('D17 waits') / 2))
        }
      }
    }
    const startedAt = performance.now()
    const { result, grown } = await withMemoryGrowth(server.pid, async () => {
      await Promise.all(hosts.map(comeBack))
      const backSeconds = (performance.now() - startedAt) / 1_000
      while ((await connected()) < agents && performance.now() - startedAt < 120_000) await pause(100)
      return { backSeconds, greenSeconds: (performance.now() - startedAt) / 1_000 }
    })
    return {
      findings: [
        atLeast(amount(isQuick, 'hosts that were away'), away, agents),
        atLeast(amount(isQuick, 'hosts that are back'), counts.back, agents),
        atMost('all acknowledged after', Math.round(result.backSeconds * 10) / 10, 60, 's'),
        atMost('all shown as connected after', Math.round(result.greenSeconds * 10) / 10, 60, 's'),
        atLeast(amount(isQuick, 'shown as connected'), await connected(), agents),
        figure('told to come later', counts.shed),
        atMost('told to come later without a time', counts.shedWithoutTime, 0),
        figure('requests that were given up', counts.broken),
        atMost('refused', counts.refused.length, 0),
        figure('memory, most', Math.round((memoryBefore + grown) / 2 ** 20), 'MiB'),
        atMost('memory, growth', Math.round(grown / 2 ** 20), 512, 'MiB'),
      ],
      notes: counts.refused.slice(0, 3),
    }
  },
}
