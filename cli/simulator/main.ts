/** `npm run simulate` runs a fleet of simulated hosts that use the agent protocol. */
import { mustExist } from '@portcullis/domain'
import { caHashOf, fetchPin } from '../../agent/src/transport/tls-pin.ts'
import { createWake } from '../../agent/src/transport/wake.ts'
import { readArguments, type SimulatorArguments, UsageError, usage } from './arguments.ts'
import { runFleet } from './fleet.ts'
import { createHostAgent } from './host-agent.ts'
import { createHost } from './hosts.ts'
import { type Identity, loadIdentities, saveIdentities } from './identity.ts'
import { createInventory } from './inventory.ts'
import { platformOf } from './platforms.ts'
import { createRandom } from './random.ts'
import { createTransport } from './transport.ts'
import { createWaits } from './waits.ts'

/** Maximum number of connections. It saturates a server with many cores; more would measure the kernel. */
const maxConnections = 256
const plugsPerHostAndSecond = 1 / 600
const clock = { now: () => Date.now() }

/** Log of wake sockets. The simulator reopens broken sockets without a message. */
const silent = { debug: () => {}, info: () => {}, warn: () => {}, error: () => {} }

const print = (line: string): void => {
  process.stderr.write(`${line}\n`)
}

/** Fetches the CA with the hash in the token. Returns undefined for plain HTTP or a public CA. */
const pinnedCa = async (server: URL, token: string): Promise<string | undefined> => {
  const hash = server.protocol === 'https:' ? caHashOf(token) : undefined
  if (hash === undefined) return undefined
  return fetchPin({ server, proxy: undefined, hash, timeoutMs: 15_000, signal: AbortSignal.timeout(15_000) })
}

/** Counts failed requests and prints the first three and then each power of two. */
const createFailures = () => {
  let count = 0
  return {
    count: (): number => count,
    add: (what: string): void => {
      count += 1
      if (count <= 3 || Number.isInteger(Math.log2(count))) print(`Failed request ${count}: ${what}`)
    },
  }
}

const run = async (args: SimulatorArguments): Promise<void> => {
  const anyToken = args.tokens.get('') ?? mustExist([...args.tokens.values()][0], 'a token')
  const ca = await pinnedCa(args.server, anyToken)
  const transport = createTransport({
    server: args.server,
    connections: Math.min(maxConnections, args.agents),
    ...(ca === undefined ? {} : { ca }),
  })
  const waits = createWaits()
  for (const signal of ['SIGINT', 'SIGTERM'] as const) process.once(signal, waits.end)
  // End when the server that started the simulator ends.
  process.once('disconnect', waits.end)
  const failures = createFailures()
  const known =
    args.stateFile === undefined
      ? new Map<number, Identity>()
      : loadIdentities(args.stateFile, args.server.origin, args.seed)

  const agents = Array.from({ length: args.agents }, (_, index) => {
    const random = createRandom(Math.imul(args.seed + 1, 0x9e3779b1) ^ Math.imul(index + 1, 0x85ebca6b))
    const host = createHost(index, random, `seed ${args.seed}`, platformOf(index, args.mix))
    const inventory = createInventory(host.department, random, host.platform)
    const deps = { host, inventory, transport, clock, waits, failed: failures.add }
    return createHostAgent(deps, known.get(index))
  })

  const startedAt = performance.now()
  const report = await runFleet({
    agents,
    tokenFor: ({ host }) => args.tokens.get(host.department.name) ?? anyToken,
    intervalMs: args.intervalSeconds * 1000,
    durationMs: args.durationSeconds * 1000,
    wakeSockets: args.wakeSockets,
    listen: (agent, onWake) => {
      const wake = createWake({ transport, log: silent, onWake })
      agent.onSession(wake.useToken)
      return wake.stop
    },
    offlineShare: args.offlineShare,
    plugRate: args.plugRate ?? args.agents * plugsPerHostAndSecond,
    random: createRandom(args.seed),
    waits,
    errors: failures.count,
    progress: (joined) => {
      if (joined % 1000 === 0) print(`${joined} of ${args.agents} hosts enrolled`)
    },
    enrolled: (joined) => {
      const seconds = ((performance.now() - startedAt) / 1000).toFixed(1)
      print(`${joined.length} hosts enrolled in ${seconds} s, ${known.size} of them from an earlier run`)
      if (args.stateFile !== undefined)
        saveIdentities(
          args.stateFile,
          args.server.origin,
          args.seed,
          new Map([...known, ...joined.map((agent) => [agent.host.index, agent.identity() as Identity] as const)]),
        )
    },
  })
  transport.close()
  process.disconnect?.()
  if (args.json) process.stdout.write(`${JSON.stringify(report)}\n`)
  else
    process.stdout.write(
      `${report.agents} hosts, ${report.checkIns} check-ins (${report.perSecond}/s), ${report.errors} errors, ` +
        `p50 ${report.p50Ms} ms, p95 ${report.p95Ms} ms, p99 ${report.p99Ms} ms\n`,
    )
  if (report.agents === 0) process.exitCode = 1
}

const args = process.argv.slice(2)
try {
  if (args.includes('--help') || args.includes('-h')) process.stdout.write(`${usage}\n`)
  else await run(readArguments(args))
} catch (error) {
  if (error instanceof UsageError) print(`${error.message}\n\n${usage}`)
  else print(error instanceof Error ? error.message : String(error))
  process.exitCode = 1
}
