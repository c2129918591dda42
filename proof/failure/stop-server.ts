import { setTimeout as pause } from 'node:timers/promises'
import { startFaultTest, timesOf } from '../kit/fault-test.ts'
import { seededRandom } from '../kit/seeded-random.ts'
import { type Connection, withClient } from '../kit/stored.ts'
import { amount, atLeast, atMost, type Check, type Outcome } from '../kit/verdict.ts'

const hosts = 64

/** Counts the stored reports that were never acknowledged. Their hosts send them again needlessly. */
const storedUnanswered = (connection: Connection, pending: readonly string[]): Promise<number> =>
  withClient(connection, async (client) => {
    const { rows } = await client.query<{ n: number }>(
      'SELECT count(*)::int AS n FROM peripherals WHERE serial = ANY($1)',
      [pending],
    )
    return rows[0]?.n ?? 0
  })

/** D2: stops the server with SIGTERM, as a service manager does. */
export const stopServer: Check = {
  name: 'D2',
  isWaiting: true,
  what: `${hosts} hosts report continuously while the server is stopped (SIGTERM) and restarted. The server answers every report that it accepted. No report is lost, and no host repeats a stored one.`,
  run: async ({ isQuick, root }): Promise<Outcome> => {
    const stops = isQuick ? 3 : 15
    await using test = await startFaultTest({ name: 'stopped', root, hosts })
    test.run()
    const took: number[] = []
    let needless = 0
    let unclean = 0
    for (let i = 0; i < stops; i++) {
      await pause(300 + seededRandom('D2 stops') * 700)
      const startedAt = performance.now()
      const { code } = await test.server().end('SIGTERM')
      took.push(performance.now() - startedAt)
      if (code !== 0) unclean += 1
      // Responses in transit arrive. The server is stopped, so nothing else is stored.
      await pause(200)
      needless += await storedUnanswered(
        test.connection,
        test.fleet.flatMap(({ pending }) => pending() ?? []),
      )
      await test.startAgain()
    }
    const { findings, notes } = await test.settle()
    return {
      findings: [
        atLeast(amount(isQuick, 'stops'), stops, stops),
        ...findings,
        atMost('sent again although stored', needless, 0),
        atMost('ends with another code than 0', unclean, 0),
        ...timesOf('time to the end', took, { slowest: 10_000 }),
      ],
      notes,
    }
  },
}
