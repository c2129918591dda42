import { Readable } from 'node:stream'
import type { FastifyReply, FastifyRequest } from 'fastify'
import type { AnyOperation } from '../../contract/operation.ts'
import type { Log } from '../log.ts'
import { jsonMediaType } from './accept.ts'
import { answered, contentDisposition, FileAnswer, JsonStream, JsonText, WithHeaders } from './answer.ts'
import { answerChecks } from './check-answers.ts'
import { isHead } from './our-request.ts'

/** Returns what HEAD sends instead of the body: its length if it is known, nothing for a streamed body. */
const withoutBody = <T>(content: T | Readable): T | undefined => {
  if (!(content instanceof Readable)) return content
  content.on('error', () => {}).destroy()
  return undefined
}
/** Sends the result of a handler. `validate` checks every JSON response against the contract. */
export const createSendAnswer = (log: Log, validate: boolean) => {
  const checks = validate ? answerChecks() : null
  return function sendAnswer(
    operation: AnyOperation,
    request: FastifyRequest,
    reply: FastifyReply,
    given: unknown,
  ): unknown {
    let answer = given
    if (answer instanceof WithHeaders) {
      reply.headers(answer.headers)
      answer = answer.value
    }
    if (answer === answered) return reply
    if (answer instanceof FileAnswer) {
      reply.type(answer.mediaType).header('content-disposition', contentDisposition(answer.fileName))
      return reply.send(isHead(request) ? withoutBody(answer.content) : answer.content)
    }
    reply.type(`${jsonMediaType(request.headers.accept)}; charset=utf-8`).serializer(String)
    if (answer instanceof JsonStream)
      return reply.send(
        isHead(request)
          ? withoutBody(answer.stream)
          : checks === null
            ? answer.stream
            : checks.checkStream(operation, answer.stream, (err) =>
                log.error({ traceId: request.id, err }, 'request failed'),
              ),
      )
    const text = answer instanceof JsonText ? answer.text : JSON.stringify(answer)
    checks?.check(operation, String(text))
    return reply.send(text)
  }
}

export type SendAnswer = ReturnType<typeof createSendAnswer>
