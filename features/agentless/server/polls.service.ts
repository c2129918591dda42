import { cleanText, knownMachineHash, mustExist } from '@portcullis/domain'
import { transactionAgain } from '@portcullis/platform/server/db/db.ts'
import type { Envelope } from '@portcullis/platform/server/envelope.ts'
import {
  type Poll,
  type PollFailure,
  type PollResult,
  pollCauses,
  type WorkerLeaseRequest,
  type WorkerLeaseResponse,
  workerLimits,
} from '#features/contract.ts'
import type { NewEvent } from '#features/events/server/index.ts'
import { aadOf } from './connections.service.ts'
import { type DefaultsRow, isKeyConfirmed } from './connections.store.ts'
import type { AgentlessContext } from './context.ts'
import { createPollsStore, type EndedPoll, type LeasedRow, type PolledHost } from './polls.store.ts'
import { opened } from './secrets.ts'
import type { Tests } from './tests.service.ts'
import { defaultsAad, type Poller, type Worker } from './worker.service.ts'

/** Limits of one poll. A slow host takes 3 s to sign in and 2 s to read, so these limits allow ten times as much. */
const limits = { connectMs: 15_000, totalMs: 60_000, outputBytes: 4 * 1024 * 1024 } as const
/** Maximum time that a worker can keep a poll running. */
const longestMs = limits.totalMs + 30_000
/** Number of polls without a result from their worker before the host is polled later. */
const attempts = 3
const dayMs = 24 * 3_600_000
const idleMs = 1_000

/** Varies a time by 10 %, so that hosts that were added together are not polled together. */
const jittered = (ms: number): number => ms * (0.9 + Math.random() * 0.2)

/** Returns the time to the next poll after this number of failures in a row: each doubles it, up to a day. */
const backOffMs = (intervalMs: number, failures: number): number =>
  Math.min(Math.max(dayMs, intervalMs), intervalMs * 2 ** Math.min(Math.max(failures - 1, 0), 20))

const failureText = (cause: PollFailure, message: string): string => {
  const { title, cure } = pollCauses[cause]
  const detail = cleanText(message, 300)
  return `${title}${detail === '' ? '' : ` (${detail})`}. ${cure}`
}

/** Returns the details of a poll, from the connection or else from the defaults. */
export const pollOf = (envelope: Envelope, row: Omit<LeasedRow, 'fence'>, d: DefaultsRow) => {
  const secrets = row.is_override
    ? opened(envelope, aadOf(row.connection_id), row)
    : // A rogue host could steal a password, but it cannot steal a key from a sign-in.
      opened(envelope, defaultsAad, row.is_confirmed ? d : { ...d, password: null })
  const platform = row.platform === 'auto' ? d.platform : row.platform
  // Until a person confirms the host key, the password is sent to nobody, not even to the worker. A sign-in with a
  // private key proves nothing about the host, because any server can accept any key.
  const isUnconfirmed = !isKeyConfirmed(row)
  return {
    host: row.computer_name,
    port: row.port ?? d.port,
    platform: platform === 'auto' ? null : (platform as Poll['platform']),
    userName: row.is_override ? row.user_name : d.user_name,
    ...secrets,
    ...(isUnconfirmed ? { password: null, isPasswordWithheld: secrets.password !== null } : {}),
    hostKeyFingerprint: row.host_key === '' ? null : row.host_key,
    limits,
  }
}

/** An accepted result, with the agent of its host; null before its first success. */
export interface BegunPoll {
  result: PollResult
  host: PolledHost
  agentId: string | null
  /** Whether the devices of this poll are stored with the host. */
  isSource: boolean
}

/**
 * Returns the events of a poll that differs from the previous one: the host is lost, recovered, or presents another
 * key.
 */
const changeEventsOf = ({ result, host, agentId }: BegunPoll): NewEvent[] => {
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

/** Assigns polls to workers and processes their results. */
export const createPolls = (context: AgentlessContext, worker: Worker, tests: Tests) => {
  const { db, clock, log, envelope, agents, events, announce } = context
  const { hosts } = agents
  const store = createPollsStore()
  const leaseEnd = (): Date => new Date(clock.now() + workerLimits.leaseSeconds * 1_000)

  const minutesOf = (host: Pick<PolledHost, 'is_override' | 'interval_minutes'>, d: DefaultsRow): number =>
    host.is_override ? (host.interval_minutes ?? d.interval_minutes) : d.interval_minutes

  return {
    /** Assigns polls to a worker. Opens secrets here, for this worker only. */
    lease: (poller: Poller, request: WorkerLeaseRequest): Promise<WorkerLeaseResponse> =>
      transactionAgain(db, async (tx) => {
        const now = new Date(clock.now())
        // Reads this inside the transaction: a deactivation waits for it, and then ends these leases.
        const mayPoll = await worker.mayPoll(tx, poller.pollerId)
        const running = mayPoll ? request.running : []
        const kept = new Set([
          ...(await store.keep(tx, new Date(clock.now() - longestMs), leaseEnd(), poller.pollerId, running)),
          ...(await tests.keep(tx, leaseEnd(), poller.pollerId, running)),
        ])
        const stop = request.running.filter((one) => !kept.has(one.id)).map(({ id, fence }) => ({ id, fence }))
        if (!mayPoll) return { isActivated: false, polls: [], stop, nextMs: idleMs }
        const d = await worker.defaults(tx)
        const tries = await tests.lease(tx, leaseEnd(), poller.pollerId, Math.min(request.free, 8))
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
            // The secrets were sealed by another key file or moved in the database, so nobody can open them.
            log.error({ connection: row.computer_name }, 'cannot open the secrets of a connection')
            broken.push({
              connectionId: row.connection_id,
              fence: row.fence,
              durationMs: 0,
              cause: 'no-credentials',
              error: failureText('no-credentials', 'cannot open the stored credentials; enter them again'),
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
     * Returns the results whose lease this activated process holds, each with the agent of its host. Results of tests
     * are stored here and not returned.
     */
    begin: async (poller: Poller, given: readonly PollResult[]): Promise<BegunPoll[]> => {
      const results = [...new Map(given.map((one) => [`${one.id} ${one.fence}`, one])).values()].map((one) => ({
        ...one,
        // Earlier versions of the worker report the hashes of placeholders.
        machineIdHash: knownMachineHash(one.machineIdHash),
      }))
      const ids = await hosts.textIds(results.flatMap(({ facts }) => (facts === null ? [] : [facts])))
      return transactionAgain(db, async (tx) => {
        // A deactivation waits for this transaction, so no later one stores a result.
        if (!(await worker.mayPoll(tx, poller.pollerId))) return []
        const finished = new Set(await tests.finish(tx, poller.pollerId, results))
        const present = await store.lockPresent(
          tx,
          poller.pollerId,
          results.filter((one) => !finished.has(one.id)),
        )
        const found = []
        for (const host of present) {
          const result = mustExist(
            results.find((one) => one.id === host.connection_id && one.fence === host.fence),
            'the result of a poll',
          )
          let { agent_id: agentId, is_source: isSource } = host
          // Another machine now uses this name.
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

    /** Stores how polls ended, after their devices were stored. */
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
            : [{ agentId, at: now, code: result.failure, message: mustExist(rows[i], 'a poll').error.slice(0, 500) }],
        )
        await agents.addErrors(tx, now, errors)
        await events.append(tx, ended.flatMap(changeEventsOf))
        await announce(tx, {})
      }),

    /**
     * Delays hosts whose polls keep killing workers, and detects disconnected hosts; runs every few seconds, on any
     * replica.
     */
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
