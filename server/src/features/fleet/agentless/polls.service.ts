import {
  type HostFacts,
  type Poll,
  type PollFailure,
  type PollResult,
  pollCauses,
  type WorkerLeaseRequest,
  type WorkerLeaseResponse,
  workerLimits,
} from '@portcullis/contract'
import { cleanText } from '@portcullis/domain'
import type { AgentsApi } from '#features/fleet/agents/index.ts'
import type { EventsApi, NewEvent } from '#features/system/events/index.ts'
import type { Clock } from '#platform/clock.ts'
import { type Db, type Tx, transactionAgain } from '#platform/db/db.ts'
import type { Envelope } from '#platform/envelope.ts'
import type { Announce } from '#platform/live.ts'
import type { Log } from '#platform/log.ts'
import { placeOf } from './connections.service.ts'
import type { DefaultsRow } from './connections.store.ts'
import type { EndedPoll, LeasedRow, PolledHost, PollsStore } from './polls.store.ts'
import { opened } from './secrets.ts'
import type { Tests } from './tests.service.ts'
import { defaultsPlace, type Poller, type Worker } from './worker.service.ts'

export interface PollsDeps {
  db: Db
  clock: Clock
  log: Log
  envelope: Envelope
  store: PollsStore
  worker: Pick<Worker, 'defaults' | 'mayPoll'>
  tests: Pick<Tests, 'lease' | 'keep' | 'finish'>
  /** Makes the host of a first success one of the agents. */
  hosts: {
    textIds(facts: readonly HostFacts[]): Promise<ReadonlyMap<string, number>>
    adopt(
      tx: Tx,
      host: { facts: HostFacts; machineIdHash: string | null; tags: readonly string[]; details: string },
      ids: ReadonlyMap<string, number>,
    ): Promise<string>
  }
  agents: Pick<AgentsApi, 'addErrors' | 'disconnectPolled'>
  events: Pick<EventsApi, 'append'>
  announce: Announce
}

/** Times of one poll. A slow host takes 3 s to sign in and 2 s to read; ten times that is no longer slow. */
const limits = { connectMs: 15_000, totalMs: 60_000, outputBytes: 4 * 1024 * 1024 } as const
/** A poll that says for longer that it runs is over: no worker keeps one for ever. */
const longestMs = limits.totalMs + 30_000
/** Polls of one host that ended without a word of their worker, before it is put off. */
const attempts = 3
const dayMs = 24 * 3_600_000
/** Idle workers ask this often. */
const idleMs = 1_000

/** Some 10 % around: hosts that were added together do not stay together. */
const jittered = (ms: number): number => ms * (0.9 + Math.random() * 0.2)

/** How long a host is left alone after so many failures in a row: each doubles the time, up to a day. */
const backOffMs = (intervalMs: number, failures: number): number =>
  Math.min(Math.max(dayMs, intervalMs), intervalMs * 2 ** Math.min(Math.max(failures - 1, 0), 20))

/** The failure in a sentence, with what helps. */
const failureText = (cause: PollFailure, message: string): string => {
  const { title, cure } = pollCauses[cause]
  const said = cleanText(message, 300)
  return `${title}${said === '' ? '' : ` (${said})`}. ${cure}`
}

/** What a poll needs, from the connection and, where it does not say itself, from the defaults. */
export const pollOf = (envelope: Envelope, row: Omit<LeasedRow, 'fence'>, d: DefaultsRow) => {
  const secrets = row.is_override
    ? opened(envelope, placeOf(row.connection_id), row)
    : // A rogue host keeps what a password shows it; a key shows it nothing.
      opened(envelope, defaultsPlace, row.is_confirmed ? d : { ...d, password: null })
  const platform = row.platform === 'auto' ? d.platform : row.platform
  // Until a person confirms the host key or a private key signs in, nobody gets the password, not even the worker.
  const isUnconfirmed = row.host_key === ''
  return {
    host: row.computer_name,
    port: row.port ?? d.port,
    platform: platform === 'auto' ? null : (platform as Poll['platform']),
    userName: row.is_override ? row.user_name : d.user_name,
    ...secrets,
    ...(isUnconfirmed ? { password: null, isPasswordWithheld: secrets.password !== null } : {}),
    hostKeyFingerprint: isUnconfirmed ? null : row.host_key,
    limits,
  }
}

/** A result that counts, with the agent of its host; null before its first success. */
export interface BegunPoll {
  result: PollResult
  host: PolledHost
  agentId: string | null
  /** What it brought is stored with the host. */
  isSource: boolean
}

/** What a poll tells that the one before did not: that a host is lost or back, or shows another key. */
const turnOf = ({ result, host, agentId }: BegunPoll): NewEvent[] => {
  const about = { agentId, entity: host.computer_name, hashtags: host.tags.join(',') }
  const { failure } = result
  if (failure === host.cause) return []
  if (failure === 'host-key-changed')
    return [{ ...about, kind: 'hostKeyChanged', details: failureText(failure, result.message) }]
  if (failure !== null && host.cause === null && host.agent_id !== null)
    return [{ ...about, kind: 'pollFailing', details: failureText(failure, result.message) }]
  if (failure === null && host.agent_id !== null)
    return [{ ...about, kind: 'pollRecovered', details: `After: ${pollCauses[host.cause as PollFailure].title}` }]
  return []
}

/** Handing polls out to workers, and what becomes of their results. */
export const createPolls = (deps: PollsDeps) => {
  const { db, clock, log, envelope, store, worker, tests, hosts, agents, events, announce } = deps
  const leaseEnd = (): Date => new Date(clock.now() + workerLimits.leaseSeconds * 1_000)

  const minutesOf = (host: Pick<PolledHost, 'is_override' | 'interval_minutes'>, d: DefaultsRow): number =>
    host.is_override ? (host.interval_minutes ?? d.interval_minutes) : d.interval_minutes

  return {
    /** What a worker does next. Secrets are opened here, for it alone. */
    lease: (poller: Poller, request: WorkerLeaseRequest): Promise<WorkerLeaseResponse> =>
      transactionAgain(db, async (tx) => {
        const now = new Date(clock.now())
        // Asked here: whoever deactivates it waits for this, and ends what is handed out.
        const mayPoll = await worker.mayPoll(tx, poller.pollerId)
        const running = mayPoll ? request.running : []
        const kept = new Set([
          ...(await store.keep(tx, new Date(clock.now() - longestMs), leaseEnd(), poller.pollerId, running)),
          ...(await tests.keep(tx, leaseEnd(), running)),
        ])
        const stop = request.running.filter((one) => !kept.has(one.id)).map(({ id, fence }) => ({ id, fence }))
        if (!mayPoll) return { isActivated: false, polls: [], stop, nextMs: idleMs }
        const d = await worker.defaults(tx)
        const tries = await tests.lease(tx, leaseEnd(), Math.min(request.free, 8))
        const rows =
          request.free > tries.length
            ? await store.lease(tx, now, leaseEnd(), poller.pollerId, request.free - tries.length)
            : []
        const polls: Poll[] = [...tries]
        const broken: EndedPoll[] = []
        for (const row of rows) {
          try {
            polls.push({ id: row.connection_id, fence: row.fence, isTest: false, ...pollOf(envelope, row, d) })
          } catch {
            // Sealed by another key file, or moved in the database: nobody can use them.
            log.error({ connection: row.computer_name }, 'secrets of a connection cannot be opened')
            broken.push({
              connectionId: row.connection_id,
              fence: row.fence,
              durationMs: 0,
              cause: 'no-credentials',
              error: failureText('no-credentials', 'the stored ones cannot be opened; enter them again'),
              nextRun: new Date(clock.now() + dayMs),
              peripherals: null,
              hostKey: null,
              platform: null,
            })
          }
        }
        await store.end(tx, now, broken)
        if (rows.length > 0) await announce(tx, {})
        return { isActivated: true, polls, stop, nextMs: polls.length > 0 && polls.length >= request.free ? 0 : idleMs }
      }),

    /**
     * The results that count, each with the agent of its host; those whose lease is over are left out. Tests are done
     * with here.
     */
    begin: async (said: readonly PollResult[]): Promise<BegunPoll[]> => {
      const results = [...new Map(said.map((one) => [`${one.id} ${one.fence}`, one])).values()]
      const ids = await hosts.textIds(results.flatMap(({ facts }) => (facts === null ? [] : [facts])))
      return transactionAgain(db, async (tx) => {
        const finished = new Set(await tests.finish(tx, results))
        const present = await store.lockPresent(
          tx,
          results.filter((one) => !finished.has(one.id)),
        )
        const found = []
        for (const host of present) {
          const result = results.find((one) => one.id === host.connection_id && one.fence === host.fence) as PollResult
          let { agent_id: agentId, is_source: isSource } = host
          // Another machine answers by this name now.
          const isOther =
            isSource &&
            result.machineIdHash !== null &&
            host.machine_id_hash !== null &&
            result.machineIdHash !== host.machine_id_hash
          if (result.failure === null && result.facts !== null && (agentId === null || isOther)) {
            const { facts, machineIdHash } = result
            const details = `Polled as ${host.computer_name}`
            agentId =
              (await store.sameHost(
                tx,
                host.connection_id,
                machineIdHash,
                result.hostKeyFingerprint,
                facts.hostname,
              )) ?? (await hosts.adopt(tx, { facts, machineIdHash, tags: host.tags, details }, ids))
            isSource = await store.setAgent(tx, new Date(clock.now()), host.connection_id, agentId)
          }
          found.push({ result, host, agentId, isSource })
        }
        return found
      })
    },

    /** Notes how polls ended, after what they brought was stored. */
    end: (ended: readonly BegunPoll[]): Promise<void> =>
      transactionAgain(db, async (tx) => {
        const now = new Date(clock.now())
        const d = await worker.defaults(tx)
        const rows = ended.map(({ result, host }): EndedPoll => {
          const every = minutesOf(host, d) * 60_000
          const { failure } = result
          const wait = failure === null ? every : backOffMs(every, host.failures + 1)
          return {
            connectionId: host.connection_id,
            fence: host.fence,
            durationMs: Math.min(result.durationMs, 2_147_483_647),
            cause: failure,
            error: failure === null ? '' : failureText(failure, result.message),
            nextRun: new Date(clock.now() + jittered(wait)),
            peripherals: failure === null ? result.devices.length : null,
            hostKey: result.hostKeyFingerprint,
            platform: failure === null ? result.platform : null,
          }
        })
        await store.end(tx, now, rows)
        const errors = ended.flatMap(({ result, agentId, isSource }, i) =>
          result.failure === null || agentId === null || !isSource
            ? []
            : [{ agentId, at: now, code: result.failure, message: (rows[i] as EndedPoll).error.slice(0, 500) }],
        )
        await agents.addErrors(tx, now, errors)
        await events.append(tx, ended.flatMap(turnOf))
        await announce(tx, {})
      }),

    /** Puts hosts off whose polls keep killing workers, and notices who is silent; every few seconds, on any replica. */
    maintain: async (): Promise<void> => {
      const now = new Date(clock.now())
      await transactionAgain(db, async (tx) => {
        const d = await worker.defaults(tx)
        const later = new Date(clock.now() + jittered(d.interval_minutes * 60_000))
        await store.giveUp(tx, now, attempts, later, failureText('worker-lost', ''))
        await agents.disconnectPolled(tx, await store.lockSilent(tx, now, d.interval_minutes))
      })
    },
  }
}
