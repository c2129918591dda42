import { setTimeout as pause } from 'node:timers/promises'
import { type FaultTest, startFaultTest, timesOf } from '../kit/fault-test.ts'
import { seededRandom } from '../kit/seeded-random.ts'
import { answers } from '../kit/stored.ts'
import { amount, atLeast, atMost, type Check, type Finding, figure, type Outcome } from '../kit/verdict.ts'

const hosts = 32
/** The delay before each restart of an embedded database doubles (0.1 s, 0.2 s, …). More kills would mostly wait. */
const killsOfOneServer = 5

/** Kills all processes of the database. Measures its downtime and the time until a report is acknowledged again. */
const killOnce = async (test: FaultTest): Promise<{ downMs: number; recoverMs: number }> => {
  await pause(200 + seededRandom('D3 kills') * 800)
  const startedAt = performance.now()
  if (test.signalDatabase('SIGKILL') === 0) throw new Error('The database is not running, so it cannot be killed.')
  // Responses caused by the kill itself must not count as recovery.
  await pause(20)
  while (!(await answers(test.connection))) {
    if (performance.now() - startedAt > 60_000) throw new Error('The database did not start again within a minute.')
    test.weigh()
    await pause(10)
  }
  const downMs = performance.now() - startedAt
  const recoverMs = await test.untilAcknowledged()
  test.weigh()
  return { downMs, recoverMs }
}

const series = async (
  whose: 'outside' | 'own',
  kills: number,
  isQuick: boolean,
  root: string,
): Promise<{ findings: Finding[]; notes: string[]; recovered: number[] }> => {
  await using test = await startFaultTest({ name: `crash-${whose}`, root, hosts, database: whose })
  test.run()
  const recovered: number[] = []
  for (let kill = 0; kill < kills; kill++) recovered.push((await killOnce(test)).recoverMs)
  const isAlive = test.server().isRunning()
  const { findings, notes } = await test.settle()
  findings.push(
    atLeast(amount(isQuick, 'kills'), kills, kills),
    atMost('servers that died', isAlive ? 0 : 1, 0),
    figure('memory grown', test.grownMiB(), 'MiB'),
  )
  return { findings, notes, recovered }
}

/** Combines the figures of several series: adds them up, and takes the maximum for memory. */
const together = (all: readonly Finding[][], name: string): Finding[] => {
  const [first = []] = all
  return first.map((finding) => {
    const values = all.map((one) => one.find(({ what }) => what === finding.what)?.value ?? Number.NaN)
    const sum = values.reduce((a, b) => a + b, 0)
    return {
      ...finding,
      what: `${name}: ${finding.what}`,
      value: finding.what === 'memory grown' ? Math.max(...values) : sum,
      ...(finding.atLeast === undefined ? {} : { atLeast: finding.atLeast * all.length }),
    }
  })
}

/** D3: kills all processes of PostgreSQL at once. */
export const killDatabase: Check = {
  name: 'D3',
  what: `${hosts} hosts report continuously while every PostgreSQL process is killed (SIGKILL), first of an external database, then of the embedded one. The server keeps running and asks hosts to retry. No acknowledged report is lost.`,
  run: async ({ isQuick, root }): Promise<Outcome> => {
    const rounds = isQuick ? 1 : 5
    const kills = isQuick ? 3 : killsOfOneServer
    const findings: Finding[] = []
    const notes: string[] = []
    for (const [whose, name] of [
      ['outside', 'apart'],
      ['own', 'own'],
    ] as const) {
      const all: Finding[][] = []
      const recovered: number[] = []
      for (let round = 0; round < rounds; round++) {
        const one = await series(whose, kills, isQuick, root)
        all.push(one.findings)
        notes.push(...one.notes)
        recovered.push(...one.recovered)
      }
      findings.push(
        ...together(all, name),
        ...timesOf(`${name}: acknowledges again after the database is back`, recovered, { slowest: 5_000 }),
      )
    }
    return { findings, notes }
  },
}
