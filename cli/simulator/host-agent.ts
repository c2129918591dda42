/** A simulated host in the agent protocol. agent/SPEC.md describes a real agent. */
import { randomUUID } from 'node:crypto'
import {
  agentPaths,
  type CheckInRequest,
  checkInAgeHeader,
  type DeviceChange,
  type HostFacts,
} from '@portcullis/contract/agent-protocol.ts'
import { factsHash } from '@portcullis/domain'
import { createCommands } from './commands.ts'
import type { Host } from './hosts.ts'
import { createKey, enrolRequest, type Identity, sessionRequest } from './identity.ts'
import type { Inventory } from './inventory.ts'
import { type Answer, NoAnswer, type Transport } from './transport.ts'
import type { Waits } from './waits.ts'

/** The server refused this host permanently. */
export class Refused extends Error {
  readonly code: string
  constructor(code: string, detail: string) {
    super(`${code}: ${detail}`)
    this.code = code
  }
}

export interface HostAgentDeps {
  host: Host
  inventory: Inventory
  transport: Transport
  clock: { now(): number }
  waits: Pick<Waits, 'sleep'>
  /** Called for each failed request. */
  failed(what: string): void
}

const codeOf = (answer: Answer): string => (typeof answer.body.code === 'string' ? answer.body.code : '')
const detailOf = (answer: Answer): string =>
  typeof answer.body.detail === 'string' ? answer.body.detail : `status ${answer.status}`

const final: ReadonlySet<string> = new Set(['agent_revoked', 'agent_unknown', 'enrolment_refused'])
const sessionLost: ReadonlySet<string> = new Set(['agent_session_expired', 'agent_session_superseded'])
const firstBackoffMs = 500
const maxBackoffMs = 60_000
/** Maximum number of consecutive check-ins without waiting, to prevent a loop if both sides disagree about the inventory. */
const maxResyncs = 3

export type HostAgent = ReturnType<typeof createHostAgent>

export const createHostAgent = (
  { host, inventory, transport, clock, waits, failed }: HostAgentDeps,
  known?: Identity,
) => {
  let identity = known
  let session: { token: string; renewAt: number } | undefined
  let bootId = randomUUID()
  let seq = 1
  let needInventory = true
  let needFacts = true
  let changes: DeviceChange[] = []
  let isRefused = false
  let facts: HostFacts = host.facts
  let hashOfFacts = factsHash(facts)
  let onSession: ((token: string) => void) | undefined

  const commands = createCommands({
    inventory,
    clock,
    post: (path, body, contentType) => transport.post(path, () => body, session?.token, undefined, contentType),
    sleep: waits.sleep,
    updated: (version) => {
      facts = { ...facts, agentVersion: version }
      hashOfFacts = factsHash(facts)
      needFacts = true
    },
  })

  /** Repeats a request until the server answers 200 or refuses it permanently. `handled` returns true to retry at once. */
  const persist = async (
    attempt: () => Promise<Answer>,
    handled: (code: string, answer: Answer) => Promise<boolean> | boolean = () => false,
  ): Promise<Answer> => {
    for (let backoff = firstBackoffMs; ; backoff = Math.min(backoff * 2, maxBackoffMs)) {
      let waitMs = backoff * (0.5 + Math.random() / 2)
      try {
        const answer = await attempt()
        if (answer.status === 200) return answer
        const code = codeOf(answer)
        failed(`${answer.status} ${code || 'without code'}: ${detailOf(answer)}`)
        if (final.has(code)) {
          isRefused = true
          throw new Refused(code, detailOf(answer))
        }
        if (await handled(code, answer)) continue
        waitMs = Math.max(waitMs, answer.retryAfterMs)
      } catch (error) {
        if (!(error instanceof NoAnswer)) throw error
        failed(error.message)
      }
      await waits.sleep(waitMs)
    }
  }

  const enrol = async (token: string): Promise<void> => {
    const privateKey = createKey()
    const { machineIdHash, smbiosHash } = host
    const answer = await persist(() =>
      transport.post(
        agentPaths.enrol,
        () => JSON.stringify(enrolRequest(privateKey, token, facts, { machineIdHash, smbiosHash })),
        undefined,
      ),
    )
    identity = { agentId: String(answer.body.agentId), privateKey }
  }

  const openSession = async (): Promise<void> => {
    const own = identity as Identity
    const answer = await persist(() =>
      transport.post(agentPaths.session, () => JSON.stringify(sessionRequest(own, bootId, clock.now())), undefined),
    )
    session = {
      token: String(answer.body.token),
      renewAt: clock.now() + Number(answer.body.expiresInSeconds) * 800,
    }
    onSession?.(session.token)
    const next = Number(answer.body.nextSeq)
    // The server's memory of this start differs (a restored backup), so begin a new boot.
    if (next !== seq && next !== seq + 1) {
      bootId = randomUUID()
      seq = 1
      needInventory = true
      needFacts = true
      await openSession()
    }
  }

  const createBody = (report: ReturnType<typeof commands.report>): string => {
    changes = [...changes, ...inventory.changes(clock.now())]
    const request: CheckInRequest = {
      bootId,
      seq,
      inventoryHash: inventory.hash(),
      clock: clock.now(),
      ...(needFacts ? { factsHash: hashOfFacts, facts } : {}),
      ...(changes.length > 0 ? { changes } : {}),
      ...(needInventory ? { inventory: inventory.devices() } : {}),
      ...report,
    }
    return JSON.stringify(request)
  }

  /** Runs one acknowledged check-in. A retry repeats the body byte for byte. */
  const exchange = async (started: () => void): Promise<Answer> => {
    if (session === undefined || clock.now() >= session.renewAt) await openSession()
    let body: string | undefined
    let formedAt = 0
    let sent: DeviceChange[] = []
    let report: ReturnType<typeof commands.report> = {}
    const answer = await persist(
      () =>
        transport.post(
          agentPaths.checkIn,
          () => {
            if (body === undefined) {
              report = commands.report()
              body = createBody(report)
              formedAt = performance.now()
              sent = changes
              changes = []
            }
            return body
          },
          session?.token,
          started,
          'application/json',
          () => ({ [checkInAgeHeader]: String(Math.round(performance.now() - formedAt)) }),
        ),
      async (code, { status }) => {
        if (sessionLost.has(code)) {
          const boot = bootId
          await openSession()
          if (boot !== bootId) {
            changes = [...sent, ...changes]
            body = undefined
          }
          return true
        }
        if (code === 'agent_report_invalid' || status === 413) {
          body = undefined
          sent = []
          changes = []
          needInventory = true
        }
        return false
      },
    )
    seq += 1
    commands.acknowledged(report)
    needInventory = answer.body.needInventory === true
    needFacts = answer.body.needFacts === true
    await commands.handleAnswer(answer)
    return answer
  }

  return {
    host,
    inventory,
    identity: (): Identity | undefined => identity,
    /** Returns whether the server refused this host permanently. */
    isRefused: (): boolean => isRefused,

    /**
     * Enrols the host if it has no identity, and opens its first session. If the server does not know the identity, it
     * belongs to another database, and the host enrols again.
     */
    join: async (token: string): Promise<void> => {
      if (identity === undefined) await enrol(token)
      try {
        await openSession()
      } catch (error) {
        if (!(error instanceof Refused) || error.code !== 'agent_unknown' || identity !== known) throw error
        isRefused = false
        await enrol(token)
        await openSession()
      }
    },

    /** Calls the listener with the token of the current session and of each later one. */
    onSession: (listener: (token: string) => void): void => {
      onSession = listener
      if (session !== undefined) listener(session.token)
    },

    /** Attaches or removes a device. The next check-in reports it. */
    changeDevices: (): void => {
      changes = [...changes, inventory.changeDevices(clock.now())]
    },

    /**
     * Checks in, and again at once while the server asks for more. Calls `acknowledged` with the milliseconds of each
     * exchange. They count from `dueAt`, which includes the wait for a busy server, or else from the time at which the
     * request got a connection.
     */
    checkIn: async (dueAt: number | undefined, acknowledged: (milliseconds: number) => void): Promise<void> => {
      for (let round = 0, from = dueAt; round <= maxResyncs; round++, from = undefined) {
        let startedAt = from ?? performance.now()
        await exchange(() => {
          if (from === undefined) startedAt = performance.now()
        })
        acknowledged(performance.now() - startedAt)
        if (!needInventory && !needFacts && !commands.hasReport()) return
      }
    },
  }
}
