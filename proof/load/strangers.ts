/** Measures a working fleet beside clients that hold connections or send costly bodies. */

import { type ChildProcess, spawn } from 'node:child_process'
import { once } from 'node:events'
import { rmSync, writeFileSync } from 'node:fs'
import { Agent, request } from 'node:http'
import { join } from 'node:path'
import { setTimeout } from 'node:timers/promises'
import { temporaryFolder } from '../kit/database.ts'
import { startServer } from '../kit/installation.ts'
import { startProbe } from '../kit/probe.ts'
import { openFiles, residentBytes } from '../kit/proc.ts'
import { fromRoot } from '../kit/root.ts'
import { atLeast, atMost, type Finding } from '../kit/verdict.ts'
import type { Held } from './holders.ts'
import { type BenchResult, round } from './result.ts'
import type { SenderOrder } from './senders.ts'

export interface StrangersBench {
  hosts: number
  consoles: number
  /** Slow readers; twice as many idle connections. */
  clients: number
  /** Duration of each attack. */
  seconds: number
}

type Server = Awaited<ReturnType<typeof startServer>>

const intervalSeconds = 5
const enrolWithinMs = 180_000
/** A process may open as many files as the server. */
const clientsOfProcess = 5_000
/** Connections that the attacker opens per second. */
const perSecond = 250
const megabytes = (bytes: number): number => round(bytes / 1e6, 1)

const bodyNames = 600_000
const senders = 4

/** Attacks: what each client does, from how many addresses. */
const attacks = [
  { what: 'slow readers from one address', addresses: 1, share: 1, does: 'read' },
  { what: 'slow readers from 2,000 addresses', addresses: 2_000, share: 1, does: 'read' },
  { what: 'idle connections of one account', addresses: 2_000, share: 2, does: 'idle' },
  { what: 'bodies with 600,000 names of a User', addresses: 1, share: 0, does: 'send' },
] as const

const startHosts = (url: string, tokenFile: string, hosts: number): ChildProcess =>
  spawn(
    process.execPath,
    [
      fromRoot('cli/simulator/main.ts'),
      ...['--server', url, '--token-file', tokenFile, '--agents', String(hosts), '--wake', String(hosts)],
      ...['--interval', String(intervalSeconds), '--duration', '0', '--offline', '0', '--json'],
    ],
    { stdio: ['ignore', 'pipe', 'ignore'] },
  )

/** A console: follows the live stream and reads a page of hosts each second. */
const openConsole = (url: string, token: string) => {
  const agent = new Agent({ keepAlive: true, maxSockets: 6 })
  const headers = { authorization: `Bearer ${token}` }
  const counts = { read: 0, failed: 0 }
  const live = request(`${url}/prime/webui/live`, { agent, headers }, (answer) => {
    if (answer.statusCode !== 200) counts.failed += 1
    answer.resume()
  })
  let isOpen = true
  live.on('error', () => {
    if (isOpen) counts.failed += 1
  })
  live.on('close', () => {
    if (isOpen) counts.failed += 1
  })
  live.end()
  const timer = setInterval(() => {
    request(`${url}/prime/webui/agents?PageSize=50`, { agent, headers }, (answer) => {
      answer.resume()
      answer.on('end', () => {
        if (answer.statusCode === 200) counts.read += 1
        else counts.failed += 1
      })
    })
      .on('error', () => {
        counts.failed += 1
      })
      .end()
  }, 1_000)
  return {
    counts,
    close: (): void => {
      isOpen = false
      clearInterval(timer)
      live.destroy()
      agent.destroy()
    },
  }
}

/** Orders to processes that hold connections, and open each one again a minute after it was closed. */
const holderOrders = (url: string, clients: number, addresses: number, heads: string[], isReader: boolean) => {
  const parts = Math.ceil(clients / clientsOfProcess)
  return Array.from({ length: parts }, (_, index) => ({
    url,
    count: Math.min(clientsOfProcess, clients - index * clientsOfProcess),
    addresses,
    first: index * clientsOfProcess,
    heads,
    perSecond: perSecond / parts,
    isReader,
  }))
}

/** Starts a process for each order, and adds up what they report. */
const startAttackers = (program: 'holders' | 'senders', orders: readonly object[]) => {
  const processes = orders.map((order) =>
    spawn(process.execPath, [fromRoot(`proof/load/${program}.ts`), JSON.stringify(order)], {
      stdio: ['ignore', 'ignore', 'inherit', 'ipc'],
    }),
  )
  const latest = processes.map((): Held => ({ opened: 0, held: 0, answered: 0 }))
  processes.forEach((one, index) => {
    one.on('message', (held: Held) => {
      latest[index] = held
    })
  })
  return {
    sum: (): Held =>
      latest.reduce((a, b) => ({
        opened: a.opened + b.opened,
        held: a.held + b.held,
        answered: a.answered + b.answered,
      })),
    stop: async (): Promise<void> => {
      for (const one of processes) one.kill('SIGKILL')
      await Promise.all(
        processes.map((one) => (one.exitCode === null && one.signalCode === null ? once(one, 'exit') : null)),
      )
    },
  }
}

const metricOf = (text: string, name: string): number =>
  [...text.matchAll(new RegExp(`^${name}(?:\\{[^}]*\\})? (\\d+)$`, 'gm'))].reduce((sum, [, n]) => sum + Number(n), 0)

const metricsOf = async ({ url }: Server): Promise<string> => (await fetch(`${url}/metrics`)).text()

const untilConnected = async (server: Server, hosts: number, token: string): Promise<void> => {
  const end = performance.now() + enrolWithinMs
  for (;;) {
    // On a busy machine, the enrolments may delay the page.
    const page = await server.call('/prime/webui/agents?PageSize=1&Status=Free', undefined, token).catch(() => null)
    if (Number(page?.recordsFiltered) >= hosts) return
    if (performance.now() > end) throw new Error(`${page?.recordsFiltered} of ${hosts} hosts enrolled`)
    await setTimeout(1_000)
  }
}

export const benchStrangers = async ({ hosts, consoles, clients, seconds }: StrangersBench): Promise<BenchResult> => {
  const folder = temporaryFolder('strangers')
  const server = await startServer({ databaseUrl: undefined })
  const open: ReturnType<typeof openConsole>[] = []
  let fleet: ChildProcess | undefined
  try {
    const tokenFile = join(folder, 'token')
    const admin = await server.signIn()
    const enrolment = await server.call(
      '/prime/webui/agents/enrollmenttokens',
      { name: 'Hosts of the benchmark', maxUses: hosts + 1 },
      admin,
    )
    writeFileSync(tokenFile, String(enrolment.token), { mode: 0o600 })
    fleet = startHosts(server.url, tokenFile, hosts)
    let report = ''
    fleet.stdout?.on('data', (text) => {
      report += String(text)
    })
    await untilConnected(server, hosts, admin)
    const password = 'A long password of the benchmark 1'
    await server.call('/prime/webui/admin/adduser', { userName: 'attacker', userProfile: 30, password }, admin)
    const { token: attacker } = await server.call('/prime/webui/Auth/LocalLogin', { username: 'attacker', password })
    for (let index = 0; index < consoles; index++) open.push(openConsole(server.url, await server.signIn()))
    // The first request builds the document.
    await (await fetch(`${server.url}/openapi.json`)).text()
    await setTimeout(10_000)

    const figures: Finding[] = []
    const notRun: string[] = []
    const consoleFailures = (): number => open.reduce((sum, { counts }) => sum + counts.failed, 0)
    const consoleReads = (): number => open.reduce((sum, { counts }) => sum + counts.read, 0)
    for (const { what, addresses, share, does } of attacks) {
      const isReader = does === 'read'
      const get = (path: string, more = ''): string => `GET ${path} HTTP/1.1\r\nHost: a\r\n${more}\r\n`
      const heads = isReader
        ? [get('/openapi.json'), get('/agent/v1/download/linux-x64')]
        : [get('/prime/webui/admin/profile', `Authorization: Bearer ${String(attacker)}\r\n`)]
      const before = {
        bytes: residentBytes(server.pid),
        failed: consoleFailures(),
        reads: consoleReads(),
        checkIns: metricOf(await metricsOf(server), 'portcullis_check_ins_total'),
      }
      const probe = startProbe({ url: server.url, path: '/readyz', perSecond: 20, isFresh: true })
      const holders =
        does === 'send'
          ? startAttackers('senders', [
              {
                url: server.url,
                path: '/prime/webui/policy/tags/preview',
                token: String(attacker),
                count: senders,
                names: bodyNames,
              } satisfies SenderOrder,
            ])
          : startAttackers('holders', holderOrders(server.url, clients * share, addresses, heads, isReader))
      const most = { bytes: 0, files: 0 }
      const startedAt = performance.now()
      while (performance.now() - startedAt < seconds * 1_000 && server.isRunning()) {
        most.bytes = Math.max(most.bytes, residentBytes(server.pid))
        most.files = Math.max(most.files, openFiles(server.pid))
        await setTimeout(500)
      }
      const tookSeconds = (performance.now() - startedAt) / 1_000
      const { p99, sent, failed, failures } = await probe.stop()
      const { opened, answered } = holders.sum()
      const metrics = server.isRunning() ? await metricsOf(server) : ''
      await holders.stop()
      const checkIns = metricOf(metrics, 'portcullis_check_ins_total') - before.checkIns
      figures.push(
        does === 'send'
          ? atLeast(`${what}: bodies refused`, answered, 20)
          : atLeast(
              `${what}: connections opened`,
              opened,
              clients * share,
              '',
              `${isReader ? '' : `${answered} answered, `}at most ${most.files} open files of the server`,
            ),
        atMost(`${what}: probe p99`, p99, 250, 'ms', `${sent} requests`),
        atMost(`${what}: probes that failed`, failed, 0, '', failures[0]),
        atMost(
          `${what}: requests of consoles that failed`,
          consoleFailures() - before.failed,
          0,
          '',
          `${consoleReads() - before.reads} pages read`,
        ),
        atLeast(
          `${what}: check-ins, share of the wanted pace`,
          round(checkIns / ((hosts / intervalSeconds) * tookSeconds)),
          0.95,
        ),
        atMost(`${what}: growth of the server memory`, megabytes(most.bytes - before.bytes), 300, 'MB'),
        atMost(`${what}: server ended`, server.isRunning() ? 0 : 1, 0),
      )
      if (!server.isRunning()) {
        notRun.push(`the attacks after the ${what}: the server ended`)
        break
      }
      await setTimeout(5_000)
    }
    fleet.kill('SIGTERM')
    await once(fleet, 'exit')
    const failedRequests = Number((JSON.parse(report.trim().split('\n').at(-1) ?? '{}') as { errors?: number }).errors)
    figures.push(atMost('requests of hosts that failed', failedRequests, 0))
    return {
      what: `${hosts} hosts with wake sockets that check in every ${intervalSeconds} s and ${consoles} consoles beside ${clients} clients that read the API document or the agent at a byte per 10 s, from one and from 2,000 addresses, beside ${clients * 2} idle connections of one account, and beside ${senders} connections of a User that send bodies with ${bodyNames} names; each attack ${seconds} s; ${perSecond} connections opened per second, and again a minute after they were closed; load generator on the same cores`,
      findings: figures,
      notRun,
    }
  } finally {
    for (const one of open) one.close()
    fleet?.kill('SIGKILL')
    await server.stop()
    rmSync(folder, { recursive: true, force: true })
  }
}
