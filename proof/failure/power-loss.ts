// Invariant: A power loss of server and database loses nothing that was acknowledged.

import { join } from 'node:path'
import { setTimeout as pause } from 'node:timers/promises'
import { temporaryFolder } from '../kit/database.ts'
import { startFaultTest, timesOf } from '../kit/fault-test.ts'
import { mountLossyDisk, whyNoLossyDisk } from '../kit/lossy-disk.ts'
import { seededRandom } from '../kit/seeded-random.ts'
import { amount, atLeast, atMost, type Check, type Outcome } from '../kit/verdict.ts'

const hosts = 32
const notAgain = atMost('power losses after which nothing starts', Number.NaN, 0)

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
      await using test = await startFaultTest({
        name: 'power',
        root,
        hosts,
        database: 'own',
        dataDir: join(disk.path, 'server'),
      })
      test.run()
      const recovered: number[] = []
      for (let loss = 0; loss < losses; loss++) {
        // Stay below the five seconds after which the kernel writes old data to the disk.
        await pause(500 + seededRandom('D19 losses') * 2_500)
        const ended = test.server().end('SIGKILL')
        if (test.signalDatabase('SIGKILL') === 0) throw new Error('Cannot cut the power: the database is not running.')
        await ended
        while (test.signalDatabase('SIGKILL') > 0) await pause(5)
        disk.cut()
        const started = await test.startAgain().catch((error: Error) => error)
        if (started instanceof Error)
          return {
            findings: [{ ...notAgain, value: 1 }],
            notes: [`after power loss ${loss + 1}: ${started.message}`],
          }
        recovered.push(started.startMs)
      }
      const { findings, notes } = await test.settle()
      return {
        findings: [
          { ...notAgain, value: 0 },
          atLeast(amount(isQuick, 'power losses'), losses, losses),
          ...findings,
          // A server that is always down loses nothing, so require some acknowledged work.
          atLeast('acknowledged for each power loss', Math.round(test.acknowledged() / losses), 1),
          ...timesOf('up again', recovered, { slowest: 30_000 }),
        ],
        notes,
      }
    } finally {
      disk.unmount()
    }
  },
}
