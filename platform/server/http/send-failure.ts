import type { FastifyReply, FastifyRequest } from 'fastify'
import { AppError } from '../app-error.ts'
import type { Log } from '../log.ts'
import { wantsPlainProblem } from './accept.ts'
import { checkProblem } from './check-answers.ts'
import { logFailure } from './log-failure.ts'
import { operationOf } from './our-request.ts'
import { problemOf, toAppError } from './problem.ts'

/** Error statuses that clients of `plainErrors` operations understand; others become 400 with the same text. */
const plainStatuses = new Set([400, 401, 403])

/** Answers with a problem, in the format that the client accepts. `validate` checks its code against the contract. */
export const createSendFailure =
  (log: Log, validate: boolean) =>
  (error: unknown, request: FastifyRequest, reply: FastifyReply, plainByDefault: boolean): void => {
    const operation = operationOf(request)
    const given = toAppError(error, operation?.upload === true ? undefined : request.routeOptions.bodyLimit)
    const cause = validate ? checkProblem(operation, given) : given
    const failure =
      plainByDefault && cause.status < 500 && !plainStatuses.has(cause.status)
        ? new AppError('validation_failed', { detail: cause.message }, { errors: cause.errors, headers: cause.headers })
        : cause
    logFailure(log, failure, { traceId: request.id, route: request.routeOptions.url ?? 'none' })
    if (failure.status === 401) reply.header('www-authenticate', 'Bearer')
    for (const [name, value] of Object.entries(failure.headers)) reply.header(name, value)
    reply.status(failure.status)
    const problem = problemOf(failure, request.raw.url?.split('?')[0] ?? '', request.id)
    if (wantsPlainProblem(request.headers.accept, plainByDefault))
      reply.type('text/plain; charset=utf-8').send(problem.detail)
    else reply.type('application/problem+json; charset=utf-8').serializer(String).send(JSON.stringify(problem))
  }

export type SendFailure = ReturnType<typeof createSendFailure>
