import { setTimeout as pause } from 'node:timers/promises'
import { plainHost, storageStick } from '@portcullis/domain/testing'
import { eventCatalogue, type Poll, type PollResult, workerLimits } from '@portcullis/features/contract.ts'
import { startFaultTest, timesOf } from '../kit/fault-test.ts'
import { endedPolls, type Given, readPolls, runningOf, watchPolls } from '../kit/poll-log.ts'
import { ownWorkerOf } from '../kit/proc.ts'
import { fromRoot } from '../kit/root.ts'
import { seededRandom } from '../kit/seeded-random.ts'
import type { ServerProcess } from '../kit/server.ts'
import { sshFingerprint } from '../kit/ssh-hosts/host-key.ts'
import { startSshHosts } from '../kit/ssh-hosts/index.ts'
import { type Connection, withClient } from '../kit/stored.ts'
import { amount, atLeast, atMost, type Check, type Finding, figure, type Outcome } from '../kit/verdict.ts'
import { emptyResult, playWorker, startWorkerProcess, type WorkerProcess } from '../kit/worker.ts'

const base = '/prime/webui/agents/agentless'
/** Number of devices of each simulated SSH host. */
const devices = 6
/** Number of polls whose worker falls silent and delivers its results too late. */
const silent = 8
/** Leases without a result after which a host is postponed, because polling it kills workers. */
const attempts = 3

/**
 * Sizes of both forms. Crashes happen within the first `spread` of the polls. The server's clock runs `pace` times as
 * fast, because a single lease would otherwise take as long as the short form.
 */
const forms = {
  quick: { polls: 100, workers: 4, kills: 3, pauses: 1, slowMs: 1_000, pace: 3, spread: 0.3, endMs: 40_000 },
  full: { polls: 1_500, workers: 8, kills: 65, pauses: 14, slowMs: 2_000, pace: 1, spread: 0.8, endMs: 340_000 },
} as const

const stale = 'brought-too-late'

/** Returns a result that must never reach the database. */
const lateResult = (poll: Poll): PollResult => ({
  ...emptyResult(poll),
  facts: plainHost(stale),
  devices: [storageStick({ serial: stale })],
})

/** Adds hosts that are polled once, and stops the server's own worker. */
const setUp = async (server: ServerProcess, port: number, polls: number) => {
  const { call } = server
  const admin = await server.signIn()
  const details = (): Promise<Record<string, unknown>> => call(`${base}/workerpollerdetails`, undefined, admin)
  const connections = Array.from({ length: polls }, (_, i) => ({
    computerName: `127.9.${Math.floor(i / 250)}.${1 + (i % 250)}`,
    port,
    userName: `host-${i}`,
    password: 'a password for the rig only',
    hostKeyFingerprint: sshFingerprint,
    intervalMinutes: 10_080,
  }))
  await call(`${base}/connectiondetails`, { connections }, admin)
  // The worker starts with the first connection. It receives no poll before its activation.
  while ((await details()).id === null) await pause(50)
  const own = ownWorkerOf(server.pid)
  process.kill(own, 'SIGSTOP')
  return {
    own,
    token: async (): Promise<string> => String((await call(`${base}/workerpollerdetails/token`, {}, admin)).token),
    activate: async (): Promise<void> => {
      const { id } = await details()
      await call(`${base}/workerpollerdetails/activatedstatus`, { id, isActivated: true }, admin, 'PUT')
    },
  }
}

/** Delivers results once their polls run again. Counts the accepted ones, and those that arrived during another run. */
const bringLate = async (
  connection: Connection,
  { bring }: Awaited<ReturnType<typeof playWorker>>,
  polls: readonly Poll[],
  isLate: () => boolean,
) => {
  const waiting = new Map(polls.map((poll) => [poll.id, poll]))
  let taken = 0
  while (waiting.size > 0 && !isLate()) {
    await pause(100)
    const again = await withClient(connection, async (client) => {
      const { rows } = await client.query<{ id: string; fence: number }>(
        'SELECT connection_id::text AS id, fence FROM connection_runs WHERE connection_id = ANY($1::uuid[]) AND lease_until IS NOT NULL',
        [[...waiting.keys()]],
      )
      return rows.flatMap(({ id, fence }) => {
        const poll = waiting.get(id)
        return poll !== undefined && fence > poll.fence ? [poll] : []
      })
    })
    if (again.length === 0) continue
    taken += (await bring(again.map(lateResult))).stored.length
    for (const { id } of again) waiting.delete(id)
  }
  return { taken, inTheMiddle: polls.length - waiting.size }
}

/** Times at which each worker fell silent, by its id. */
type Silences = ReadonlyMap<string, readonly number[]>

/** Checks the leases: a poll ran again only after its worker fell silent, and soon enough. */
const judge = (given: readonly Given[], silences: Silences, reads: Record<string, number>, pace: number): Finding[] => {
  let causeless = 0
  let again = 0
  const delays: number[] = []
  for (const { leases, putOff } of given) {
    for (const [i, lease] of leases.entries()) {
      if (lease.state !== null || (i === leases.length - 1 && putOff === 0)) continue
      const next = leases[i + 1]
      const before = (silences.get(lease.poller) ?? []).filter((at) => at <= (next?.at ?? Number.POSITIVE_INFINITY))
      const lost = leases.filter((one) => one.poller === lease.poller && one.state === null)
      if (before.length < lost.length) causeless += 1
      if (next === undefined) continue
      again += 1
      delays.push((next.at - Math.max(...before)) * pace)
    }
  }
  const readTooOften = given.filter(
    // The number in a host's user name follows from its address.
    ({ host, leases }) => {
      const [, , third = 0, last = 0] = host.split('.').map(Number)
      return (reads[`host-${third * 250 + last - 1}`] ?? 0) > leases.length
    },
  ).length
  return [
    atMost('polls that did not end', given.filter(({ isOver }) => !isOver).length, 0),
    atMost('polls that ended twice', given.filter(({ ends, putOff }) => ends + putOff > 1).length, 0),
    atMost(
      'polls that failed otherwise',
      given.filter(({ failure, putOff }) => failure !== null && putOff === 0).length,
      0,
    ),
    atMost(
      `put off before ${attempts} workers died of it`,
      given.filter(({ putOff, leases }) => putOff > 0 && leases.length < attempts).length,
      0,
    ),
    figure('put off', given.filter(({ putOff }) => putOff > 0).length),
    atLeast('run again', again, 1),
    atMost('run again without a crash', causeless, 0),
    atMost('hosts that were read more often than given out', readTooOften, 0),
    ...timesOf('given again', delays, { slowest: 30_000 }),
  ]
}

/** Compares the stored rows with what each polled host must have once. */
const compare = (connection: Connection, given: readonly Given[]): Promise<Finding[]> =>
  withClient(connection, async (client) => {
    const count = async (text: string, values: unknown[] = []): Promise<number> =>
      (await client.query<{ n: number }>(text, values)).rows[0]?.n ?? Number.NaN
    const hosts = given.filter(({ failure, isOver }) => isOver && failure === null).length
    const late = await count(
      'SELECT ((SELECT count(*) FROM peripherals WHERE serial = $1) + (SELECT count(*) FROM agents WHERE host = $1))::int AS n',
      [stale],
    )
    const stored = [
      [await count('SELECT count(*)::int AS n FROM agent_rows WHERE agentless'), hosts],
      [await count('SELECT count(*)::int AS n FROM peripherals'), hosts * devices],
      [
        await count('SELECT count(*)::int AS n FROM events WHERE code = $1', [Number(eventCatalogue.polled.code)]),
        hosts,
      ],
    ] as const
    const others = await count(
      "SELECT count(*)::int AS n FROM connections c JOIN connection_runs r USING (connection_id) LEFT JOIN agent_heartbeats h USING (agent_id) WHERE r.state = 'Success' AND h.seq IS DISTINCT FROM r.fence",
    )
    return [
      atMost('stored of results that came too late', late, 0),
      atMost(
        'hosts, devices and events that are missing or there twice',
        stored.reduce((sum, [is, expected]) => sum + Math.abs(is - expected), 0),
        0,
      ),
      atMost('hosts whose last report is of another run', others, 0),
    ]
  })

/** D6: kills agentless workers during polls, and pauses them for longer than their leases. */
export const killWorker: Check = {
  name: 'D6',
  isWaiting: true,
  what: 'Workers poll SSH hosts that respond slowly. Workers are killed (SIGKILL) during polls or paused (SIGSTOP) for longer than a lease, and one returns its results while others repeat the same polls. Each poll ends once, is repeated at most once for each crash, and is assigned again within 30 s. The clock of the server runs three times as fast in the short form. Late results are not stored.',
  run: async ({ isQuick, root }): Promise<Outcome> => {
    const { polls, workers: size, kills, pauses, slowMs, pace, spread, endMs } = forms[isQuick ? 'quick' : 'full']
    using sshHosts = await startSshHosts()
    await using test = await startFaultTest({
      name: 'polled',
      root,
      hosts: 0,
      env: {
        NODE_OPTIONS: `--import ${fromRoot('proof/kit/skewed-clock.mjs')}`,
        PROOF_PACE: String(pace),
        PROOF_PACE_SINCE: String(Date.now()),
      },
    })
    const { connection } = test
    const server = test.server()
    const workers: WorkerProcess[] = []
    let own = 0
    try {
      sshHosts.slowTo(slowMs)
      const rig = await setUp(server, sshHosts.port, polls)
      own = rig.own
      await watchPolls(connection)
      const played = await playWorker(server.call, await rig.token())
      const startWorker = async (): Promise<WorkerProcess> => {
        const worker = await startWorkerProcess(root, server.url, await rig.token(), 8)
        workers.push(worker)
        return worker
      }
      const awake = await Promise.all(Array.from({ length: size }, startWorker))
      await rig.activate()
      // Other workers may hold all leases at first. Polls are slow enough that some remain when they finish.
      const late: Poll[] = []
      while (late.length < silent) late.push(...(await played.lease(silent - late.length)))
      const silences = new Map<string, number[]>([[played.id, [Date.now()]]])
      const endAt = performance.now() + endMs
      const isLate = (): boolean => performance.now() > endAt
      const bringing = bringLate(connection, played, late, isLate)

      /** Removes a worker that is polling now from the active workers and returns it. */
      const takeBusy = async (): Promise<WorkerProcess | undefined> => {
        while (!isLate()) {
          const at = Math.floor(seededRandom('D6 workers') * awake.length)
          const worker = awake[at]
          if (worker !== undefined && awake.length > 2 && (await runningOf(connection, worker.id)) > 0)
            return awake.splice(at, 1)[0]
          await pause(20)
        }
        return undefined
      }
      const silence = (worker: WorkerProcess): void => {
        silences.set(worker.id, [...(silences.get(worker.id) ?? []), Date.now()])
      }
      const sleeping: Promise<void>[] = []
      let killed = 0
      let paused = 0
      const disruptions = kills + pauses
      for (let i = 0; i < disruptions && !isLate(); i++) {
        // Wait for progress instead of time, so that polls are running on a machine of any speed.
        while ((await endedPolls(connection)) < (i * polls * spread) / disruptions && !isLate()) await pause(30)
        await pause(seededRandom('D6 moments') * 200)
        const worker = await takeBusy()
        if (worker === undefined) break
        silence(worker)
        if (Math.ceil(((i + 1) * pauses) / disruptions) > paused) {
          paused += 1
          worker.signal('SIGSTOP')
          const asleepMs = ((workerLimits.leaseSeconds + 2) * 1_000) / pace
          sleeping.push(
            pause(asleepMs).then(() => {
              worker.signal('SIGCONT')
              awake.push(worker)
            }),
          )
        } else {
          killed += 1
          await worker.kill()
          awake.push(await startWorker())
        }
      }
      while ((await endedPolls(connection)) < polls && !isLate()) await pause(100)
      await Promise.all(sleeping)
      const { taken, inTheMiddle } = await bringing
      // Paused workers deliver their results, and the simulated one delivers its results again after all polls ended.
      await pause(1_000)
      const after = (await played.bring(late.map(lateResult))).stored.length
      const given = await readPolls(connection)
      return {
        findings: [
          atLeast(amount(isQuick, 'polls'), given.length, polls),
          atLeast(amount(isQuick, 'kills'), killed, kills),
          atLeast(amount(isQuick, 'pauses longer than a lease'), paused, pauses),
          ...judge(given, silences, await sshHosts.reads(), pace),
          atLeast('results that came in the middle of another run', inTheMiddle, 1),
          atMost('results that came too late and were taken', taken + after, 0),
          ...(await compare(connection, given)),
        ],
        notes: [`${size} workers of 8 polls each; a lease lasts ${workerLimits.leaseSeconds} s`],
      }
    } finally {
      await Promise.all(workers.map((worker) => worker.kill()))
      // The worker is stopped (SIGSTOP), so the server cannot end it.
      if (own !== 0)
        try {
          process.kill(own, 'SIGKILL')
        } catch {}
    }
  },
}
