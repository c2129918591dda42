import { rmSync } from 'node:fs'
import { join } from 'node:path'
import { setTimeout as pause } from 'node:timers/promises'
import { createTransport } from '../../cli/simulator/transport.ts'
import { startBalancer } from '../kit/balancer.ts'
import { startDatabase, temporaryFolder } from '../kit/database.ts'
import { freePort } from '../kit/free-port.ts'
import { startProbe } from '../kit/probe.ts'
import { enrolReportingHost } from '../kit/reporting-host.ts'
import { seededRandom } from '../kit/seeded-random.ts'
import { type ServerProcess, startServerProcess } from '../kit/server.ts'
import { compareStored } from '../kit/stored.ts'
import { amount, atLeast, atMost, type Check, figure, type Outcome } from '../kit/verdict.ts'

const hosts = 64
/** The balancer probes every 0.3 s and drops a replica after two failed probes. Two seconds are three times as long. */
const drainSeconds = 2

/** D12: restarts two replicas one after the other while hosts and people use them. */
export const rollingRestart: Check = {
  name: 'D12',
  what: `Two replicas run behind a TCP load balancer that checks /readyz. ${hosts} hosts report and two people read lists while each replica is stopped in turn (SIGTERM, ${drainSeconds} s of drain) and restarted. No request fails. Then one replica is killed (SIGKILL), for information: acknowledged reports are not lost.`,
  run: async ({ isQuick, root }): Promise<Outcome> => {
    const restarts = isQuick ? 2 : 20
    const kills = isQuick ? 1 : 6
    const folder = temporaryFolder('rolling')
    const database = await startDatabase()
    const env = {
      PORTCULLIS_KEY_FILE: join(folder, 'portcullis.key'),
      PORTCULLIS_DRAIN_SECONDS: String(drainSeconds),
    }
    const ports = [await freePort(), await freePort()]
    const start = (at: number): Promise<ServerProcess> =>
      startServerProcess({
        databaseUrl: database.url,
        dataDir: join(folder, `replica-${at}`),
        port: ports[at] as number,
        root,
        env,
      })
    // The first replica creates the key file and the first account; the second one finds both.
    const replicas = [await start(0), await start(1)] as [ServerProcess, ServerProcess]
    const balancer = await startBalancer({ replicas: replicas.map(({ url }) => url) })
    const transport = createTransport({ server: new URL(balancer.url), connections: hosts, timeoutMs: 10_000 })
    const turn = async (count: number, signal: 'SIGTERM' | 'SIGKILL'): Promise<void> => {
      for (let i = 0; i < count; i++) {
        await pause(500 + seededRandom('D12 restarts') * 500)
        await replicas[i % 2]?.end(signal)
        replicas[i % 2] = await start(i % 2)
        while (balancer.ready() < 2) await pause(50)
      }
    }
    try {
      const admin = await replicas[0].signIn()
      const { token } = await replicas[0].call(
        '/prime/webui/agents/enrollmenttokens',
        { name: 'drill', maxUses: hosts },
        admin,
      )
      const fleet = await Promise.all(
        Array.from({ length: hosts }, (_, i) => enrolReportingHost(() => transport, String(token), `rolled-${i}`)),
      )
      const failedOfHosts = (): number =>
        fleet.reduce((sum, { reported }) => sum + reported.resent + reported.refused.length, 0)
      const before = failedOfHosts()
      const reader = { url: balancer.url, path: '/prime/webui/agents?PageSize=50', perSecond: 20 }
      const headers = { authorization: `Bearer ${admin}` }
      const people = [startProbe({ ...reader, headers }), startProbe({ ...reader, headers, isFresh: true })]
      const running = fleet.map((host) => host.run(20))
      await turn(restarts, 'SIGTERM')
      const read = await Promise.all(people.map((person) => person.read()))
      const failedHosts = failedOfHosts() - before
      const failedPeople = read.reduce((sum, { failed }) => sum + failed, 0)
      const sent =
        fleet.reduce((sum, { reported }) => sum + reported.acknowledged.length, 0) +
        read.reduce((sum, one) => sum + one.sent, 0)
      await turn(kills, 'SIGKILL')
      for (const host of fleet) host.stop()
      await Promise.all(running)
      const ended = await Promise.all(people.map((person) => person.stop()))
      const { acknowledged, lost, twice } = await compareStored(database.connection, fleet)
      return {
        findings: [
          atLeast(amount(isQuick, 'restarts'), restarts, restarts),
          atLeast(amount(isQuick, 'requests during the restarts'), sent, 100 * restarts),
          atMost('failed requests of hosts', failedHosts, 0),
          atMost('failed requests of people', failedPeople, 0),
          figure('p99 of people', Math.max(...read.map(({ p99 }) => p99)), 'ms'),
          atLeast(amount(isQuick, 'kills'), kills, kills),
          figure(
            'failed requests by the kills',
            failedOfHosts() - before - failedHosts + ended.reduce((sum, one) => sum + one.failed, 0) - failedPeople,
          ),
          atLeast('acknowledged', acknowledged, hosts),
          atMost('lost', lost, 0),
          atMost('stored twice', twice, 0),
        ],
        notes: [
          ...read.flatMap(({ failures }) => failures),
          ...fleet.flatMap(({ reported }) => reported.refused),
        ].slice(0, 5),
      }
    } finally {
      transport.close()
      await balancer.close()
      await Promise.all(replicas.map((replica) => replica.end()))
      await database.stop()
      rmSync(folder, { recursive: true, force: true })
    }
  },
}
