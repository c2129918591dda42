import { X509Certificate } from 'node:crypto'
import { join } from 'node:path'
import { createBackoff } from './backoff.ts'
import { type Clock, sleep } from './clock.ts'
import type { FactsCollector } from './collectors/facts.ts'
import type { AgentConfig } from './config.ts'
import { AgentExit, cannotStart, exitCodes, messageOf } from './exit.ts'
import { removeIfThere } from './files.ts'
import { type AgentKey, createKey, loadKey, sha256Hex } from './keys.ts'
import type { Log } from './log.ts'
import { createProtocol } from './protocol.ts'
import type { Identity, State } from './state.ts'
import { createTransport, type Transport } from './transport/http.ts'
import { Refusal } from './transport/refusal.ts'
import { caHashOf, fetchPin, PinMismatch, spkiHash } from './transport/tls-pin.ts'

export interface EnrolDeps {
  config: Pick<AgentConfig, 'server' | 'token' | 'once' | 'allowInsecureHttp'>
  state: State
  facts: Pick<FactsCollector, 'collect' | 'machineIdHash' | 'smbiosHash'>
  clock: Clock
  log: Log
  backoff: { minMs: number; maxMs: number }
}

/** What the steady agent needs: who it is, its key, and a way to the server that verifies it. */
export interface Enrolled {
  identity: Identity
  key: AgentKey
  transport: Transport
}

const TLS_TIMEOUT_MS = 15_000

const isLoopback = (host: string): boolean =>
  host === 'localhost' || host === '[::1]' || /^127(\.\d{1,3}){3}$/.test(host)

/** Refuses clear text to another machine: the enrolment token and session tokens would cross the network readable. */
const checkAddress = (server: URL, allowInsecureHttp: boolean): void => {
  if (server.protocol === 'http:' && !isLoopback(server.hostname) && !allowInsecureHttp) {
    throw cannotStart(
      `${server.origin} is not encrypted. Use https, or --insecure-http when the network itself is trusted.`,
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
 * Gives back the host's identity, enrolling first when there is none (SPEC.md, UNENROLLED).
 *
 * @throws AgentExit(1) without identity and token, AgentExit(2) when refused, AgentExit(3) when revoked before
 */
export const createEnrolment = ({ config, state, facts, clock, log, backoff }: EnrolDeps) => {
  const targetOf = (server: URL, hash: string) => ({
    host: server.hostname.replace(/^\[|\]$/g, ''),
    port: Number(server.port || 443),
    hash,
    timeoutMs: TLS_TIMEOUT_MS,
  })

  const transportTo = (server: URL): Transport =>
    createTransport({
      server,
      ca: server.protocol === 'https:' ? state.pinnedCa() : undefined,
      otherCa: {
        fetch: (present, signal) =>
          fetchPin({ ...targetOf(server, spkiHash(new X509Certificate(present))), except: present, signal }),
        keep: (pem) => {
          state.savePinnedCa(pem)
          log.info('ca_fetched_again', { server: server.origin })
        },
      },
      now: clock.now,
    })

  /** Repeats what may succeed later, until it does or the agent is stopped. */
  async function persist<T>(what: string, signal: AbortSignal, attempt: () => Promise<T>): Promise<T> {
    const wait = createBackoff(backoff)
    for (;;) {
      try {
        return await attempt()
      } catch (error) {
        if (signal.aborted || error instanceof AgentExit) throw error
        const isOver = error instanceof PinMismatch && config.once
        if (isOver) throw cannotStart(messageOf(error))
        const delay = Math.max(wait.next(), error instanceof Refusal ? (error.retryAfterMs ?? 0) : 0)
        log.warn('enrolment_waits', { step: what, reason: messageOf(error), againInMs: Math.round(delay) })
        await sleep(delay, signal)
        signal.throwIfAborted()
      }
    }
  }

  async function pin(server: URL, token: string, signal: AbortSignal): Promise<void> {
    const hash = server.protocol === 'https:' ? caHashOf(token) : undefined
    if (hash === undefined) return removeIfThere(join(state.dir, 'ca.pem'))
    const pinned = state.pinnedCa()
    if (pinned !== undefined && pemMatches(pinned, hash)) return
    state.savePinnedCa(await persist('pin', signal, () => fetchPin({ ...targetOf(server, hash), signal })))
    log.info('ca_pinned', { hash })
  }

  async function enrol(server: URL, token: string, key: AgentKey, signal: AbortSignal): Promise<Enrolled> {
    await pin(server, token, signal)
    const transport = transportTo(server)
    const protocol = createProtocol({ transport, key, clock })
    const answer = await persist('enrol', signal, async () => {
      const request = {
        token,
        machineIdHash: facts.machineIdHash(),
        smbiosHash: facts.smbiosHash(),
        facts: facts.collect(),
      }
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
    }
    state.saveIdentity(identity)
    log.info('enrolled', { agentId: identity.agentId, server: server.origin, tookOver: answer.tookOver })
    return { identity, key, transport }
  }

  const isFreshToken = (identity: Identity): boolean =>
    config.token !== undefined && sha256Hex(config.token) !== identity.tokenHash

  /**
   * Whether a fresh token is another server's: it names another CA or, without one, the address is another. Somebody with
   * the right to this host moves it; what it was to the old server counts no more.
   */
  function movesElsewhere(identity: Identity): boolean {
    if (!isFreshToken(identity)) return false
    const hash = caHashOf(config.token ?? '')
    const pinned = state.pinnedCa()
    if (hash !== undefined) return pinned === undefined || !pemMatches(pinned, hash)
    return config.server !== undefined && config.server.origin !== new URL(identity.server).origin
  }

  function resume(identity: Identity): Enrolled {
    const key = loadKey(state.dir)
    if (key === undefined)
      throw cannotStart(`${state.dir} has an identity but no key. Remove it and enrol the host anew.`)
    if (isFreshToken(identity)) {
      log.info('token_ignored', { reason: `This host is enrolled already as ${identity.agentId}.` })
    }
    const server = config.server ?? new URL(identity.server)
    checkAddress(server, config.allowInsecureHttp)
    return { identity, key, transport: transportTo(server) }
  }

  return async (signal: AbortSignal): Promise<Enrolled> => {
    const identity = state.identity()
    const isMoved = identity !== undefined && movesElsewhere(identity)
    const isLost = identity?.unknownSince !== undefined && isFreshToken(identity)
    if (identity !== undefined && identity.revoked === undefined && !isMoved && !isLost) return resume(identity)
    if (isLost) log.info('enrolling_anew', { agentId: identity.agentId, unknownSince: identity.unknownSince })
    if (isMoved) log.info('server_changed', { from: identity.server })
    if (identity?.revoked && !isFreshToken(identity)) {
      const { code, at } = identity.revoked
      throw new AgentExit(
        exitCodes.revoked,
        `The server ended this identity (${code}, ${at}). Enrol the host anew with a fresh token.`,
      )
    }
    if (config.token === undefined)
      throw cannotStart('This host is not enrolled. Give an enrolment token (--token or --token-file).')
    const server = config.server ?? (identity && new URL(identity.server))
    if (server === undefined) throw cannotStart('No server address given (--server).')
    checkAddress(server, config.allowInsecureHttp)
    // A revoked key stays revoked and another server gets no old key, so a fresh token gets a fresh key. The identity goes
    // after the key is durable: a kill in between finds either the old pair or the new key without identity.
    const key = identity === undefined ? (loadKey(state.dir) ?? createKey(state.dir)) : createKey(state.dir)
    if (identity !== undefined) removeIfThere(join(state.dir, 'identity.json'))
    return enrol(server, config.token, key, signal)
  }
}
