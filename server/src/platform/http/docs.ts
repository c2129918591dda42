import { agentCheckIn, getDocs, getErrorDocs, getOpenApi } from '@portcullis/contract'
import type { FastifyReply } from 'fastify'
import { answered, JsonText } from './answer.ts'
import { docsPolicy, errorsPage, operationsPage } from './docs-page.ts'
import type { HttpApp } from './http-app.ts'
import { openApiDocument } from './openapi.ts'

/**
 * `/openapi.json`, `/docs` and `/docs/errors`, for anyone. They are formed at the first request, from all operations that
 * have registered by then.
 */
export const registerDocs = (app: HttpApp, version: string): void => {
  function once<T>(make: () => T): () => T {
    let made: { value: T } | undefined
    return () => {
      made ??= { value: make() }
      return made.value
    }
  }
  const document = once(() => openApiDocument([...app.operations, agentCheckIn], version))
  // As bytes: a megabyte of text is encoded in 8 ms, and anybody may ask for it as often as he likes.
  const documentText = once(() => Buffer.from(JSON.stringify(document())))
  const operations = once(() => Buffer.from(operationsPage(document())))
  const errors = once(() => Buffer.from(errorsPage()))

  async function html(reply: FastifyReply, text: Buffer): Promise<typeof answered> {
    await reply.header('content-security-policy', docsPolicy).type('text/html; charset=utf-8').send(text)
    return answered
  }
  app.register(getOpenApi, async () => new JsonText(documentText()))
  app.register(getDocs, ({ reply }) => html(reply, operations()))
  app.register(getErrorDocs, ({ reply }) => html(reply, errors()))
}
