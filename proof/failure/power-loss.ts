// Invariant: A power loss of server and database loses nothing that was acknowledged.

import { rmSync } from 'node:fs'
import { join } from 'node:path'
import { chance } from '../kit/chance.ts'
import { temporaryFolder } from '../kit/database.ts'
import { mountLossyDisk, whyNoLossyDisk } from '../kit/lossy-disk.ts'
import { pause, startTrial, timesOf } from '../kit/trial.ts'
import { amount, type Check, type Outcome } from '../kit/verdict.ts'

const hosts = 32
const notAgain = { what: 'power losses after which nothing starts', value: Number.NaN, atMost: 0 }

/** D19: cuts the power of the machine that runs server and database. */
export const powerLoss: Check = {
  name: 'D19',
  isWaiting: true,
  what: `${hosts} hosts report continuously while the machine of the server and its embedded database loses power: every process is killed (SIGKILL), and the disk keeps only flushed data. Both restart on that data. No acknowledged report is lost.`,
  run: async ({ isQuick, root }): Promise<Outcome> => {
    const why = whyNoLossyDisk()
    if (why !== undefined) return { findings: [], notRun: [`power loss: ${why}`] }
    const losses = isQuick ? 3 : 20
    const folder = temporaryFolder('power')
    const disk = mountLossyDisk(folder, 1_536)
    try {
      const trial = await startTrial({
        name: 'power',
        root,
        hosts,
        database: 'own',
        dataDir: join(disk.path, 'server'),
      })
      try {
        trial.run()
        const recovered: number[] = []
        for (let loss = 0; loss < losses; loss++) {
          // Stay below the five seconds after which the kernel writes old data to the disk.
          await pause(500 + chance('D19 losses') * 2_500)
          const ended = trial.server().end('SIGKILL')
          if (trial.signalDatabase('SIGKILL') === 0)
            throw new Error('Cannot cut the power: the database is not running.')
          await ended
          while (trial.signalDatabase('SIGKILL') > 0) await pause(5)
          disk.cut()
          const started = await trial.startAgain().catch((error: Error) => error)
          if (started instanceof Error)
            return {
              findings: [{ ...notAgain, value: 1 }],
              notes: [`after power loss ${loss + 1}: ${started.message}`],
            }
          recovered.push(started.startMs)
        }
        const { findings, notes } = await trial.settle()
        return {
          findings: [
            { ...notAgain, value: 0 },
            { what: amount(isQuick, 'power losses'), value: losses, atLeast: losses },
            ...findings,
            // A server that is always down loses nothing, so require some acknowledged work.
            { what: 'acknowledged for each power loss', value: Math.round(trial.acknowledged() / losses), atLeast: 1 },
            ...timesOf('up again', recovered, { slowest: 30_000 }),
          ],
          notes,
        }
      } finally {
        await trial.stop()
      }
    } finally {
      disk.unmount()
      rmSync(folder, { recursive: true, force: true })
    }
  },
}
