import type { IncomingMessage, ServerResponse } from 'node:http'
import { AppError } from '@portcullis/platform/server/app-error.ts'
import { credentialSeen, machineOwner } from '@portcullis/platform/server/http/connections.ts'
import { logFailure } from '@portcullis/platform/server/http/log-failure.ts'
import { problemOf, toAppError } from '@portcullis/platform/server/http/problem.ts'
import { faultsOf } from '@portcullis/platform/server/http/read-body.ts'
import { isEncrypted, safetyHeaders } from '@portcullis/platform/server/http/safety-headers.ts'
import { hasUnreadBody, turnAway } from '@portcullis/platform/server/http/turn-away.ts'
import { traceOf } from '@portcullis/platform/server/tracing/index.ts'
import { Compile } from 'typebox/compile'
import type { AgentSession } from '#features/agents/server/index.ts'
import { agentLimits, agentPaths, CheckInRequest, checkInAgeHeader } from '#features/contract.ts'
import type { CheckIns } from './check-ins.ts'
import { type Outcome, skewSeconds } from './collect-report.ts'
import type { IngestContext } from './context.ts'
import { beatBytes, createQuota } from './quota.ts'

const check = Compile(CheckInRequest)
const utf8 = new TextDecoder('utf-8', { fatal: true })

/** Returns how long the check-in waited on its host, in milliseconds. Undefined: not stated. */
const ageOf = (request: IncomingMessage): number | undefined => {
  const text = request.headers[checkInAgeHeader]
  return typeof text === 'string' && /^\d{1,12}$/.test(text) ? Number(text) : undefined
}

const isBeat = (r: CheckInRequest): boolean =>
  r.changes === undefined &&
  r.inventory === undefined &&
  r.facts === undefined &&
  r.acks === undefined &&
  r.enforcement === undefined &&
  r.errors === undefined

/**
 * Parses a check-in. Texts of devices are accepted unchanged and cleaned before they are stored, so that no device
 * hides behind an odd string.
 */
const parse = (body: Buffer): CheckInRequest => {
  let value: unknown
  try {
    value = JSON.parse(utf8.decode(body))
  } catch {
    throw new AppError('agent_report_invalid', { detail: 'The body is not valid JSON in UTF-8.' })
  }
  if (!check.Check(value)) {
    const faults = faultsOf(check, CheckInRequest, value)
    throw new AppError(
      'agent_report_invalid',
      { detail: `${faults[0]?.field} ${faults[0]?.message}.` },
      { errors: faults },
    )
  }
  return value
}

/**
 * Handles check-ins before the router. Nine of ten requests are check-ins, and routing, hooks and schema serialisation
 * cost more than the work itself (ADR 0006). Errors, headers and limits are the same as everywhere else.
 */
export const createCheckInPath = (context: IngestContext, checkIns: CheckIns) => {
  const { addressOf, agents, clock, log, metrics, settings } = context
  const { verifySession } = agents
  const quota = createQuota(clock)
  const duration = metrics.histogram(
    'portcullis_check_in_duration_seconds',
    'Time from request to answer of a check-in.',
  )
  const path = agentPaths.checkIn

  function answer(
    response: ServerResponse,
    status: number,
    type: string,
    text: string,
    headers: Readonly<Record<string, string>> = {},
  ): void {
    if (response.destroyed || response.headersSent) return
    response.writeHead(status, {
      'content-type': type,
      'content-length': Buffer.byteLength(text),
      'cache-control': 'no-store',
      'x-content-type-options': 'nosniff',
      ...headers,
    })
    response.end(text)
  }

  function fail(request: IncomingMessage, response: ServerResponse, given: unknown): void {
    const error = toAppError(given)
    const { traceId } = traceOf(request.headers.traceparent)
    if (hasUnreadBody(request)) turnAway(request, response)
    else if (!request.complete) request.resume()
    logFailure(log, error, { traceId, route: path })
    const headers = {
      ...error.headers,
      ...(error.status === 401 ? { 'www-authenticate': 'Bearer' } : {}),
      // Errors may reach a browser. Successful answers, 1,700 per second, go only to agents and save 300 bytes of
      // headers.
      ...safetyHeaders(isEncrypted(request.socket)),
    }
    answer(
      response,
      error.status,
      'application/problem+json; charset=utf-8',
      JSON.stringify(problemOf(error, path, traceId)),
      headers,
    )
  }

  function respond(response: ServerResponse, outcome: Outcome): void {
    const interval = Number(settings.now('VENDORA_CHECKIN_SECONDS'))
    const { needInventory, needFacts, needPolicy, commands } = outcome
    const text =
      needInventory === true || needFacts === true || needPolicy === true || commands !== undefined
        ? JSON.stringify({
            nextCheckInSeconds: interval,
            ...(needInventory === true ? { needInventory } : {}),
            ...(needFacts === true ? { needFacts } : {}),
            ...(needPolicy === true ? { needPolicy } : {}),
            ...(commands === undefined ? {} : { commands }),
          })
        : `{"nextCheckInSeconds":${interval}}`
    answer(response, 200, 'application/json; charset=utf-8', text)
  }

  async function handle(
    session: AgentSession,
    body: Buffer,
    { ageMs, address }: { ageMs: number | undefined; address: string },
  ): Promise<Outcome> {
    // Charges the body before parsing it, because parsing costs the most.
    const isLarge = body.length > beatBytes
    if (isLarge) quota.charge(session.agentId, body.length, 0)
    const request = parse(body)
    if (request.bootId !== session.bootId) throw new AppError('agent_session_superseded')
    if (!isBeat(request)) {
      const changes = (request.changes?.length ?? 0) + (request.errors?.length ?? 0)
      if (isLarge) quota.oweChanges(session.agentId, changes)
      else quota.charge(session.agentId, body.length, changes)
      return checkIns.report({ agentId: session.agentId, request, ageMs, address })
    }
    return checkIns.beat({
      agentId: session.agentId,
      bootId: request.bootId,
      seq: request.seq,
      inventoryHash: request.inventoryHash,
      factsHash: request.factsHash ?? null,
      skewSeconds: skewSeconds({ clock: request.clock, ageMs, receivedAt: clock.now() }),
      address,
    })
  }

  return (request: IncomingMessage, response: ServerResponse): boolean => {
    if (request.method !== 'POST' || request.url !== path) return false
    const startedAt = performance.now()
    const authorization = request.headers.authorization ?? ''
    const session = authorization.startsWith('Bearer ')
      ? verifySession(authorization.slice(7), clock.now() / 1000)
      : null
    if (session === null) {
      fail(request, response, new AppError('agent_session_expired'))
      return true
    }
    try {
      credentialSeen(request.socket, machineOwner(session.agentId))
    } catch (error) {
      fail(request, response, error)
      return true
    }
    if (Number(request.headers['content-length'] ?? 0) > agentLimits.bodyBytes) {
      fail(request, response, new AppError('payload_too_large', { limit: agentLimits.bodyBytes }))
      return true
    }
    try {
      quota.enter(session.agentId, Number(request.headers['content-length'] ?? agentLimits.bodyBytes))
    } catch (error) {
      fail(request, response, error)
      return true
    }
    const chunks: Buffer[] = []
    let size = 0
    let refused = false
    let taken = false
    function refuse(error: unknown): void {
      refused = true
      chunks.length = 0
      fail(request, response, error)
    }
    request.on('data', (chunk: Buffer) => {
      if (refused) return
      size += chunk.length
      chunks.push(chunk)
      try {
        quota.hold(chunk.length)
        if (size > agentLimits.bodyBytes) throw new AppError('payload_too_large', { limit: agentLimits.bodyBytes })
      } catch (error) {
        refuse(error)
      }
    })
    request.on('error', () => {})
    // An accepted body occupies memory until it is answered, even if its sender has disconnected.
    request.on('close', () => {
      if (!taken) quota.leave(session.agentId, size)
    })
    request.on('end', () => {
      if (refused) return
      taken = true
      const [only, ...others] = chunks
      handle(session, only !== undefined && others.length === 0 ? only : Buffer.concat(chunks), {
        ageMs: ageOf(request),
        address: addressOf(request),
      })
        .then(
          (outcome) => {
            respond(response, outcome)
            duration.observe((performance.now() - startedAt) / 1000)
          },
          (error) => fail(request, response, error),
        )
        .finally(() => quota.leave(session.agentId, size))
    })
    return true
  }
}
