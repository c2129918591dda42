import { setTimeout as pause } from 'node:timers/promises'
import { createTransport } from '../../cli/simulator/transport.ts'
import { startDatabase, temporaryFolder } from '../kit/database.ts'
import { haproxyIsMissing, startHaproxy } from '../kit/haproxy.ts'
import { startProbe } from '../kit/probe.ts'
import { drainSeconds, startReplicas } from '../kit/replicas.ts'
import { acknowledgedBy, enrolReportingHosts, failedOf } from '../kit/reporting-host.ts'
import { seededRandom } from '../kit/seeded-random.ts'
import { compareStored } from '../kit/stored.ts'
import { amount, atLeast, atMost, type Check, figure, type Outcome } from '../kit/verdict.ts'

const hosts = 64
/** D12: restarts two replicas one after the other while hosts and people use them. */
export const rollingRestart: Check = {
  name: 'D12',
  what: `Two replicas run behind HAProxy, which checks /readyz. ${hosts} hosts report and two people read lists while each replica is stopped in turn (SIGTERM, ${drainSeconds} s of drain) and restarted. No request fails. Then one replica is killed (SIGKILL), for information: acknowledged reports are not lost.`,
  run: async ({ isQuick, root }): Promise<Outcome> => {
    const missing = haproxyIsMissing()
    if (missing !== null) return { findings: [], notRun: [missing] }
    const restarts = isQuick ? 2 : 20
    const kills = isQuick ? 1 : 6
    const folder = temporaryFolder('rolling')
    await using database = await startDatabase()
    await using replicas = await startReplicas(folder, database.url, root)
    await using balancer = await startHaproxy(replicas.urls)
    using transport = createTransport({ server: new URL(balancer.url), connections: hosts, timeoutMs: 10_000 })
    const turn = async (count: number, signal: 'SIGTERM' | 'SIGKILL'): Promise<void> => {
      for (let i = 0; i < count; i++) {
        await pause(500 + seededRandom('D12 restarts') * 500)
        await replicas.restart(i % 2 === 0 ? 0 : 1, signal)
        await balancer.ready()
      }
    }
    const admin = await replicas.first.signIn()
    const token = await replicas.first.enrolmentToken(hosts, admin)
    const fleet = await enrolReportingHosts(hosts, () => transport, token, 'rolled')
    const before = failedOf(fleet)
    const reader = { url: balancer.url, path: '/prime/webui/agents?PageSize=50', perSecond: 20 }
    const headers = { authorization: `Bearer ${admin}` }
    const people = [startProbe({ ...reader, headers }), startProbe({ ...reader, headers, isFresh: true })]
    const running = fleet.map((host) => host.run(20))
    await turn(restarts, 'SIGTERM')
    const read = await Promise.all(people.map((person) => person.read()))
    const failedHosts = failedOf(fleet) - before
    const failedPeople = read.reduce((sum, { failed }) => sum + failed, 0)
    const sent = acknowledgedBy(fleet) + read.reduce((sum, one) => sum + one.sent, 0)
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
          failedOf(fleet) - before - failedHosts + ended.reduce((sum, one) => sum + one.failed, 0) - failedPeople,
        ),
        atLeast('acknowledged', acknowledged, hosts),
        atMost('lost', lost, 0),
        atMost('stored twice', twice, 0),
      ],
      notes: [...read.flatMap(({ failures }) => failures), ...fleet.flatMap(({ reported }) => reported.refused)].slice(
        0,
        5,
      ),
    }
  },
}
