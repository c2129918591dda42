// Invariant: Floods beside a working fleet stay within the limits of this proof.

import { setTimeout as pause } from 'node:timers/promises'
import { agentPaths, workerPaths } from '@portcullis/features/contract.ts'
import type { Counts, Order } from '../kit/attackers.ts'
import { api } from '../kit/environment.ts'
import { enrolHost } from '../kit/host.ts'
import { adminPassword } from '../kit/server.ts'
import { atLeast, atMost, type Check, type Finding, type Outcome } from '../kit/verdict.ts'
import { createWire } from '../kit/wire.ts'
import { startWorkingFleet } from '../kit/working-fleet.ts'

const hosts = 200
const consoles = 20
const bodyBytes = 3_200_000
const copies = 4
const slowBodies = 60

const requestOf = (path: string, length: number, more: string): string =>
  `POST ${path} HTTP/1.1\r\nhost: x\r\nconnection: close\r\ncontent-type: application/json\r\ncontent-length: ${length}\r\n${more}\r\n`

/** Returns a request with a body of small values, which cost the most to parse. */
const filled = (path: string, more: string, before: string, after: string): string => {
  const body = `${before}${'[],'.repeat(Math.ceil((bodyBytes - before.length) / 3))}[]${after}`
  return requestOf(path, body.length, more) + body
}

const signInFrom = (address: string, userName: string): string => {
  const body = JSON.stringify({ userName, password: 'a wrong password' })
  return requestOf(`${api}/Auth/LocalLogin`, body.length, `x-forwarded-for: ${address}\r\n`) + body
}

/** Returns an address from which people signed in before the attack. */
const knownAddress = (i: number): string => `203.0.113.${i % 20}`

/** Wrong sign-ins of each attack, sent repeatedly on one connection after another, and the address of the correct sign-ins. */
const phases = [
  {
    name: 'from one address',
    signIns: Array.from({ length: 270 }, (_, i) => signInFrom('198.51.100.66', `nobody-${i}`)),
    // Half of the sign-ins come from addresses that are new to the server.
    addressOf: (i: number) => (i % 2 === 0 ? knownAddress(i) : `192.0.2.${i % 250}`),
  },
  {
    name: 'from many networks',
    signIns: Array.from({ length: 400 }, (_, i) => signInFrom(`100.${64 + (i >> 8)}.${i & 255}.7`, `stranger-${i}`)),
    addressOf: knownAddress,
  },
] as const

/** Checks that unauthenticated clients and one rogue agent neither delay nor lock out anyone. */
export const availability: Check = {
  name: 'availability',
  what: `Four clients without a key send bodies of 3.2 MB, one agent exceeds its quota, and others send slow bodies. Wrong sign-ins come over 270 connections from one address, then over 400 from as many networks. At the same time, ${hosts} hosts check in, ${consoles} people read lists, people sign in, and a probe measures latency.`,
  run: async ({ root, isQuick }): Promise<Outcome> => {
    // The gate acts as a trusted proxy, so each sign-in can come from a different address.
    const env = { PORTCULLIS_TRUSTED_PROXIES: '127.0.0.1', PORTCULLIS_LOG_LEVEL: 'info' }
    await using fleet = await startWorkingFleet({ root, hosts, consoles, interval: 2, env })
    const { server } = fleet
    const { url } = server
    using wire = createWire(url)
    const flooder = await enrolHost(wire, await server.enrolmentToken(1), 'flooder')
    const report = filled(
      agentPaths.checkIn,
      `authorization: Bearer ${flooder.token}\r\nx-forwarded-for: 198.51.100.9\r\n`,
      `{"bootId":"${flooder.bootId}","seq":1,"clock":1,"inventory":[`,
      ']}',
    )
    const results = filled(workerPaths.results, '', '{"results":[{"devices":[', ']}]}')
    const floods: Order[] = [
      { does: 'send', url, requests: Array(copies).fill(results) },
      { does: 'send', url, requests: Array(copies).fill(report) },
      {
        ...{ does: 'hold', url, count: slowBodies, perSecond: slowBodies, reads: 'all', againMs: 1_000 },
        heads: [agentPaths.enrol, workerPaths.results].map((path) => requestOf(path, 10_000, '')),
        writes: { text: ' ', everyMs: 500 },
      },
    ]
    const signIn = async (from: string): Promise<number> => {
      const sent = {
        ...{ method: 'POST', path: `${api}/Auth/LocalLogin`, headers: { 'x-forwarded-for': from } },
        body: { userName: 'admin', password: adminPassword },
      }
      return (await wire.send(sent)).status
    }
    for (let i = 0; i < 20; i++) await signIn(knownAddress(i))
    const logged = server.output().length
    const findings: Finding[] = []
    for (const { name, signIns, addressOf } of phases) {
      const what = (figure: string): string => `${figure}, ${name}`
      const correct: number[] = []
      let isOver = false
      const signingIn = (async () => {
        for (let i = 0; !isOver; i++) {
          correct.push(await signIn(addressOf(i)))
          await pause(500)
        }
      })()
      const seconds = isQuick ? 8 : 40
      const orders: Order[] = [...floods, { does: 'send', url, requests: signIns }]
      const attack = await fleet.attacked({ what, orders, seconds, settleMs: 1_500, loopLimit: 50 })
      isOver = true
      await signingIn
      const [bodies, reports, slow, wrong] = attack.counts as [Counts, Counts, Counts, Counts]
      const { 0: _, 401: refused = 0, ...others } = bodies.statuses
      const taken = Object.values(others).reduce((sum, n) => sum + n, 0)
      findings.push(
        ...attack.findings,
        atLeast(what('correct sign-ins'), correct.length, 3),
        atMost(what('correct sign-ins refused'), correct.filter((status) => status !== 200).length, 0),
        atLeast(what('bodies without a key'), bodies.sent, 20, '', `${refused} refused`),
        atMost(what('bodies without a key that were not answered 401'), taken, 0),
        atLeast(what('reports of the agent over its quota'), reports.sent, 20),
        // The quota allows a burst of 16 MiB, then 32 KiB per second.
        atMost(what('reports over the quota that were parsed'), reports.statuses[400] ?? 0, 10),
        atLeast(what('wrong sign-ins'), wrong.sent, 260),
        atLeast(what('slow bodies'), slow.opened, 50),
      )
    }
    findings.push(await fleet.hostsStopped())
    // The server also logs aggregated lines when it stops.
    await fleet.stop()
    const log = server.output().slice(logged)
    const lines = log.split('\n').slice(0, 3)
    return {
      findings: [...findings, atMost('log', log.length, 100_000, 'B')],
      notes: lines.map((line) => line.slice(0, 300)),
    }
  },
}
