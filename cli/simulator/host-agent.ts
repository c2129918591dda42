/** One simulated host as the agent protocol sees it; agent/SPEC.md says what a real one does. */
import { randomBytes, randomUUID } from 'node:crypto'
import {
  agentPaths,
  type CheckInRequest,
  type DeviceChange,
  type EnrolRequest,
  enrolProofText,
  type HostFacts,
  sessionProofText,
} from '@portcullis/contract/agent-protocol'
import { factsHash } from '@portcullis/domain'
import { createCommands } from './commands.ts'
import type { Host } from './hosts.ts'
import { createKey, type Identity, signText } from './identity.ts'
import type { Inventory } from './inventory.ts'
import { type Answer, NoAnswer, type Transport } from './transport.ts'
import type { Waits } from './waits.ts'

/** The server said no for good: this host is done. */
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
  /** Something went wrong once and is tried again, or is given up. */
  failed(what: string): void
}

const codeOf = (answer: Answer): string => (typeof answer.body.code === 'string' ? answer.body.code : '')
const detailOf = (answer: Answer): string =>
  typeof answer.body.detail === 'string' ? answer.body.detail : `status ${answer.status}`

const final: ReadonlySet<string> = new Set(['agent_revoked', 'agent_unknown', 'enrolment_refused'])
const sessionLost: ReadonlySet<string> = new Set(['agent_session_expired', 'agent_session_superseded'])
const firstBackoffMs = 500
const maxBackoffMs = 60_000
/** Answers in a row that want more; then the ordinary interval goes on, so that two ends that disagree do not spin. */
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
    updated: (version) => {
      facts = { ...facts, agentVersion: version }
      hashOfFacts = factsHash(facts)
      needFacts = true
    },
  })

  /** Repeats a request until it is answered 200, refused for good or `handled` says what to do. */
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
    const { privateKey, publicKey } = createKey()
    const answer = await persist(() =>
      transport.post(
        agentPaths.enrol,
        () => {
          const request: EnrolRequest = {
            token,
            keyAlgorithm: 'Ed25519',
            publicKey,
            machineIdHash: host.machineIdHash,
            smbiosHash: host.smbiosHash,
            facts,
            proof: signText(privateKey, enrolProofText(token, publicKey)),
          }
          return JSON.stringify(request)
        },
        undefined,
      ),
    )
    identity = { agentId: String(answer.body.agentId), privateKey }
  }

  const openSession = async (): Promise<void> => {
    const { agentId, privateKey } = identity as Identity
    const answer = await persist(() =>
      transport.post(
        agentPaths.session,
        () => {
          const proven = { agentId, bootId, timestamp: clock.now(), nonce: randomBytes(24).toString('base64url') }
          return JSON.stringify({ ...proven, signature: signText(privateKey, sessionProofText(proven)) })
        },
        undefined,
      ),
    )
    session = {
      token: String(answer.body.token),
      renewAt: clock.now() + Number(answer.body.expiresInSeconds) * 800,
    }
    onSession?.(session.token)
    const next = Number(answer.body.nextSeq)
    // The server's memory of this start is not ours (a restored backup): start anew.
    if (next !== seq && next !== seq + 1) {
      bootId = randomUUID()
      seq = 1
      needInventory = true
      needFacts = true
      await openSession()
    }
  }

  const form = (news: ReturnType<typeof commands.news>): string => {
    changes = [...changes, ...inventory.changes(clock.now())]
    const request: CheckInRequest = {
      bootId,
      seq,
      inventoryHash: inventory.hash(),
      clock: clock.now(),
      ...(needFacts ? { factsHash: hashOfFacts, facts } : {}),
      ...(changes.length > 0 ? { changes } : {}),
      ...(needInventory ? { inventory: inventory.devices() } : {}),
      ...news,
    }
    return JSON.stringify(request)
  }

  /** One acknowledged check-in. The body is formed once: a retry repeats it byte for byte. */
  const exchange = async (started: () => void): Promise<Answer> => {
    if (session === undefined || clock.now() >= session.renewAt) await openSession()
    let body: string | undefined
    let sent: DeviceChange[] = []
    let said: ReturnType<typeof commands.news> = {}
    const answer = await persist(
      () =>
        transport.post(
          agentPaths.checkIn,
          () => {
            if (body === undefined) {
              said = commands.news()
              body = form(said)
              sent = changes
              changes = []
            }
            return body
          },
          session?.token,
          started,
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
    commands.told(said)
    needInventory = answer.body.needInventory === true
    needFacts = answer.body.needFacts === true
    await commands.obey(answer)
    return answer
  }

  return {
    host,
    inventory,
    identity: (): Identity | undefined => identity,
    /** The server refused this host for good. */
    isRefused: (): boolean => isRefused,

    /**
     * Enrols unless the host has an identity already, then opens its first session. An identity that the server does not
     * know is one of another database: the host enrols anew.
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

    /** Calls back with the token of each session from now on, and of the present one. */
    onSession: (listener: (token: string) => void): void => {
      onSession = listener
      if (session !== undefined) listener(session.token)
    },

    /** Something was plugged in or taken away; the next check-in tells. */
    happen: (): void => {
      changes = [...changes, inventory.happen(clock.now())]
    },

    /**
     * Checks in, and again at once as long as the server asks for more. `acknowledged` hears each answer with the
     * milliseconds it took, counted from `dueAt` (so that waiting for a busy server counts) or, without, from the moment
     * it had a connection.
     */
    checkIn: async (dueAt: number | undefined, acknowledged: (milliseconds: number) => void): Promise<void> => {
      for (let round = 0, from = dueAt; round <= maxResyncs; round++, from = undefined) {
        let startedAt = from ?? performance.now()
        await exchange(() => {
          if (from === undefined) startedAt = performance.now()
        })
        acknowledged(performance.now() - startedAt)
        if (!needInventory && !needFacts && !commands.hasNews()) return
      }
    },
  }
}
