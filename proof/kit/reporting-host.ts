/**
 * Simulates enrolled hosts with sessions. A reporting host reports one stick after another until each is acknowledged.
 */
import { randomUUID } from 'node:crypto'
import { setTimeout as pause } from 'node:timers/promises'
import { inventoryHash } from '@portcullis/domain'
import { plainHost, storageStick } from '@portcullis/domain/testing'
import { agentPaths } from '@portcullis/features/contract.ts'
import { createKey, enrolRequest, sessionRequest } from '../../cli/simulator/identity.ts'
import type { Answer, Transport } from '../../cli/simulator/transport.ts'
import type { PlayedHost } from './loader/hosts.ts'
import { seededRandom } from './seeded-random.ts'

/** Progress of a host so far. */
export interface Reported {
  /** Serials whose report was acknowledged, in order. */
  acknowledged: string[]
  /** Number of reports that were sent again. */
  resent: number
  /** Number of 503 responses, with which the server asks hosts to retry later. */
  shed: number
  /** The longest duration of a request, in milliseconds. */
  slowestMs: number
  /** Responses that are neither an acknowledgement nor a request to retry later. */
  refused: string[]
}

export type ReportingHost = Awaited<ReturnType<typeof enrolReportingHost>>

/** Enrols a host. Calls `transport` for each request, because the server may change in the meantime. */
const openHost = async (transport: () => Transport, token: string, name: string) => {
  const privateKey = createKey()
  const reported: Reported = { acknowledged: [], resent: 0, shed: 0, slowestMs: 0, refused: [] }
  const post = async (path: string, body: unknown, session?: string): Promise<Answer | null> => {
    const startedAt = performance.now()
    const answer = await transport()
      .post(path, () => JSON.stringify(body), session)
      .catch(() => null)
    reported.slowestMs = Math.max(reported.slowestMs, performance.now() - startedAt)
    return answer
  }
  const expect = async (path: string, body: unknown): Promise<Record<string, unknown>> => {
    let answer = await post(path, body)
    // A server that just started may be overloaded. It returns 503, and hosts try again.
    for (let tries = 0; answer?.status === 503 && tries < 20; tries++) {
      await pause(1_000)
      answer = await post(path, body)
    }
    if (answer?.status !== 200) throw new Error(`${path}: ${answer?.status} ${JSON.stringify(answer?.body)}`)
    return answer.body
  }
  const enrolled = await expect(agentPaths.enrol, enrolRequest(privateKey, token, plainHost(name)))
  const agentId = String(enrolled.agentId)
  const bootId = randomUUID()
  const open = async (): Promise<string | undefined> => {
    const answer = await post(agentPaths.session, sessionRequest({ agentId, privateKey }, bootId, Date.now()))
    return answer?.status === 200 ? String(answer.body.token) : undefined
  }
  let session = await open()
  return {
    agentId,
    reported,
    /** Sends a check-in once. Returns null without a response. */
    checkIn: async (body: Record<string, unknown>): Promise<Answer | null> => {
      session ??= await open()
      const answer =
        session === undefined ? null : await post(agentPaths.checkIn, { bootId, clock: Date.now(), ...body }, session)
      if (answer?.status === 401) session = undefined
      return answer
    },
  }
}

/** Enrols hosts named `name-0`, `name-1` and so on. */
export const enrolReportingHosts = (
  count: number,
  transport: () => Transport,
  token: string,
  name: string,
  options: { repeatsAfter500?: boolean } = {},
): Promise<ReportingHost[]> =>
  Promise.all(Array.from({ length: count }, (_, i) => enrolReportingHost(transport, token, `${name}-${i}`, options)))

/** Returns the number of acknowledged reports so far. */
export const acknowledgedBy = (fleet: readonly ReportingHost[]): number =>
  fleet.reduce((sum, { reported }) => sum + reported.acknowledged.length, 0)

/** Returns the number of requests so far that got no answer or a wrong one. */
export const failedOf = (fleet: readonly ReportingHost[]): number =>
  fleet.reduce((sum, { reported }) => sum + reported.resent + reported.refused.length, 0)

/** Enrols a reporting host. Each of its requests uses the transport that `transport` returns. */
export const enrolReportingHost = async (
  transport: () => Transport,
  token: string,
  name: string,
  { repeatsAfter500 = false }: { repeatsAfter500?: boolean } = {},
) => {
  const { agentId, reported, checkIn } = await openHost(transport, token, name)
  /** Statuses that may change when the request is repeated, in addition to a missing response. */
  const later = new Set([401, 502, ...(repeatsAfter500 ? [500] : [])])
  let seq = 0
  let isOver = false
  let isGone = false
  let pending: string | null = null

  /** Repeats a check-in until it is acknowledged. Returns false if it was rejected. */
  const send = async (content: Record<string, unknown>): Promise<boolean> => {
    const body = { seq: ++seq, clock: Date.now(), ...content }
    while (!isGone) {
      const answer = await checkIn(body)
      if (answer?.status === 200) return true
      if (answer?.status === 503) reported.shed++
      else if (answer !== null && !later.has(answer.status)) {
        reported.refused.push(`${answer.status} ${JSON.stringify(answer.body).slice(0, 300)}`)
        return false
      }
      reported.resent++
      // Agents wait a second or more. Many immediate retries would take the processor time that a starting server
      // needs.
      await pause(150 + seededRandom(`waits of ${name}`) * 150)
    }
    return false
  }
  await send({ inventoryHash: inventoryHash([]), inventory: [] })

  return {
    agentId,
    reported,
    /** Serial number of the unacknowledged report. */
    pending: (): string | null => pending,
    /** Sends one more check-in after a run. Returns true if it was accepted. */
    again: (): Promise<boolean> => send({ inventoryHash: inventoryHash([]), inventory: [] }),
    /** Reports until `stop`, with a pause of `restMs` between two reports. It can run again afterwards. */
    run: async (restMs = 0): Promise<void> => {
      isOver = false
      while (!isOver) {
        const serial = `${name}-${seq}`
        const device = storageStick({ serial })
        pending = serial
        const isTaken = await send({
          inventoryHash: inventoryHash([device]),
          changes: [{ op: 'attached', at: Date.now(), device }],
        })
        if (!isTaken) return
        reported.acknowledged.push(serial)
        pending = null
        if (restMs > 0) await pause(restMs)
      }
    },
    stop: (): void => {
      isOver = true
    },
    /** Gives up, because the server does not return. */
    leave: (): void => {
      isGone = true
    },
  }
}

/** Requests a session for a host of a loaded fleet, with a new boot id. */
export const openSession = async (
  transport: Pick<Transport, 'post'>,
  host: Pick<PlayedHost, 'agentId' | 'privateKey'>,
): Promise<{ answer: Answer; bootId: string }> => {
  const bootId = randomUUID()
  const request = sessionRequest(host, bootId, Date.now())
  return { answer: await transport.post(agentPaths.session, () => JSON.stringify(request), undefined), bootId }
}
