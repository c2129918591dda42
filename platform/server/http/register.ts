import { Readable } from 'node:stream'
import type { FastifyInstance, FastifyReply, FastifyRequest } from 'fastify'
import type { AnyOperation } from '../../contract/operation.ts'
import { permissionTable } from '../../contract/permissions.ts'
import { countedBody, createHeldBytes, smallBody } from '../limiters/held-bytes.ts'
import { createTurns } from '../limiters/turns.ts'
import type { Authorise } from './authorise.ts'
import { type BodyShape, jsonLimitOf } from './body-bounds.ts'
import { isRawEncoding } from './gunzip.ts'
import { createHeavyWork, heavyKindOf } from './heavy-work.ts'
import { type Authenticator, assertAuthenticator, bodyLimitOf } from './machine.ts'
import { unsupportedMediaType } from './media-type.ts'
import { assertOrigin } from './origin.ts'
import { isHead, type OurRequest } from './our-request.ts'
import type { PathMethods } from './path-methods.ts'
import { bodyReader, largeBody } from './read-body.ts'
import { paramsReader, queryReader } from './read-query.ts'
import { uploadLimit } from './request-hooks.ts'
import type { RequestSpans } from './request-span.ts'
import type { SendAnswer } from './send-answer.ts'
import { choosesRows, slowFailure } from './too-slow.ts'

/** Maximum total size of all bodies being received, separate for machines. Small bodies are not counted and always accepted. */
const machinesHeld = 64 * 1024 * 1024
const knownHeld = 128 * 1024 * 1024

/** Turns of large bodies: one is read at a time, and accounts take turns. */
const bodyTurns = { atOnce: 1, perAccount: 1, waiting: 20, waitMs: 20_000, retryAfter: 5 } as const

/** Returns whether a body has one of these types, in UTF-8. A request without a body has no type. */
const isRawType = (types: readonly string[], contentType = ''): boolean => {
  const [type = '', ...parameters] = contentType.split(';').map((part) => part.trim().toLowerCase())
  const isUtf8 = parameters.every((one) => !one.startsWith('charset') || /^charset="?utf-8"?$/.test(one))
  return contentType === '' || (types.includes(type) && isUtf8)
}

/** Returns whether anybody may call the operation, so that even refusals must be cheap. */
const isAnonymous = ({ permission }: AnyOperation): boolean => permission === 'public' || permission === 'agent'

export interface RegisterDeps {
  authorise: Authorise
  spans: RequestSpans
  sendAnswer: SendAnswer
  methods: PathMethods
  allowedOrigins(): readonly string[]
}

/** Turns operations into routes: credential, body, query and path, handler, response, in this order. */
export const createRegister = (
  fastify: FastifyInstance,
  { authorise, spans, sendAnswer, methods, allowedOrigins }: RegisterDeps,
) => {
  const operations: AnyOperation[] = []
  const heavyWork = createHeavyWork()
  const turns = createTurns(bodyTurns)
  const [machines, people] = [createHeldBytes(machinesHeld), createHeldBytes(knownHeld)]
  const counted = (operation: AnyOperation, body: Readable, { headers }: FastifyRequest, reply: FastifyReply) =>
    headers['transfer-encoding'] === undefined && Number(headers['content-length'] ?? 0) <= smallBody
      ? body
      : countedBody(isAnonymous(operation) ? machines : people, body, reply.raw)

  function add(
    known: AnyOperation,
    authenticator: Authenticator<unknown> | undefined,
    handler: (call: never) => Promise<unknown>,
  ): void {
    if (
      known.permission !== 'public' &&
      known.permission !== 'agent' &&
      !Object.hasOwn(permissionTable, known.permission ?? '')
    )
      throw new Error(`${known.method} ${known.path} has no known permission: refusing to start`)
    assertAuthenticator(known, authenticator)
    const url = known.path.replace(/\{(\w+)\}/g, ':$1')
    const readParams = paramsReader(known.params)
    const readQuery = queryReader(known.query)
    const readBody = bodyReader(known.body, known.bodyOptional === true)
    const isRaw = known.rawTypes !== undefined
    const readsBody = known.method !== 'GET' && known.upload !== true && known.streamType === undefined && !isRaw
    const isEndless = known.responseKind === 'stream'
    const isChoosing = choosesRows(known)
    async function bodyOf(request: FastifyRequest, reply: FastifyReply): Promise<unknown> {
      const bytes = request.body as Buffer | undefined
      const source = { contentType: request.headers['content-type'], bytes }
      if (bytes === undefined || bytes.length <= largeBody) return readBody(source)
      const { accountId, userName } = (request as OurRequest).portcullisActor
      const leave = await turns.enter(accountId ?? userName, reply.raw)
      return readBody(source).finally(leave)
    }
    async function answerOf(request: FastifyRequest, reply: FastifyReply): Promise<unknown> {
      const url = request.raw.url ?? ''
      const at = url.indexOf('?')
      // The multipart parser consumes such a body, so it would look empty here.
      if (readsBody && /^multipart\//i.test(request.headers['content-type'] ?? '')) throw unsupportedMediaType('json')
      if (known.streamType !== undefined && !(request.body instanceof Readable)) throw unsupportedMediaType('gzip')
      // Before the query, so that a wrong media type is reported before a wrong parameter.
      const body = readsBody ? await bodyOf(request, reply) : null
      const query = readQuery(at < 0 ? '' : url.slice(at + 1))
      // Last, so that only a valid request learns whether an object exists.
      const params = readParams(request.params as Record<string, string>)
      const { portcullisActor: actor, machine } = request as OurRequest
      if (isEndless && isHead(request)) return null
      const call = { actor, machine, params, query, body, request, reply }
      const work = async () => {
        try {
          return await spans.inSpan(request, () => handler(call as never))
        } catch (error) {
          throw isChoosing ? slowFailure(error, query, body) : error
        }
      }
      const heavy = known.heavy === undefined ? heavyKindOf(query, body) : undefined
      return heavy === undefined ? work() : heavyWork(heavy, actor, reply.raw, work)
    }
    operations.push(known)
    // No HEAD for a redirect of a sign-in, which uses up its parameters.
    const taken = known.method === 'GET' && known.responseKind !== 'redirect' ? ['GET', 'HEAD'] : [known.method]
    methods.add(url, taken)
    fastify.route({
      method: taken,
      url,
      bodyLimit: isAnonymous(known)
        ? bodyLimitOf(known, authenticator)
        : (known.bodyLimit ??
          (known.upload === true
            ? (known.uploadLimit ?? uploadLimit)
            : jsonLimitOf(known.body as BodyShape | undefined))),
      config: { operation: known },
      onRequest: async (request) => {
        assertOrigin(request, allowedOrigins())
        const ours = request as OurRequest
        ours.portcullisActor = await spans.inSpan(request, () => authorise(known, request))
        ours.machine = await spans.inSpan(request, async () => authenticator?.check(request))
        const encoding = request.headers['content-encoding']
        if (readsBody && encoding !== undefined && !/^\s*(?:identity\s*)?$/i.test(encoding))
          throw unsupportedMediaType('plain')
        const type = request.headers['content-type']?.split(';')[0]?.trim().toLowerCase()
        if (known.streamType !== undefined && type !== known.streamType) throw unsupportedMediaType('gzip')
        if (known.rawTypes !== undefined && !isRawType(known.rawTypes, request.headers['content-type']))
          throw unsupportedMediaType('lines')
        if (isRaw && !isRawEncoding(request.headers['content-encoding'])) throw unsupportedMediaType('lines')
        ours.isKnown =
          authenticator === undefined ? ours.portcullisActor.kind !== 'system' : authenticator.credential === 'header'
      },
      preParsing: async (request, reply, body) =>
        readsBody || isRaw ? counted(known, body as Readable, request as FastifyRequest, reply) : body,
      handler: async (request, reply) => {
        const { portcullisActor: actor } = request as OurRequest
        const work = () => answerOf(request, reply)
        // Includes reading the body: one with 1,000 rules takes a while.
        const answer = await (known.heavy === undefined ? work() : heavyWork(known.heavy, actor, reply.raw, work))
        return isEndless && isHead(request) ? reply.send() : sendAnswer(known, request, reply, answer)
      },
    })
  }

  return { add, seal: () => methods.addOverlapping(fastify), operations }
}
