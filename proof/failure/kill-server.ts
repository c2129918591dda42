import { chance } from '../kit/chance.ts'
import { pause, startTrial, timesOf } from '../kit/trial.ts'
import { amount, type Check, type Outcome } from '../kit/verdict.ts'

const hosts = 64

/** D1: kills the server at random moments of a check-in. */
export const killServer: Check = {
  name: 'D1',
  what: `${hosts} hosts report continuously while the server is killed (SIGKILL) at random moments and restarted. Each host repeats a report until it is acknowledged. Every acknowledged report is stored exactly once.`,
  run: async ({ isQuick, root }): Promise<Outcome> => {
    const kills = isQuick ? 6 : 200
    const trial = await startTrial({ name: 'killed', root, hosts })
    try {
      trial.run()
      const recovered: number[] = []
      for (let kill = 0; kill < kills; kill++) {
        // Between 0.1 s and 1 s, so that kills hit batches, commits and timers at different points.
        await pause(100 + chance('D1 kills') * 900)
        await trial.server().end('SIGKILL')
        recovered.push((await trial.startAgain()).startMs)
      }
      const { findings, notes } = await trial.settle()
      return {
        findings: [
          { what: amount(isQuick, 'kills'), value: kills, atLeast: kills },
          ...findings,
          // A server that is always down loses nothing, so require some acknowledged work.
          { what: 'acknowledged for each kill', value: Math.round(trial.acknowledged() / kills), atLeast: 1 },
          ...timesOf('up again', recovered, { p50: 1_500, slowest: 3_000 }),
        ],
        notes,
      }
    } finally {
      await trial.stop()
    }
  },
}
