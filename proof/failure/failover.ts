import { execFile } from 'node:child_process'
import { rmSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { setTimeout as pause } from 'node:timers/promises'
import { createTransport } from '../../cli/simulator/transport.ts'
import { startTestNodes, type TestNode, type TestNodes } from '../../platform/server/postgres/test-nodes.ts'
import { temporaryFolder } from '../kit/database.ts'
import { type DelayedLink, startDelayedLink } from '../kit/delayed-link.ts'
import { freePort } from '../kit/free-port.ts'
import { haproxyIsMissing, startHaproxy } from '../kit/haproxy.ts'
import { onInterrupt } from '../kit/interrupts.ts'
import { enrolReportingHost, type ReportingHost } from '../kit/reporting-host.ts'
import { type ServerProcess, startServerProcess } from '../kit/server.ts'
import { compareStored } from '../kit/stored.ts'
import { atLeast, atMost, type Check, type Finding, type Outcome, relative } from '../kit/verdict.ts'

const hosts = 64
/** One-way delay between the primary and its standbys, as between two data centres of a region. */
const delayMs = 20
/** Time until the operator runs the command. */
const reactionMs = 1_000
const drainSeconds = 2

interface Installation {
  nodes: TestNodes
  replicas: [ServerProcess, ServerProcess]
  /** Restarts a replica at its address. */
  restart(at: 0 | 1): Promise<void>
  fleet: ReportingHost[]
  url: string
  urlFile: string
  /** Breaks the network between the primary and its standbys. */
  cut(): Promise<void>
  stop(): Promise<void>
}

const rights = [
  'create role failover login',
  'grant pg_monitor, pg_signal_backend, pg_checkpoint to failover',
  'grant execute on function pg_promote(boolean, integer), pg_reload_conf() to failover',
  'grant alter system on parameter primary_conninfo, synchronous_standby_names, default_transaction_read_only to failover',
]

/** Starts two servers behind HAProxy on a primary with two standbys, and enrols the hosts. */
const install = async (root: string, synchronous: string): Promise<Installation> => {
  const folder = temporaryFolder('failover')
  const links: DelayedLink[] = []
  const cut = async (): Promise<void> => {
    await Promise.all(links.splice(0).map((link) => link.cut()))
  }
  const nodes = await startTestNodes({
    synchronous,
    link: async (port) => {
      const link = await startDelayedLink(port, delayMs)
      links.push(link)
      return link.port
    },
  })
  const undone = onInterrupt(nodes.stop)
  await nodes.nodes[0].admin(...rights)
  await nodes.streaming()
  const urlFile = join(folder, 'failover.url')
  writeFileSync(urlFile, nodes.url('failover'))
  const ports = [await freePort(), await freePort()]
  const start = (at: 0 | 1): Promise<ServerProcess> =>
    startServerProcess({
      databaseUrl: nodes.url(),
      dataDir: join(folder, `replica-${at}`),
      port: ports[at] as number,
      root,
      env: {
        PORTCULLIS_KEY_FILE: join(folder, 'portcullis.key'),
        PORTCULLIS_DRAIN_SECONDS: String(drainSeconds),
      },
    })
  // The first replica creates the key file and the first account.
  const replicas: [ServerProcess, ServerProcess] = [await start(0), await start(1)]
  const balancer = await startHaproxy(replicas.map(({ url }) => url))
  const transport = createTransport({ server: new URL(balancer.url), connections: hosts, timeoutMs: 10_000 })
  const admin = await replicas[0].signIn()
  const { token } = await replicas[0].call(
    '/prime/webui/agents/enrollmenttokens',
    { name: 'drill', maxUses: hosts },
    admin,
  )
  const fleet = await Promise.all(
    Array.from({ length: hosts }, (_, i) => enrolReportingHost(() => transport, String(token), `failover-${i}`)),
  )
  return {
    nodes,
    replicas,
    fleet,
    url: balancer.url,
    urlFile,
    cut,
    restart: async (at) => {
      await replicas[at].end('SIGTERM')
      replicas[at] = await start(at)
    },
    stop: async () => {
      for (const host of fleet) host.leave()
      await Promise.all(replicas.map((replica) => replica.end()))
      transport.close()
      await balancer.stop()
      await cut()
      await nodes.stop()
      undone()
      rmSync(folder, { recursive: true, force: true })
    },
  }
}

/** Runs `portcullis database promote`. Returns its exit code and output. */
const promote = (root: string, args: readonly string[]): Promise<{ code: number; output: string }> =>
  new Promise((resolve) => {
    const all = [join(root, 'cli/src/main.ts'), 'database', 'promote', ...args]
    execFile(process.execPath, all, { cwd: root }, (error, stdout, stderr) =>
      resolve({ code: error === null ? 0 : Number(error.code), output: stdout + stderr }),
    )
  })

/** Cancels each COMMIT that waits for a standby, like an operator who wants the service back. Returns their number. */
const cancelWaits = async (primary: TestNode, forMs: number): Promise<number> => {
  let cancelled = 0
  for (const end = performance.now() + forMs; performance.now() < end; await pause(20))
    cancelled += (
      await primary.admin("select pg_cancel_backend(pid) from pg_stat_activity where wait_event = 'SyncRep'")
    ).length
  return cancelled
}

const acknowledged = (fleet: readonly ReportingHost[]): number =>
  fleet.reduce((sum, { reported }) => sum + reported.acknowledged.length, 0)
const failed = (fleet: readonly ReportingHost[]): number =>
  fleet.reduce((sum, { reported }) => sum + reported.resent + reported.refused.length, 0)

/** Kills the primary under load, promotes a standby, and restarts the replicas one by one. */
const failOver = async (isSynchronous: boolean, isQuick: boolean, root: string): Promise<Outcome> => {
  const installation = await install(root, isSynchronous ? 'ANY 1 (a, b, c)' : '')
  const { nodes, fleet, urlFile } = installation
  const [a] = nodes.nodes
  try {
    const running = fleet.map((host) => host.run(20))
    await pause(isQuick ? 3_000 : 10_000)
    await installation.cut()
    const cancelled = isSynchronous ? await cancelWaits(a, 2_000) : 0
    await a.kill()
    const atKill = acknowledged(fleet)
    await pause(reactionMs)
    const startedAt = performance.now()
    const ordered = promote(root, ['--url-file', urlFile, ...(isSynchronous ? [] : ['--accept-loss'])])
    let backMs = Number.POSITIVE_INFINITY
    const before = acknowledged(fleet)
    while (performance.now() - startedAt < 60_000) {
      if (acknowledged(fleet) > before) {
        backMs = Math.round(performance.now() - startedAt)
        break
      }
      await pause(10)
    }
    const { code, output } = await ordered
    await pause(isQuick ? 2_000 : 5_000)
    const failedBefore = failed(fleet)
    const sentBefore = acknowledged(fleet)
    for (const at of isSynchronous ? ([0, 1] as const) : []) {
      await installation.restart(at)
      // HAProxy checks each replica every 0.3 s.
      await pause(1_000)
    }
    const failedByRestarts = failed(fleet) - failedBefore
    const sentInRestarts = acknowledged(fleet) - sentBefore
    for (const host of fleet) host.stop()
    await Promise.race([Promise.all(running), pause(30_000)])
    const standing = (
      await Promise.all(
        nodes.nodes.map((node) =>
          node.admin('select pg_is_in_recovery() as standby').then(
            ([row]) => (row?.standby === false ? node : null),
            () => null,
          ),
        ),
      )
    ).find((node) => node !== null)
    const connection = { host: '127.0.0.1', port: standing?.port ?? 0, user: 'postgres', database: 'portcullis' }
    const { lost, twice, refused } = await compareStored(connection, fleet)
    const name = isSynchronous ? 'synchronous' : 'asynchronous'
    const findings: Finding[] = [
      atLeast(`${name}: acknowledged before the kill`, atKill, hosts),
      relative(atLeast(`${name}: acknowledged`, acknowledged(fleet), atKill + hosts)),
      atMost(`${name}: exit code of the promotion`, code, 0),
      atMost(`${name}: acknowledges again after the command started`, backMs, 30_000, 'ms'),
      { what: `${name}: lost`, value: lost, ...(isSynchronous ? { atMost: 0 } : {}) },
      atMost(`${name}: stored twice`, twice, 0),
      atMost(`${name}: refused`, refused, 0),
    ]
    if (isSynchronous)
      findings.push(
        atLeast('commits whose wait was cancelled', cancelled, 1),
        atLeast('acknowledged while the replicas were restarted', sentInRestarts, hosts),
        atMost('failed requests while the replicas were restarted', failedByRestarts, 0),
      )
    return {
      findings,
      notes: [
        ...(code === 0 ? [] : [output]),
        ...fleet.flatMap(({ reported }) => reported.refused).slice(0, 3),
        ...output.split('\n').filter((line) => line !== ''),
      ],
    }
  } finally {
    await installation.stop()
  }
}

/** Kills the primary of the database and promotes a standby, with synchronous and asynchronous replication. */
export const failover: Check = {
  name: 'failover',
  what: `${hosts} hosts report through HAProxy to two servers on PostgreSQL with two streaming standbys, ${delayMs} ms away. The network to the standbys breaks, an operator cancels the waiting commits, the primary is killed (SIGKILL), and "portcullis database promote" promotes a standby. With ANY 1 (…), no acknowledged report is lost, and reports are acknowledged again within 30 s; then both replicas are restarted one by one without a failed request. Without synchronous replication, the loss is counted.`,
  run: async ({ isQuick, root }): Promise<Outcome> => {
    const missing = haproxyIsMissing()
    if (missing !== null) return { findings: [], notRun: [missing] }
    const synchronous = await failOver(true, isQuick, root)
    const asynchronous = await failOver(false, isQuick, root)
    return {
      findings: [...synchronous.findings, ...asynchronous.findings],
      notes: [...(synchronous.notes ?? []), ...(asynchronous.notes ?? [])],
    }
  },
}
