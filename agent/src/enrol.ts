import { X509Certificate } from 'node:crypto'
import { join } from 'node:path'
import { createBackoff } from './backoff.ts'
import { type Clock, sleep } from './clock.ts'
import type { AgentConfig } from './config.ts'
import { AgentExit, cannotStart, exitCodes, messageOf } from './exit.ts'
import { removeIfThere } from './files.ts'
import { type AgentKey, createKey, loadKey, sha256Hex } from './keys.ts'
import type { Log } from './log.ts'
import { completeMachine, isOtherMachine, type Machine } from './machine.ts'
import { createNextIdentity } from './next-identity.ts'
import type { FactsCollector, Secrets } from './platform/platform.ts'
import { createProtocol } from './protocol.ts'
import { type Identity, NOT_ENROLLED, type State } from './state.ts'
import { createTransport, type Transport } from './transport/http.ts'
import { Refusal } from './transport/refusal.ts'
import { caHashOf, explainIssuer, fetchPin, PinMismatch, spkiHash } from './transport/tls-pin.ts'

export interface EnrolDeps {
  config: Pick<AgentConfig, 'server' | 'token' | 'once' | 'allowInsecureHttp' | 'proxy'>
  state: State
  facts: FactsCollector
  secrets: Secrets
  clock: Clock
  log: Log
  backoff: { minMs: number; maxMs: number }
}

/** An enrolled host: its identity, its key and a verified transport to the server. */
export interface Enrolled {
  identity: Identity
  key: AgentKey
  transport: Transport
}

const TLS_TIMEOUT_MS = 15_000

const isLoopback = (host: string): boolean =>
  host === 'localhost' || host === '[::1]' || /^127(\.\d{1,3}){3}$/.test(host)

/**
 * Refuses unencrypted HTTP to another machine, because it would expose the enrolment token and session tokens.
 *
 * @throws AgentExit(1)
 */
export const checkAddress = (server: URL, allowInsecureHttp: boolean): void => {
  if (server.protocol === 'http:' && !isLoopback(server.hostname) && !allowInsecureHttp) {
    throw cannotStart(
      `The connection to ${server.origin} is not encrypted. Use https, or --insecure-http on a trusted network.`,
    )
  }
}

const pemMatches = (pem: string, hash: string): boolean => {
  try {
    return spkiHash(new X509Certificate(pem)) === hash
  } catch {
    return false
  }
}

/**
 * Returns the host's identity. Enrols the host first if necessary (SPEC.md, UNENROLLED).
 *
 * @throws AgentExit(1) without identity and token, AgentExit(2) if refused, AgentExit(3) if revoked
 */
export const createEnrolment = ({ config, state, facts, secrets, clock, log, backoff }: EnrolDeps) => {
  const next = createNextIdentity(state)
  /** Whether the host has an identity in use and moves to another server. It keeps that identity if it cannot move. */
  let isMoving = false
  const targetOf = (server: URL) => ({ server, proxy: config.proxy, timeoutMs: TLS_TIMEOUT_MS })

  const transportTo = (server: URL, pins: Pick<State, 'pinnedCa' | 'savePinnedCa'> = state): Transport => {
    const ca = server.protocol === 'https:' ? pins.pinnedCa() : undefined
    return createTransport({
      server,
      proxy: config.proxy,
      ca,
      otherCa: {
        fetch: (present, signal) =>
          fetchPin({
            ...targetOf(server),
            hash: spkiHash(new X509Certificate(present)),
            except: present,
            signal,
          }),
        keep: (pem) => {
          pins.savePinnedCa(pem)
          log.info('ca_fetched_again', { server: server.origin })
        },
      },
      explain: (error, signal) => explainIssuer(error, ca !== undefined, { ...targetOf(server), signal }),
      now: clock.now,
    })
  }

  /** Saves the state of the enrolment for the `status` command. */
  const saveStatus = (name: string, lastProblem?: string): void =>
    state.saveStatus({
      ...{ state: name, updatedAt: new Date(clock.now()).toISOString(), devices: 0, spooledChanges: 0 },
      ...(lastProblem === undefined ? {} : { lastProblem }),
    })

  /** Retries a step until it succeeds or the agent stops. */
  async function persist<T>(what: string, signal: AbortSignal, attempt: () => Promise<T>): Promise<T> {
    const wait = createBackoff(backoff)
    for (;;) {
      try {
        return await attempt()
      } catch (error) {
        if (signal.aborted || error instanceof AgentExit) throw error
        const isOver = error instanceof PinMismatch && (config.once || isMoving)
        if (isOver) throw cannotStart(messageOf(error))
        const delay = Math.max(wait.next(), error instanceof Refusal ? (error.retryAfterMs ?? 0) : 0)
        log.warn('enrolment_failed', { step: what, reason: messageOf(error), retryInMs: Math.round(delay) })
        if (!isMoving) saveStatus(NOT_ENROLLED, messageOf(error))
        await sleep(delay, signal)
        signal.throwIfAborted()
      }
    }
  }

  async function pin(target: State, server: URL, token: string, signal: AbortSignal): Promise<void> {
    const hash = server.protocol === 'https:' ? caHashOf(token) : undefined
    if (hash === undefined) return target === state ? removeIfThere(join(state.dir, 'ca.pem')) : target.savePinnedCa('')
    const pinned = target.pinnedCa()
    if (pinned !== undefined && pemMatches(pinned, hash)) return
    target.savePinnedCa(await persist('pin', signal, () => fetchPin({ ...targetOf(server), hash, signal })))
    log.info('ca_pinned', { hash })
  }

  async function enrol(
    target: State,
    server: URL,
    token: string,
    key: AgentKey,
    machine: Machine,
    signal: AbortSignal,
  ): Promise<Enrolled> {
    await pin(target, server, token, signal)
    const transport = transportTo(server, target)
    const protocol = createProtocol({ transport, key, clock })
    const answer = await persist('enrol', signal, async () => {
      const request = { token, ...machine, facts: facts.collect() }
      try {
        return await protocol.enrol(request, signal)
      } catch (error) {
        if (error instanceof Refusal && error.code === 'enrolment_refused') {
          throw new AgentExit(exitCodes.enrolmentRefused, `The server refused the enrolment: ${error.message}`)
        }
        if (error instanceof Refusal && error.code === 'agent_revoked') {
          throw new AgentExit(exitCodes.revoked, `The server refused the enrolment: ${error.message}`)
        }
        throw error
      }
    })
    const identity: Identity = {
      agentId: answer.agentId,
      server: server.href,
      commandKey: answer.commandKey,
      tokenHash: sha256Hex(token),
      enrolledAt: new Date(clock.now()).toISOString(),
      machine,
    }
    target.saveIdentity(identity)
    next.adopt()
    saveStatus('enrolled')
    log.info('enrolled', { agentId: identity.agentId, server: server.origin, tookOver: answer.tookOver })
    return { identity, key, transport: target === state ? transport : transportTo(server) }
  }

  const isFreshToken = (identity: Identity): boolean =>
    config.token !== undefined && sha256Hex(config.token) !== identity.tokenHash

  /**
   * Returns whether a fresh token belongs to another server: its CA hash differs or, without a hash, the address
   * differs. The host then moves to that server and gives up its old identity.
   */
  function movesElsewhere(identity: Identity): boolean {
    if (!isFreshToken(identity)) return false
    const hash = caHashOf(config.token ?? '')
    const pinned = state.pinnedCa()
    if (hash !== undefined) return pinned === undefined || !pemMatches(pinned, hash)
    return config.server !== undefined && config.server.origin !== new URL(identity.server).origin
  }

  function resume(identity: Identity, now: Machine, server = config.server ?? new URL(identity.server)): Enrolled {
    const key = loadKey(state.dir, secrets)
    if (key === undefined)
      throw cannotStart(
        `The state directory ${state.dir} has an identity but no key. Remove the directory and enrol the host again.`,
      )
    if (isFreshToken(identity)) {
      log.info('token_ignored', { reason: `This host is already enrolled as ${identity.agentId}.` })
    }
    // Older versions stored no hashes, and an agent without privileges cannot read all of them.
    const machine = completeMachine(identity.machine, now)
    if (JSON.stringify(machine) !== JSON.stringify(identity.machine)) state.amendIdentity({ machine })
    checkAddress(server, config.allowInsecureHttp)
    return { identity, key, transport: transportTo(server) }
  }

  /** Enrols a host that has no usable identity. */
  async function begin(
    { identity, machine, isCopy }: { identity: Identity | undefined; machine: Machine; isCopy: boolean },
    signal: AbortSignal,
  ): Promise<Enrolled> {
    if (identity?.revoked && !isFreshToken(identity)) {
      const { code, at } = identity.revoked
      throw new AgentExit(
        exitCodes.revoked,
        `The server revoked this agent (${code}, ${at}). Enrol the host again with a new token.`,
      )
    }
    if (config.token === undefined)
      throw cannotStart(
        isCopy && identity !== undefined
          ? `This host is a copy of the host ${identity.agentId}, or its hardware was replaced or its machine ID reset. Enrol it as a new host: set an enrolment token with --token-file.`
          : 'This host is not enrolled. Set an enrolment token with --token-file.',
      )
    const server = config.server ?? (identity && new URL(identity.server))
    if (server === undefined) throw cannotStart('The server address is missing. Set it with --server.')
    checkAddress(server, config.allowInsecureHttp)
    // The changes in the spool happened on the other machine.
    if (isCopy) removeIfThere(join(state.dir, 'spool.jsonl'))
    // A revoked key stays revoked and another server must not get the old key, so a fresh token gets a fresh key.
    const target = identity === undefined ? state : next.open(config.token)
    const key = loadKey(target.dir, secrets) ?? createKey(target.dir, secrets)
    return enrol(target, server, config.token, key, machine, signal)
  }

  return async (signal: AbortSignal): Promise<Enrolled> => {
    next.adopt()
    const identity = state.identity()
    const isMoved = identity !== undefined && movesElsewhere(identity)
    const isLost = identity?.unknownSince !== undefined && isFreshToken(identity)
    const machine: Machine = { machineIdHash: facts.machineIdHash(), smbiosHash: facts.smbiosHash() }
    const isCopy = identity !== undefined && isOtherMachine(identity.machine, machine)
    if (identity !== undefined && identity.revoked === undefined && !isMoved && !isLost && !isCopy)
      return resume(identity, machine)
    if (isCopy) log.warn('machine_changed', { agentId: identity.agentId })
    if (isLost) log.info('enrolling_again', { agentId: identity.agentId, unknownSince: identity.unknownSince })
    if (isMoved) log.info('server_changed', { from: identity.server })
    isMoving = isMoved && !isCopy && identity.revoked === undefined
    try {
      return await begin({ identity, machine, isCopy }, signal)
    } catch (error) {
      if (!(error instanceof AgentExit)) throw error
      if (!isMoving || identity === undefined) {
        log.warn('not_enrolled', { reason: messageOf(error) })
        saveStatus(NOT_ENROLLED, messageOf(error))
        throw error
      }
      log.warn('not_moved', { reason: messageOf(error) })
      // The command `enrol` must report the failure. The service must not leave the host without an agent.
      if (config.once) throw error
      return resume(identity, machine, new URL(identity.server))
    }
  }
}
