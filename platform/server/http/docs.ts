import type { FastifyReply } from 'fastify'
import { agentCheckIn, getDocs, getErrorDocs, getOpenApi } from '../../contract/reference.ts'
import { answered, JsonText } from './answer.ts'
import { docsPolicy, errorsPage, operationsPage } from './docs-page.ts'
import type { HttpApp } from './http-app.ts'
import { openApiDocument, operationsOf } from './openapi.ts'
import type { Contract } from './openapi-schema.ts'

/**
 * Serves `/openapi.json`, `/docs` and `/docs/errors` to anyone. They are built at the first request, from all
 * operations registered by then.
 */
export const registerDocs = (app: HttpApp, version: string, contract: Contract): void => {
  function once<T>(make: () => T): () => T {
    let made: { value: T } | undefined
    return () => {
      made ??= { value: make() }
      return made.value
    }
  }
  const document = once(() => openApiDocument([...app.operations, agentCheckIn], version, contract))
  // As bytes, because encoding a megabyte of text takes 8 ms and anyone may request it often.
  const documentText = once(() => Buffer.from(JSON.stringify(document())))
  const operations = once(() => Buffer.from(operationsPage(document())))
  const errors = once(() => Buffer.from(errorsPage(operationsOf(contract))))

  async function html(reply: FastifyReply, text: Buffer): Promise<typeof answered> {
    await reply.header('content-security-policy', docsPolicy).type('text/html; charset=utf-8').send(text)
    return answered
  }
  app.register(getOpenApi, async () => new JsonText(documentText()))
  app.register(getDocs, ({ reply }) => html(reply, operations()))
  app.register(getErrorDocs, ({ reply }) => html(reply, errors()))
}
