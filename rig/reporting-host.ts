/** Hosts as the server sees them: enrolled, with sessions; one that reports stick after stick until each is acknowledged. */
import { randomBytes, randomUUID } from 'node:crypto'
import { agentPaths, enrolProofText, sessionProofText } from '@portcullis/contract'
import { inventoryHash } from '@portcullis/domain'
import { plainHost, storageStick } from '@portcullis/domain/testing'
import { createKey, signText } from '../cli/simulator/identity.ts'
import type { Answer, Transport } from '../cli/simulator/transport.ts'
import { chance } from './chance.ts'

/** What a host did so far. */
export interface Reported {
  /** Serials whose report was acknowledged, in order. */
  acknowledged: string[]
  /** Reports that had to be sent again. */
  resent: number
  /** Answers of 503, the server asking to come later. */
  shed: number
  /** The longest time that one request took, in milliseconds. */
  slowestMs: number
  /** Answers that are neither an acknowledgement nor "later". */
  refused: string[]
}

export type EnrolledHost = Awaited<ReturnType<typeof enrolHost>>
export type ReportingHost = Awaited<ReturnType<typeof enrolReportingHost>>

const pause = (milliseconds: number): Promise<void> => new Promise((resolve) => setTimeout(resolve, milliseconds))

/** Enrols a host; `transport` is asked for each request, so that it may lead to another server by then. */
export const enrolHost = async (transport: () => Transport, token: string, name: string) => {
  const { privateKey, publicKey } = createKey()
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
    // A server that has just started may have more to do than it can: it says so, and hosts come again.
    for (let tries = 0; answer?.status === 503 && tries < 20; tries++) {
      await pause(1_000)
      answer = await post(path, body)
    }
    if (answer?.status !== 200) throw new Error(`${path}: ${answer?.status} ${JSON.stringify(answer?.body)}`)
    return answer.body
  }
  const enrolled = await expect(agentPaths.enrol, {
    token,
    keyAlgorithm: 'Ed25519',
    publicKey,
    machineIdHash: null,
    smbiosHash: null,
    facts: plainHost(name),
    proof: signText(privateKey, enrolProofText(token, publicKey)),
  })
  const agentId = String(enrolled.agentId)
  const bootId = randomUUID()
  const open = async (): Promise<string | undefined> => {
    const proven = { agentId, bootId, timestamp: Date.now(), nonce: randomBytes(24).toString('base64url') }
    const answer = await post(agentPaths.session, {
      ...proven,
      signature: signText(privateKey, sessionProofText(proven)),
    })
    return answer?.status === 200 ? String(answer.body.token) : undefined
  }
  let session = await open()
  return {
    agentId,
    bootId,
    reported,
    /** Sends a check-in once; null: there was no answer. */
    checkIn: async (body: Record<string, unknown>): Promise<Answer | null> => {
      session ??= await open()
      const answer =
        session === undefined ? null : await post(agentPaths.checkIn, { bootId, clock: Date.now(), ...body }, session)
      if (answer?.status === 401) session = undefined
      return answer
    },
  }
}

/** Enrols a host that reports; each of its requests goes the way that `transport` gives. */
export const enrolReportingHost = async (
  transport: () => Transport,
  token: string,
  name: string,
  { repeatsAfter500 = false }: { repeatsAfter500?: boolean } = {},
) => {
  const { agentId, reported, checkIn } = await enrolHost(transport, token, name)
  /** Besides no answer at all: what may be another answer when it is sent again. */
  const later = new Set([401, 502, ...(repeatsAfter500 ? [500] : [])])
  let seq = 0
  let isOver = false
  let isGone = false
  let pending: string | null = null

  /** Repeats until it is acknowledged; false: it was refused for good. */
  const send = async (said: Record<string, unknown>): Promise<boolean> => {
    const body = { seq: ++seq, clock: Date.now(), ...said }
    while (!isGone) {
      const answer = await checkIn(body)
      if (answer?.status === 200) return true
      if (answer?.status === 503) reported.shed++
      else if (answer !== null && !later.has(answer.status)) {
        reported.refused.push(`${answer.status} ${JSON.stringify(answer.body).slice(0, 300)}`)
        return false
      }
      reported.resent++
      // Agents wait a second and more; many that asked anew at once would take the processor that a server starts on.
      await pause(150 + chance(`waits of ${name}`) * 150)
    }
    return false
  }
  await send({ inventoryHash: inventoryHash([]), inventory: [] })

  return {
    agentId,
    reported,
    /** Serial of the report that is not acknowledged yet. */
    pending: (): string | null => pending,
    /** Sends one more check-in, after a run has ended; true: it was taken. */
    again: (): Promise<boolean> => send({ inventoryHash: inventoryHash([]), inventory: [] }),
    /** Reports until `stop`, and may be run again then; `restMs` between two reports. */
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
    /** Its server does not come back: it gives up. */
    leave: (): void => {
      isGone = true
    },
  }
}
