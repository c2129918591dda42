import { setTimeout as pause } from 'node:timers/promises'
import { startFaultTest } from '../kit/fault-test.ts'
import { amount, atLeast, atMost, type Check, type Outcome } from '../kit/verdict.ts'
import { createWire } from '../kit/wire.ts'

const hosts = 64
const pausedMs = 10_000

/** D4: pauses the database without closing its connections, like a frozen disk or virtual machine. */
export const pauseDatabase: Check = {
  name: 'D4',
  isWaiting: true,
  what: `${hosts} hosts report and a person reads a list while every PostgreSQL process is paused (SIGSTOP) for ${pausedMs / 1000} s. No request waits for the database longer than 5 s, /readyz fails within 3 s, memory does not grow, and everything recovers afterwards.`,
  run: async ({ isQuick, root }): Promise<Outcome> => {
    const rounds = isQuick ? 1 : 5
    await using test = await startFaultTest({ name: 'paused', root, hosts, timeoutMs: 20_000 })
    const { url, signIn } = test.server()
    const token = await signIn()
    const wire = createWire(url, { connections: Number.POSITIVE_INFINITY, keepAlive: false, timeoutMs: 20_000 })
    const ask = async (path: string, token?: string): Promise<{ status: number; ms: number }> => {
      const startedAt = performance.now()
      const { status } = await wire.once({ method: 'GET', path, token })
      return { status, ms: performance.now() - startedAt }
    }
    test.run()
    await pause(1_500)
    test.weighAnew()
    let redMs = 0
    let slowestPerson = 0
    let slowestHost = 0
    let unexpected = 0
    let recoverMs = 0
    for (let round = 0; round < rounds; round++) {
      for (const { reported } of test.fleet) reported.slowestMs = 0
      const startedAt = performance.now()
      test.signalDatabase('SIGSTOP')
      let isRed = false
      const readers: Promise<void>[] = []
      while (performance.now() - startedAt < pausedMs) {
        readers.push(
          ask('/prime/webui/agents?PageSize=50', token).then(({ status, ms }) => {
            slowestPerson = Math.max(slowestPerson, ms)
            if (status !== 200 && status !== 503) unexpected += 1
          }),
          ask('/readyz').then(({ status }) => {
            if (status === 200 || isRed) return
            isRed = true
            redMs = Math.max(redMs, performance.now() - startedAt)
          }),
        )
        test.weigh()
        await pause(250)
      }
      if (!isRed) redMs = Number.POSITIVE_INFINITY
      // Resume all processes at once, as when a disk responds again.
      test.signalDatabase('SIGCONT')
      recoverMs = Math.max(recoverMs, await test.untilAcknowledged())
      await Promise.all(readers)
      test.weigh()
      slowestHost = Math.max(slowestHost, ...test.fleet.map(({ reported }) => reported.slowestMs))
    }
    const isAlive = test.server().isRunning()
    const { findings, notes } = await test.settle()
    return {
      findings: [
        atLeast(amount(isQuick, 'pauses'), rounds, rounds),
        ...findings,
        atMost('slowest answer to a host', Math.round(slowestHost), 5_000, 'ms'),
        atMost('slowest answer to a person', Math.round(slowestPerson), 5_000, 'ms'),
        atMost('/readyz says 503 after', Math.round(redMs), 3_000, 'ms'),
        atMost('answers of a person that are neither 200 nor 503', unexpected, 0),
        atMost('memory grown', test.grownMiB(), 64, 'MiB'),
        atMost('acknowledges again after', Math.round(recoverMs), 5_000, 'ms'),
        atMost('servers that died', isAlive ? 0 : 1, 0),
      ],
      notes,
    }
  },
}
