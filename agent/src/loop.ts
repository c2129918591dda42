import { randomUUID } from 'node:crypto'
import type { EnforcementState } from '@portcullis/contract/agent-protocol.ts'
import { createBackoff } from './backoff.ts'
import type { createCheckIns, FormedCheckIn, ServerView } from './check-in.ts'
import { type Clock, sleep } from './clock.ts'
import type { CommandKeys } from './command-keys.ts'
import type { Commands } from './commands.ts'
import { AgentExit, exitCodes, messageOf } from './exit.ts'
import type { Log } from './log.ts'
import type { Protocol } from './protocol.ts'
import type { Reports } from './reports.ts'
import type { Spool } from './spool.ts'
import type { Identity, State } from './state.ts'
import { Refusal } from './transport/refusal.ts'
import type { WakeSignal } from './wake-signal.ts'

export interface LoopTiming {
  backoff: { minMs: number; maxMs: number }
  /** Waits between attempts while the server does not know this agent. */
  unknownBackoff: { minMs: number; maxMs: number }
  /** Time after which a superseded session no longer counts as repeated. */
  supersededMemoryMs: number
}

export const loopTiming: LoopTiming = {
  backoff: { minMs: 1000, maxMs: 300_000 },
  unknownBackoff: { minMs: 10_000, maxMs: 600_000 },
  supersededMemoryMs: 600_000,
}

export interface LoopDeps {
  identity: Identity
  protocol: Protocol
  checkIns: ReturnType<typeof createCheckIns>
  spool: Spool
  commands: Commands
  keys: Pick<CommandKeys, 'id' | 'learn' | 'revocationFault'>
  reports: Reports
  state: State
  /** Ends the wait between check-ins, on a device change or a wake message. */
  wakeSignal: WakeSignal
  /** Called when a session was opened. */
  onSession: (token: string) => void
  deviceCount: () => number
  /** Called with the acknowledged state of enforcement and whether the agent must fetch the policy. */
  onAcknowledged: (reported: EnforcementState | undefined, needPolicy: boolean) => void
  /** Called when another command key is in force. The previous key signed the stored policy. */
  onNewKey: () => void
  /** Called when a signed answer revokes this agent. The host is then freed. */
  onRevoked: () => void
  once: boolean
  clock: Clock
  log: Log
  timing?: LoopTiming
  random?: () => number
}

interface Session {
  token: string
  /** Monotonic time at 80 % of the token's life. */
  renewAt: number
}

/** The wait before the next step, and whether the wake signal can end it early. */
interface Pause {
  ms: number
  isFirm: boolean
}

const NOW: Pause = { ms: 0, isFirm: false }
/** Consecutive answers that ask for facts or inventory before the agent returns to its normal interval. */
const MAX_RESYNCS = 3

/** Creates the state machine of SPEC.md, starting with SETTLING. */
export const createLoop = (deps: LoopDeps) => {
  const {
    identity,
    protocol,
    checkIns,
    spool,
    commands,
    keys,
    reports,
    state,
    wakeSignal,
    clock,
    log,
    timing = loopTiming,
    random = Math.random,
  } = deps
  const wait = createBackoff({ ...timing.backoff, random })
  const supersededWait = createBackoff({ ...timing.backoff, random })
  const unknownWait = createBackoff({ ...timing.unknownBackoff, random })
  const freshView = (): ServerView => ({
    bootId: randomUUID(),
    seq: 1,
    needInventory: true,
    needFacts: true,
    factsHash: undefined,
    enforcement: undefined,
  })

  let view = freshView()
  let session: Session | undefined
  let flight: FormedCheckIn | undefined
  /** The server refused the check-in in flight as invalid. The next session decides whether the agent drops it. */
  let isFlightRefused = false
  let resyncs = 0
  /** Consecutive sessions whose token was refused at once. */
  let expiredInRow = 0
  let lastSuperseded = Number.NEGATIVE_INFINITY
  let lastCheckInAt: string | undefined
  let isUnknown = identity.unknownSince !== undefined

  const saveStatus = (name: string, more: { lastProblem?: string; nextCheckInSeconds?: number } = {}): void =>
    state.saveStatus({
      state: name,
      updatedAt: new Date(clock.now()).toISOString(),
      ...(lastCheckInAt === undefined ? {} : { lastCheckInAt }),
      devices: deps.deviceCount(),
      spooledChanges: spool.size,
      ...more,
    })

  /**
   * Stores whether the server knows this agent. An unknown agent keeps running, because a restored backup, a wrong
   * address or a replaced agent cause the same response. Otherwise, an armed host would become free permanently.
   */
  function markUnknown(unknownSince: string | undefined): void {
    isUnknown = unknownSince !== undefined
    try {
      state.amendIdentity({ unknownSince })
    } catch (error) {
      reports.add('identity_write_failed', messageOf(error))
    }
  }

  function startBoot(): void {
    flight = undefined
    isFlightRefused = false
    spool.forgetFlight()
    view = freshView()
  }

  function learn(rotations: unknown): void {
    if (keys.learn(rotations)) deps.onNewKey()
  }

  /** SETTLING: finds out whether the server committed the last check-in of an earlier start. */
  async function settle(signal: AbortSignal): Promise<void> {
    const open = spool.openFlight()
    if (open === undefined || open.bootId === view.bootId) return
    let nextSeq = 0
    try {
      const settled = await protocol.session(identity.agentId, open.bootId, keys.id(), signal)
      nextSeq = settled.nextSeq
      learn(settled.commandKeys)
    } catch (error) {
      if (!(error instanceof Refusal) || error.code !== 'agent_session_superseded') throw error
    }
    const isCommitted = nextSeq > open.seq
    log.info('earlier_check_in_settled', { seq: open.seq, committed: isCommitted })
    if (isCommitted) spool.acknowledge(open.upTo)
    else spool.forgetFlight()
  }

  function dropRefused(refused: FormedCheckIn): void {
    if (refused.upTo !== undefined) spool.acknowledge(refused.upTo)
    flight = undefined
    isFlightRefused = false
    view.needInventory = true
  }

  async function openSession(signal: AbortSignal): Promise<Session> {
    await settle(signal)
    const opened = await protocol.session(identity.agentId, view.bootId, keys.id(), signal)
    learn(opened.commandKeys)
    const isInOrder = opened.nextSeq === view.seq || (flight !== undefined && opened.nextSeq === view.seq + 1)
    if (!isInOrder) {
      log.warn('sequence_mismatch', { expected: opened.nextSeq, own: view.seq })
      startBoot()
      throw new Error(`the server expects check-in ${opened.nextSeq} of this start, not ${view.seq}`)
    }
    if (isFlightRefused && flight !== undefined && opened.nextSeq === view.seq) dropRefused(flight)
    isFlightRefused = false
    log.info('session_opened', { bootId: view.bootId, expiresInSeconds: opened.expiresInSeconds })
    deps.onSession(opened.token)
    return { token: opened.token, renewAt: clock.monotonic() + opened.expiresInSeconds * 800 }
  }

  function acknowledged(sent: FormedCheckIn, answer: Awaited<ReturnType<Protocol['checkIn']>>): Pause {
    if (sent.upTo !== undefined) spool.acknowledge(sent.upTo)
    flight = undefined
    wait.reset()
    unknownWait.reset()
    if (isUnknown) {
      markUnknown(undefined)
      log.info('agent_recognised')
    }
    view.seq++
    view.factsHash = sent.factsHash ?? view.factsHash
    view.needInventory ||= answer.needInventory
    view.needFacts ||= answer.needFacts
    expiredInRow = 0
    lastCheckInAt = new Date(clock.now()).toISOString()
    saveStatus('steady', { nextCheckInSeconds: answer.nextCheckInSeconds })
    view.enforcement = sent.enforcement ?? view.enforcement
    deps.onAcknowledged(sent.enforcement, answer.needPolicy)
    commands.receive(answer.commands)
    resyncs = answer.needInventory || answer.needFacts ? resyncs + 1 : 0
    if (resyncs > 0 && resyncs <= MAX_RESYNCS) return NOW
    if (resyncs === MAX_RESYNCS + 1)
      reports.add('resync_loop', 'The server keeps asking for facts or inventory that the agent just sent.')
    if (commands.hasDue || spool.size > 0) return NOW
    return { ms: answer.nextCheckInSeconds * (900 + random() * 200), isFirm: false }
  }

  function afterSuperseded(): Pause {
    const isRepeated = clock.monotonic() - lastSuperseded < timing.supersededMemoryMs
    lastSuperseded = clock.monotonic()
    if (isRepeated) return { ms: supersededWait.next(), isFirm: true }
    supersededWait.reset()
    return NOW
  }

  function afterUnknown(refusal: Refusal, code: string, message: string): Pause {
    session = undefined
    if (!isUnknown) {
      reports.add(code, message)
      markUnknown(new Date(clock.now()).toISOString())
    }
    return { ms: Math.max(unknownWait.next(), refusal.retryAfterMs ?? 0), isFirm: true }
  }

  function afterRefusal(refusal: Refusal): Pause {
    switch (refusal.code) {
      case 'agent_revoked': {
        const fault = keys.revocationFault(refusal.body, commands.counter)
        // An attacker on the network can forge this response, but only the server can sign it.
        if (fault !== undefined)
          return afterUnknown(
            refusal,
            'revocation_refused',
            `The server sent a revocation of this agent, but ${fault}. The agent ignores it and keeps its mode.`,
          )
        state.amendIdentity({ revoked: { code: refusal.code, at: new Date(clock.now()).toISOString() } })
        deps.onRevoked()
        saveStatus('revoked', { lastProblem: refusal.message })
        throw new AgentExit(exitCodes.revoked, `The server revoked this agent: ${refusal.message}`)
      }
      case 'agent_unknown':
        return afterUnknown(
          refusal,
          'agent_unknown',
          `The server does not know this agent, so the agent keeps its mode and retries: ${refusal.message}`,
        )
      case 'agent_session_expired':
        session = undefined
        // Retry at once the first time; back off if the server refuses new tokens as well.
        if (++expiredInRow === 1) return NOW
        break
      case 'agent_session_superseded':
        session = undefined
        return afterSuperseded()
    }
    if (refusal.code === 'agent_report_invalid' || refusal.status === 413) {
      reports.add('report_refused', refusal.message)
      isFlightRefused = flight !== undefined
      session = undefined
    }
    return { ms: Math.max(wait.next(), refusal.retryAfterMs ?? 0), isFirm: true }
  }

  async function step(signal: AbortSignal): Promise<Pause> {
    if (session === undefined || clock.monotonic() >= session.renewAt) session = await openSession(signal)
    if (flight === undefined) {
      flight = checkIns.form(view)
      // This check-in answers the earlier request. A request that arrives meanwhile is a new one.
      view.needInventory = false
      view.needFacts = false
    }
    return acknowledged(flight, await protocol.checkIn(flight, session.token, signal))
  }

  function afterFailure(error: unknown, signal: AbortSignal): Pause {
    if (error instanceof AgentExit || signal.aborted) throw error
    const pause = error instanceof Refusal ? afterRefusal(error) : { ms: wait.next(), isFirm: true }
    log.warn('check_in_failed', { reason: messageOf(error), retryInMs: Math.round(pause.ms) })
    saveStatus(isUnknown ? 'unknown to the server' : 'waiting', { lastProblem: messageOf(error) })
    return pause
  }

  return {
    /** Opens a new session with the next step, because another request found that the token is refused. */
    renewSession(): void {
      session = undefined
      wakeSignal.send()
    },
    /**
     * Runs until the signal is aborted, or with `once` until one check-in is complete.
     *
     * @throws AgentExit if the server revoked this agent
     */
    async run(signal: AbortSignal): Promise<void> {
      while (!signal.aborted) {
        let pause: Pause
        try {
          pause = await step(signal)
          if (deps.once && pause !== NOW) {
            await commands.idle(signal)
            if (!commands.hasDue) return
            pause = NOW
          }
        } catch (error) {
          if (signal.aborted) return
          pause = afterFailure(error, signal)
        }
        if (pause.isFirm) await sleep(pause.ms, signal)
        else await wakeSignal.wait(pause.ms, signal)
      }
    },
  }
}
export type Loop = ReturnType<typeof createLoop>
