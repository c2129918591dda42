import { chance } from '../kit/chance.ts'
import { type Connection, withClient } from '../kit/stored.ts'
import { pause, startTrial, timesOf } from '../kit/trial.ts'
import { amount, type Check, type Outcome } from '../kit/verdict.ts'

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
    const trial = await startTrial({ name: 'stopped', root, hosts })
    try {
      trial.run()
      const took: number[] = []
      let needless = 0
      let unclean = 0
      for (let i = 0; i < stops; i++) {
        await pause(300 + chance('D2 stops') * 700)
        const startedAt = performance.now()
        const { code } = await trial.server().end('SIGTERM')
        took.push(performance.now() - startedAt)
        if (code !== 0) unclean += 1
        // Responses in transit arrive. The server is stopped, so nothing else is stored.
        await pause(200)
        needless += await storedUnanswered(
          trial.connection,
          trial.fleet.flatMap(({ pending }) => pending() ?? []),
        )
        await trial.startAgain()
      }
      const { findings, notes } = await trial.settle()
      return {
        findings: [
          { what: amount(isQuick, 'stops'), value: stops, atLeast: stops },
          ...findings,
          { what: 'sent again although stored', value: needless, atMost: 0 },
          { what: 'ends with another code than 0', value: unclean, atMost: 0 },
          ...timesOf('time to the end', took, { slowest: 10_000 }),
        ],
        notes,
      }
    } finally {
      await trial.stop()
    }
  },
}
