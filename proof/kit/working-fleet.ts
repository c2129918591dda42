/** A fleet that works while it is attacked: hosts check in, consoles follow the live stream and read lists, a probe measures. */
import { Agent, request } from 'node:http'
import { setTimeout as pause } from 'node:timers/promises'
import { type Counts, type Order, startAttackers } from './attackers.ts'
import { startServer } from './installation.ts'
import { startProbe } from './probe.ts'
import { openFiles, residentBytes } from './proc.ts'
import { adminPassword } from './server.ts'
import { createServerMetrics } from './server-metrics.ts'
import { startSimulator } from './simulator.ts'
import { atLeast, atMost, type Finding, figure, round } from './verdict.ts'

export interface WorkingFleetOptions {
  root?: string
  hosts: number
  consoles: number
  /** Check-in interval of the hosts in seconds. */
  interval: number
  /** Additional environment variables of the server. */
  env?: Readonly<Record<string, string>>
}

export interface AttackOptions {
  /** Names a figure of this attack. */
  what: (figure: string) => string
  orders: readonly Order[]
  seconds: number
  /** Time between the start of the attack and the measurement. */
  settleMs?: number
  /** Limit of the event loop delay, p99, in milliseconds. */
  loopLimit?: number
}

const live = '/prime/webui/live'
const page = '/prime/webui/agents?PageSize=50'

/** A console: follows the live stream and reads a page of hosts each second. */
const openConsole = (url: string, token: string) => {
  const agent = new Agent({ keepAlive: true, maxSockets: 6 })
  const counts = { read: 0, failed: 0 }
  let isOpen = true
  const fail = (): void => {
    if (isOpen) counts.failed += 1
  }
  const ask = (path: string, answered: () => void) => {
    const sent = request(url + path, { agent, headers: { authorization: `Bearer ${token}` } }, (answer) => {
      if (answer.statusCode === 200) answered()
      else fail()
      answer.resume()
    })
    return sent.on('error', fail)
  }
  const stream = ask(live, () => {}).on('close', fail)
  stream.end()
  const timer = setInterval(() => ask(page, () => counts.read++).end(), 1_000)
  return {
    counts,
    close: (): void => {
      isOpen = false
      clearInterval(timer)
      stream.destroy()
      agent.destroy()
    },
  }
}

export const startWorkingFleet = async ({ root, hosts, consoles, interval, env = {} }: WorkingFleetOptions) => {
  const metrics = createServerMetrics()
  const server = await startServer({
    databaseUrl: undefined,
    env: { ...metrics.env, ...env },
    ...(root === undefined ? {} : { root }),
  })
  const open: ReturnType<typeof openConsole>[] = []
  let simulator: Awaited<ReturnType<typeof startSimulator>> | undefined
  const stop = async (): Promise<void> => {
    for (const one of open) one.close()
    simulator?.kill()
    await server.stop()
  }
  const sumOf = (key: 'read' | 'failed'): number => open.reduce((sum, { counts }) => sum + counts[key], 0)
  try {
    const admin = await server.signIn()
    const checkIns = async (): Promise<number> => {
      const headers = { authorization: `Bearer ${admin}` }
      const text = server.isRunning() ? await (await fetch(`${server.url}/metrics`, { headers })).text() : ''
      const found = text.matchAll(/^portcullis_check_ins_total(?:\{[^}]*\})? (\d+)$/gm)
      return [...found].reduce((sum, [, n]) => sum + Number(n), 0)
    }
    simulator = await startSimulator(server, hosts, { wake: hosts, interval, offline: 0 })
    // Separate accounts, because the sessions and connections of an account are limited.
    const person = { password: adminPassword, userProfile: 30, mustChangePassword: false }
    for (const userName of ['reader', 'attacker'])
      await server.call('/prime/webui/admin/adduser', { ...person, userName }, admin)
    const sessionOf = async (userName: string): Promise<string> =>
      String((await server.call('/prime/webui/Auth/LocalLogin', { userName, password: adminPassword })).token)
    for (let i = 0; i < consoles; i++) open.push(openConsole(server.url, await sessionOf('reader')))
    // The first request builds the document.
    await (await fetch(`${server.url}/openapi.json`)).text()
    await pause(10_000)
    return {
      server,
      admin,
      /** A session of a User. */
      attacker: await sessionOf('attacker'),
      /** Measures the fleet before and during an attack. */
      attacked: async ({ what, orders, seconds, settleMs = 0, loopLimit }: AttackOptions) => {
        const probe = startProbe({ url: server.url, path: '/readyz', perSecond: 20, isFresh: true })
        // A measurement collects all garbage, and requests that arrive meanwhile wait for it.
        const loopDelays = async () => {
          const { delays } = await metrics.read(server.pid)
          await pause(500)
          return delays
        }
        await loopDelays()
        await probe.restart()
        await pause(2_000)
        const { p99: calm } = await probe.restart()
        const before = await loopDelays()
        const bytes = residentBytes(server.pid)
        const consolesBefore = { read: sumOf('read'), failed: sumOf('failed') }
        const attackers = orders.map(startAttackers)
        await Promise.all(attackers.map(({ started }) => started))
        await pause(settleMs)
        if (settleMs > 0) await loopDelays()
        await probe.restart()
        const checkInsBefore = await checkIns()
        const most = { bytes: 0, files: 0 }
        const startedAt = performance.now()
        while (performance.now() - startedAt < seconds * 1_000 && server.isRunning()) {
          most.bytes = Math.max(most.bytes, residentBytes(server.pid))
          most.files = Math.max(most.files, openFiles(server.pid))
          await pause(500)
        }
        const took = (performance.now() - startedAt) / 1_000
        const { p99, sent, failed, failures } = await probe.read()
        const share = ((await checkIns()) - checkInsBefore) / ((hosts / interval) * took)
        const during = server.isRunning() ? await loopDelays() : undefined
        const counts: Counts[] = await Promise.all(attackers.map((one) => one.stop()))
        await probe.stop()
        const findings: Finding[] = [
          figure(what('probe p99 before the attack'), calm, 'ms'),
          figure(what('event loop delay, p99, before the attack'), round(before.p99Ms, 1), 'ms'),
          atMost(what('probe p99'), p99, 250, 'ms', `${sent} requests`),
          atMost(what('probes that failed'), failed, 0, '', failures[0]),
          atMost(what('event loop delay, p99'), round(during?.p99Ms ?? Number.NaN, 1), loopLimit, 'ms'),
          figure(what('event loop delay, longest'), round(during?.maxMs ?? Number.NaN, 1), 'ms'),
          atMost(
            what('requests of consoles that failed'),
            sumOf('failed') - consolesBefore.failed,
            0,
            '',
            `${sumOf('read') - consolesBefore.read} pages read`,
          ),
          atLeast(what('check-ins, share of the wanted pace'), round(share), 0.95),
          atMost(what('growth of the server memory'), round((most.bytes - bytes) / 1e6, 1), 300, 'MB'),
          atMost(what('server ended'), server.isRunning() ? 0 : 1, 0),
        ]
        return { findings, counts, files: most.files }
      },
      /** Stops the hosts and returns the number of their failed requests as a figure. */
      hostsStopped: async (): Promise<Finding> =>
        atMost('requests of hosts that failed', Number((await simulator?.stop())?.errors), 0),
      stop,
      [Symbol.asyncDispose]: stop,
    }
  } catch (error) {
    await stop()
    throw error
  }
}
