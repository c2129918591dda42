import { setTimeout as pause } from 'node:timers/promises'
import { startFaultTest, timesOf } from '../kit/fault-test.ts'
import { seededRandom } from '../kit/seeded-random.ts'
import { amount, atLeast, type Check, type Outcome } from '../kit/verdict.ts'

const hosts = 64

/** D1: kills the server at random moments of a check-in. */
export const killServer: Check = {
  name: 'D1',
  what: `${hosts} hosts report continuously while the server is killed (SIGKILL) at random moments and restarted. Each host repeats a report until it is acknowledged. Every acknowledged report is stored exactly once.`,
  run: async ({ isQuick, root }): Promise<Outcome> => {
    const kills = isQuick ? 6 : 200
    await using test = await startFaultTest({ name: 'killed', root, hosts })
    test.run()
    const recovered: number[] = []
    for (let kill = 0; kill < kills; kill++) {
      // Between 0.1 s and 1 s, so that kills hit batches, commits and timers at different points.
      await pause(100 + seededRandom('D1 kills') * 900)
      await test.server().end('SIGKILL')
      recovered.push((await test.startAgain()).startMs)
    }
    const { findings, notes } = await test.settle()
    return {
      findings: [
        atLeast(amount(isQuick, 'kills'), kills, kills),
        ...findings,
        // A server that is always down loses nothing, so require some acknowledged work.
        atLeast('acknowledged for each kill', Math.round(test.acknowledged() / kills), 1),
        ...timesOf('up again', recovered, { p50: 1_500, slowest: 3_000 }),
      ],
      notes,
    }
  },
}
