import { agentCheckIn, getDocs, getErrorDocs, getOpenApi } from '@portcullis/contract'
import type { FastifyReply } from 'fastify'
import { answered, JsonText } from './answer.ts'
import { docsPolicy, errorsPage, operationsPage } from './docs-page.ts'
import type { HttpApp } from './http-app.ts'
import { openApiDocument } from './openapi.ts'

/**
 * Serves `/openapi.json`, `/docs` and `/docs/errors` to anyone. They are built at the first request, from all
 * operations registered by then.
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
  // As bytes, because encoding a megabyte of text takes 8 ms and anyone may request it often.
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
