// Invariant: Floods beside a working fleet stay within the limits of this proof.

import { rmSync } from 'node:fs'
import { setTimeout as pause } from 'node:timers/promises'
import { agentPaths } from '@portcullis/contract'
import { temporaryFolder } from '../kit/database.ts'
import { api, type Environment, withEnvironment } from '../kit/environment.ts'
import { enrolHost, type Host } from '../kit/host.ts'
import { startProbe } from '../kit/probe.ts'
import { adminPassword } from '../kit/server.ts'
import { createServerMetrics } from '../kit/server-metrics.ts'
import { atLeast, atMost, type Check, type Finding, figure, type Outcome } from '../kit/verdict.ts'
import { createWire, forEachOf, type Wire } from '../kit/wire.ts'
import { type Attacked, type AttackOptions, startAttack } from './attackers.ts'

const hostCount = 200
const sessionCount = 20
/** Interval in milliseconds between two requests of each kind. */
const paces = { checkIn: 2_000, browse: 1_000, signIn: 500 } as const

/** Counts requests and refusals, and keeps the first examples. */
const createTally = () => {
  const tally = { sent: 0, refused: 0, examples: [] as string[] }
  return {
    tally,
    count: (what: string, status: number): void => {
      tally.sent++
      if (status === 200) return
      tally.refused++
      if (tally.examples.length < 3) tally.examples.push(`${what}: ${status}`)
    },
  }
}

/** Starts legitimate traffic: agents, people, and correct sign-ins from their own addresses. */
const startGoodWork = (
  wire: Wire,
  hosts: readonly Host[],
  tokens: readonly string[],
  signInFrom: (i: number) => string,
) => {
  const [agents, people, signIns] = [createTally(), createTally(), createTally()]
  let isOver = false
  const every = async (ms: number, offset: number, work: (round: number) => Promise<void>): Promise<void> => {
    await pause(offset)
    for (let round = 0; !isOver; round++) {
      const startedAt = performance.now()
      await work(round)
      await pause(Math.max(0, ms - (performance.now() - startedAt)))
    }
  }
  const running = [
    ...hosts.map((host, i) =>
      every(paces.checkIn, (i * paces.checkIn) / hosts.length, async () => {
        const sent = { method: 'POST', path: agentPaths.checkIn, token: host.token, body: host.checkIn() }
        agents.count('a check-in', (await wire.send(sent)).status)
      }),
    ),
    ...tokens.map((token, i) =>
      every(paces.browse, (i * paces.browse) / tokens.length, async (round) => {
        const path = round % 2 === 0 ? `${api}/agents?PageSize=50` : `${api}/events/GetEventsIntegration?PageSize=50`
        people.count('a list', (await wire.send({ method: 'GET', path, token })).status)
      }),
    ),
    every(paces.signIn, 0, async (round) => {
      const got = await wire.send({
        method: 'POST',
        path: `${api}/Auth/LocalLogin`,
        body: { userName: 'admin', password: adminPassword },
        headers: { 'x-forwarded-for': signInFrom(round) },
      })
      signIns.count('a correct sign-in', got.status)
    }),
  ]
  return async () => {
    isOver = true
    await Promise.all(running)
    return { agents: agents.tally, people: people.tally, signIns: signIns.tally }
  }
}

interface Phase {
  name: string
  attack: Pick<AttackOptions, 'signIns'>
  /** Returns the source address of a correct sign-in. */
  signInFrom: (i: number) => string
}

/** Returns an address from which people signed in before the attack. */
const knownAddress = (i: number): string => `203.0.113.${i % sessionCount}`
const phases: readonly Phase[] = [
  {
    name: 'from one address',
    attack: { signIns: { oneAddress: 270, manyNetworks: 0 } },
    // Half of the sign-ins come from addresses that are new to the server.
    signInFrom: (i) => (i % 2 === 0 ? knownAddress(i) : `192.0.2.${i % 250}`),
  },
  {
    name: 'from many networks',
    attack: { signIns: { oneAddress: 0, manyNetworks: 400 } },
    signInFrom: knownAddress,
  },
]

const round = (value: number): number => Math.round(value * 10) / 10

/** Runs one attack during legitimate traffic. Measures with a probe and from inside the process. */
const runPhase = async (
  { server }: Environment,
  metrics: ReturnType<typeof createServerMetrics>,
  wire: Wire,
  { name, attack, signInFrom }: Phase,
  hosts: readonly Host[],
  tokens: readonly string[],
  seconds: number,
): Promise<{ findings: Finding[]; notes: string[] }> => {
  const [flooder, ...others] = hosts as [Host, ...Host[]]
  const stopWork = startGoodWork(wire, others, tokens, signInFrom)
  const probe = startProbe({ url: server.url, path: '/healthz', perSecond: 20, isFresh: true })
  await pause(1_000)
  await metrics.read(server.pid)
  await pause(2_000)
  const before = await probe.restart()
  const { delays: quiet } = await metrics.read(server.pid)
  const stopAttack = startAttack({ url: server.url, session: flooder.token, bootId: flooder.bootId, ...attack })
  await pause(1_000)
  await metrics.read(server.pid)
  await pause(500)
  await probe.restart()
  await pause(seconds * 1_000)
  const met = await probe.read()
  const { delays } = await metrics.read(server.pid)
  const attacked: Attacked = await stopAttack()
  const { agents, people, signIns } = await stopWork()
  await probe.stop()
  const what = (text: string): string => `${text}, ${name}`
  return {
    findings: [
      figure(what('probe p99 before the attack'), before.p99, 'ms'),
      figure(what('event loop delay, p99, before the attack'), round(quiet.p99Ms), 'ms'),
      atMost(what('probe p99'), met.p99, 250, 'ms'),
      atMost(what('probes that failed'), met.failed, 0),
      atMost(what('event loop delay, p99'), round(delays.p99Ms), 50, 'ms'),
      figure(what('event loop delay, longest'), round(delays.maxMs), 'ms'),
      atLeast(what('check-ins'), agents.sent, others.length),
      atMost(what('check-ins refused'), agents.refused, 0),
      atLeast(what('lists read'), people.sent, tokens.length),
      atMost(what('lists refused'), people.refused, 0),
      atLeast(what('correct sign-ins'), signIns.sent, 3),
      atMost(what('correct sign-ins refused'), signIns.refused, 0),
      atLeast(what('bodies without a key'), attacked.bodies, 20),
      atMost(what('bodies without a key that were not answered 401'), attacked.taken, 0),
      atLeast(what('reports of the agent over its quota'), attacked.reports, 20),
      // The quota allows a burst of 16 MiB, then 32 KiB per second.
      atMost(what('reports over the quota that were parsed'), attacked.parsed, 10),
      atLeast(what('wrong sign-ins'), attacked.signIns, 260),
      atLeast(what('slow bodies'), attacked.slow, 50),
    ],
    notes: [...agents.examples, ...people.examples, ...signIns.examples, ...met.failures].map((n) => `${name}: ${n}`),
  }
}

/** Checks that unauthenticated clients and one rogue agent neither delay nor lock out anyone. */
export const availability: Check = {
  name: 'availability',
  what: `Four clients without a key send bodies of 3.2 MB, one agent exceeds its quota, and others send slow bodies. Wrong sign-ins come over 270 connections from one address, then over 400 from as many networks. At the same time, ${hostCount - 1} hosts check in, ${sessionCount} people read lists, people sign in, and a probe measures latency.`,
  run: async ({ root, isQuick }): Promise<Outcome> => {
    const folder = temporaryFolder('availability')
    const metrics = createServerMetrics(folder)
    // The gate acts as a trusted proxy, so each sign-in can come from a different address.
    const env = { ...metrics.env, PORTCULLIS_TRUSTED_PROXIES: '127.0.0.1', PORTCULLIS_LOG_LEVEL: 'info' }
    const work = withEnvironment({ root, env }, async (environment) => {
      const { server, enrolmentToken } = environment
      const wire = createWire(server.url, 64)
      try {
        const token = await enrolmentToken()
        const hosts: Host[] = []
        await forEachOf(
          Array.from({ length: hostCount }, (_, i) => `host-${i}`),
          8,
          async (name) => {
            hosts.push(await enrolHost(wire, token, name))
          },
        )
        const signIn = async (userName: string, from: string): Promise<string> => {
          const { text } = await wire.send({
            method: 'POST',
            path: `${api}/Auth/LocalLogin`,
            body: { userName, password: adminPassword },
            headers: { 'x-forwarded-for': from },
          })
          return String((JSON.parse(text) as { token: string }).token)
        }
        // Readers need their own account: the correct sign-ins open more than the 200 sessions an account keeps.
        const reader = { userName: 'reader', password: adminPassword, userProfile: 30, mustChangePassword: false }
        const admin = await signIn('admin', knownAddress(0))
        await wire.send({ method: 'POST', path: `${api}/admin/adduser`, token: admin, body: reader })
        const tokens: string[] = []
        for (let i = 0; i < sessionCount; i++) {
          await signIn('admin', knownAddress(i))
          tokens.push(await signIn('reader', knownAddress(i)))
        }
        const logBefore = server.output().length
        const findings: Finding[] = []
        const notes: string[] = []
        for (const phase of phases) {
          const part = await runPhase(environment, metrics, wire, phase, hosts, tokens, isQuick ? 8 : 40)
          findings.push(...part.findings)
          notes.push(...part.notes)
        }
        // The server also logs aggregated lines when it stops.
        await server.end('SIGTERM')
        const log = server.output().slice(logBefore)
        return {
          findings: [...findings, atMost('log', log.length, 100_000, 'B')],
          notes: [
            ...notes,
            ...log
              .split('\n')
              .slice(0, 3)
              .map((line) => line.slice(0, 300)),
          ],
        }
      } finally {
        wire.close()
      }
    })
    return work.finally(() => rmSync(folder, { recursive: true, force: true }))
  },
}
