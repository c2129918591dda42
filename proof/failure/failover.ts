import { execFile } from 'node:child_process'
import { writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { setTimeout as pause } from 'node:timers/promises'
import { createTransport, type Transport } from '../../cli/simulator/transport.ts'
import { startTestNodes, type TestNode } from '../../platform/server/postgres/test-nodes.ts'
import { temporaryFolder } from '../kit/database.ts'
import { haproxyIsMissing, startHaproxy } from '../kit/haproxy.ts'
import { onInterrupt } from '../kit/interrupts.ts'
import { type Relay, startRelay } from '../kit/relay.ts'
import { startReplicas } from '../kit/replicas.ts'
import { acknowledgedBy, enrolReportingHosts, failedOf } from '../kit/reporting-host.ts'
import { compareStored } from '../kit/stored.ts'
import { atLeast, atMost, type Check, type Finding, type Outcome, relative } from '../kit/verdict.ts'

const hosts = 64
/** One-way delay between the primary and its standbys, as between two data centres of a region. */
const delayMs = 20
/** Time until the operator runs the command. */
const reactionMs = 1_000

const rights = [
  'create role failover login',
  'grant pg_monitor, pg_signal_backend, pg_checkpoint to failover',
  'grant execute on function pg_promote(boolean, integer), pg_reload_conf() to failover',
  'grant alter system on parameter primary_conninfo, synchronous_standby_names, default_transaction_read_only to failover',
]

/** Starts two servers behind HAProxy on a primary with two standbys, and enrols the hosts. */
const install = async (root: string, synchronous: string) => {
  // Releases everything if a step fails.
  await using made = new AsyncDisposableStack()
  const folder = temporaryFolder('failover')
  const links: Relay[] = []
  const cut = async (): Promise<void> => {
    await Promise.all(links.splice(0).map((link) => link.close()))
  }
  const nodes = await startTestNodes({
    synchronous,
    link: async (port) => {
      const link = await startRelay(port, delayMs)
      links.push(link)
      return link.port
    },
  })
  made.defer(onInterrupt(nodes.stop))
  made.defer(nodes.stop)
  made.defer(cut)
  await nodes.nodes[0].admin(...rights)
  await nodes.streaming()
  const urlFile = join(folder, 'failover.url')
  writeFileSync(urlFile, nodes.url('failover'))
  const replicas = made.use(await startReplicas(folder, nodes.url(), root))
  const { url, ready } = made.use(await startHaproxy(replicas.urls))
  const reach = (timeoutMs: number): Transport =>
    made.use(createTransport({ server: new URL(url), connections: hosts, timeoutMs }))
  // Each enrolment waits for a standby several times, one host after the other.
  let transport = reach(60_000)
  const token = await replicas.first.enrolmentToken(hosts)
  const fleet = await enrolReportingHosts(hosts, () => transport, token, 'failover')
  made.defer(() => {
    for (const host of fleet) host.leave()
  })
  transport = reach(10_000)
  const kept = made.move()
  return {
    ...{ nodes, fleet, urlFile, ready, restart: replicas.restart },
    /** Breaks the network between the primary and its standbys. */
    cut,
    [Symbol.asyncDispose]: () => kept.disposeAsync(),
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

/** Kills the primary under load, promotes a standby, and restarts the replicas one by one. */
const failOver = async (isSynchronous: boolean, isQuick: boolean, root: string): Promise<Outcome> => {
  await using installation = await install(root, isSynchronous ? 'ANY 1 (a, b, c)' : '')
  const { nodes, fleet, urlFile } = installation
  const [a] = nodes.nodes
  const running = fleet.map((host) => host.run(20))
  await pause(isQuick ? 3_000 : 10_000)
  await installation.cut()
  const cancelled = isSynchronous ? await cancelWaits(a, 2_000) : 0
  await a.kill()
  const atKill = acknowledgedBy(fleet)
  await pause(reactionMs)
  const startedAt = performance.now()
  const ordered = promote(root, ['--url-file', urlFile, ...(isSynchronous ? [] : ['--accept-loss'])])
  let backMs = Number.POSITIVE_INFINITY
  const before = acknowledgedBy(fleet)
  while (performance.now() - startedAt < 60_000) {
    if (acknowledgedBy(fleet) > before) {
      backMs = Math.round(performance.now() - startedAt)
      break
    }
    await pause(10)
  }
  const { code, output } = await ordered
  await pause(isQuick ? 2_000 : 5_000)
  const failedBefore = failedOf(fleet)
  const sentBefore = acknowledgedBy(fleet)
  for (const at of isSynchronous ? ([0, 1] as const) : []) {
    await installation.restart(at)
    await installation.ready()
  }
  const failedByRestarts = failedOf(fleet) - failedBefore
  const sentInRestarts = acknowledgedBy(fleet) - sentBefore
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
    relative(atLeast(`${name}: acknowledged`, acknowledgedBy(fleet), atKill + hosts)),
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
