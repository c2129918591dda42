import { factsHash, inventoryHash } from '@portcullis/domain'
import { AppError } from '@portcullis/platform/server/app-error.ts'
import { credentialSeen, machineOwner } from '@portcullis/platform/server/http/connections.ts'
import type { HttpApp } from '@portcullis/platform/server/http/http-app.ts'
import { type Authenticator, createFailureQuota } from '@portcullis/platform/server/http/machine.ts'
import type { FastifyRequest } from 'fastify'
import type { BegunPoll, Poller } from '#features/agentless/server/index.ts'
import {
  type WorkerLeaseRequest as Lease,
  operation,
  type PollResult,
  WorkerLeaseRequest,
  WorkerLeaseResponse,
  WorkerRegisterRequest,
  WorkerRegisterResponse,
  WorkerResultsRequest,
  WorkerResultsResponse,
  workerLimits,
  workerPaths,
} from '#features/contract.ts'
import type { CheckIns } from './check-ins.ts'
import type { IngestContext } from './context.ts'
import { createQuota, workerQuota } from './quota.ts'

const workerOperation = { tag: 'Worker protocol', permission: 'agent', method: 'POST' } as const

const register = operation({
  ...workerOperation,
  id: 'workerRegister',
  path: workerPaths.register,
  summary: 'Exchanges a worker token for the key of a process',
  body: WorkerRegisterRequest,
  response: WorkerRegisterResponse,
  errors: ['enrolment_refused', 'too_many_requests'],
})

const lease = operation({
  ...workerOperation,
  id: 'workerLease',
  path: workerPaths.lease,
  summary: 'Renews leases and takes new polls',
  body: WorkerLeaseRequest,
  response: WorkerLeaseResponse,
  bodyLimit: workerLimits.leaseBytes,
  errors: ['unauthorized', 'too_many_requests'],
})

const results = operation({
  ...workerOperation,
  id: 'workerResults',
  path: workerPaths.results,
  summary: 'Delivers the results of polls',
  body: WorkerResultsRequest,
  response: WorkerResultsResponse,
  bodyLimit: workerLimits.bodyBytes,
  errors: ['unauthorized', 'payload_too_large', 'too_many_requests'],
})

const keyOf = (request: FastifyRequest): string =>
  /^Bearer +(pwk_[\w-]{1,128})$/i.exec(request.headers.authorization ?? '')?.[1] ?? ''

/** Converts a poll to the full report of an agent. Its fence becomes the seq, so that it is stored once. */
const reportOf = (agentId: string, { result, host }: BegunPoll, now: number) => ({
  agentId,
  request: {
    bootId: agentId,
    seq: host.fence,
    clock: now,
    inventory: result.devices,
    inventoryHash: inventoryHash(result.devices),
    ...(result.facts === null ? {} : { facts: result.facts, factsHash: factsHash(result.facts) }),
  },
})

/** Registers the protocol of the agentless worker. Results are stored like check-ins of agents. */
export const registerWorkerProtocol = (app: HttpApp, { clock, agentless }: IngestContext, checkIns: CheckIns): void => {
  const quota = createQuota(clock, workerQuota)
  async function pollerOf(request: FastifyRequest, reported: Lease | null): Promise<Poller> {
    const poller = await agentless.worker.poller(
      keyOf(request),
      request.ip,
      reported === null
        ? null
        : {
            capacity: reported.capacity,
            running: reported.running.length,
            cpu: reported.cpu,
            version: reported.version,
          },
    )
    if (poller === null)
      throw new AppError('unauthorized', {
        detail: 'The key of this worker is no longer valid. Register the worker again.',
      })
    return poller
  }

  /** Stores the devices of a poll. Returns the poll with its end, or null if its host no longer exists. */
  async function store(begun: BegunPoll): Promise<BegunPoll | null> {
    const { agentId, isSource, result } = begun
    if (agentId === null || !isSource || result.failure !== null) return begun
    try {
      await checkIns.report(reportOf(agentId, begun, clock.now()))
      return begun
    } catch (error) {
      if (!(error instanceof AppError)) throw error
      if (error.code === 'agent_unknown' || error.code === 'agent_revoked') return null
      if (error.code !== 'agent_report_invalid') throw error
      const failed: PollResult = {
        ...result,
        failure: 'not-understood',
        message: error.message.slice(0, 500),
        devices: [],
      }
      return { ...begun, result: failed }
    }
  }

  const failures = createFailureQuota(clock)
  const newcomer: Authenticator<void> = { credential: 'body', check: ({ ip }) => failures.assert(ip) }
  const worker: Authenticator<Poller> = {
    credential: 'header',
    check: async (request) => {
      const poller = await pollerOf(request, null)
      credentialSeen(request.raw.socket, machineOwner(poller.pollerId))
      quota.charge(poller.pollerId, Number(request.headers['content-length'] ?? workerLimits.bodyBytes), 0)
      return poller
    },
  }

  app.registerMachine(register, newcomer, async ({ body, request }) => {
    const registered = await agentless.worker.register(body, request.ip).catch((error: unknown) => {
      if (error instanceof AppError && error.code === 'enrolment_refused') failures.failed(request.ip)
      throw error
    })
    credentialSeen(request.raw.socket, machineOwner(registered.pollerId))
    return registered
  })
  app.registerMachine(lease, worker, async ({ body, request }) =>
    agentless.polls.lease(await pollerOf(request, body), body),
  )
  app.registerMachine(results, worker, async ({ machine, body }) => {
    const begun = await agentless.polls.begin(machine, body.results)
    const ended = (await Promise.all(begun.map(store))).filter((one) => one !== null)
    if (ended.length > 0) await agentless.polls.end(ended)
    const stored = new Set(ended.map(({ result }) => result.id))
    return {
      stored: [...stored],
      stale: body.results.map(({ id }) => id).filter((id) => !stored.has(id)),
    }
  })
}
