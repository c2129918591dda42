import type { ErrorCode } from '../../contract/errors.ts'
import type { AnyOperation } from '../../contract/operation.ts'
import { type Permission, permissionTable, profileNames } from '../../contract/permissions.ts'
import { operationGroups } from '../../contract/reference.ts'
import { header, problemResponse, problemSchema, problemsOf, statusOf } from './openapi-problems.ts'
import { type Contract, createComponents, exampleOf, type JsonSchema, plain } from './openapi-schema.ts'
import type { OpenApiDocument, OpenApiOperation, OpenApiParameter, OpenApiResponse } from './openapi-types.ts'

/** Media types of JSON request bodies. */
const bodyTypes = ['application/json', 'text/json', 'application/*+json', 'application/json-patch+json'] as const
/** Media types of JSON responses. The Accept header selects one. */
const answerTypes = ['application/json', 'text/json', 'text/plain'] as const

/** True if an agent calls the operation in a session. */
const isInSession = (operation: AnyOperation): boolean => operation.errors?.includes('agent_session_expired') === true
/** True if a worker process calls the operation with its key. */
const isByKey = (operation: AnyOperation): boolean =>
  operation.permission === 'agent' && operation.errors?.includes('unauthorized') === true

const audienceText = (operation: AnyOperation): string => {
  if (operation.permission === 'public') return 'Needs no token.'
  if (isByKey(operation)) return 'For the agentless worker. Needs the key of its process.'
  if (operation.permission === 'agent')
    return isInSession(operation)
      ? 'For agents. Needs the token of their session.'
      : 'For agents. Needs no token: the body contains the proof.'
  const profile = profileNames[permissionTable[operation.permission as Permission]]
  return `Needs the profile ${profile}${profile === 'Administrator' ? '' : ' or higher'}${operation.openOnLoopback === true ? ', except on loopback' : ''}. An API token needs the scope \`${operation.permission}\`.`
}

const replacedText = ({ replacedBy }: AnyOperation): string | undefined =>
  replacedBy === undefined ? undefined : `Deprecated. Use ${replacedBy}.`

/** Describes the freshness that an operation needs. */
const freshText = ({ fresh }: AnyOperation): string | undefined => {
  if (fresh === undefined) return undefined
  const when = fresh === true ? '' : ` if ${fresh}`
  return `Needs fresh authentication${when}: a password or second factor entered within the last five minutes (\`auth/reauthenticate\`). API tokens cannot call the operation${fresh === true ? '' : ' in this case'}.`
}

const securityOf = (operation: AnyOperation): object => {
  if (isInSession(operation)) return { security: [{ agentSession: [] }] }
  if (isByKey(operation)) return { security: [{ workerKey: [] }] }
  if (operation.permission === 'public' || operation.permission === 'agent') return { security: [] }
  return operation.openOnLoopback === true ? { security: [{ bearer: [] }, {}] } : {}
}

const compare = (a: string, b: string): number => (a < b ? -1 : a > b ? 1 : 0)
const byKey = <T>(map: Record<string, T>): Record<string, T> =>
  Object.fromEntries(Object.entries(map).sort(([a], [b]) => compare(a, b)))

/** Responses of an operation that redirects browsers. */
const redirected: Record<'302' | 'default', OpenApiResponse> = {
  '302': {
    description: 'A redirect for browsers.',
    headers: { Location: header('Address to which the browser is redirected.', 'string') },
  },
  default: {
    description: 'An error.',
    content: { 'application/problem+json': { schema: { $ref: '#/components/schemas/Problem' } } },
  },
}

const formOf = ({ upload, rawTypes, streamType }: AnyOperation) => {
  if (upload === true) return 'upload'
  if (rawTypes !== undefined) return 'lines'
  return streamType === undefined ? 'json' : 'gzip'
}

/** Builds the OpenAPI document of the given operations. `contract` names their shapes. */
export const openApiDocument = (
  operations: readonly AnyOperation[],
  version: string,
  contract: Contract,
): OpenApiDocument => {
  const components = createComponents(contract)
  components.schemas.Problem = problemSchema
  const responses: Record<string, OpenApiResponse> = {}

  const parametersOf = (operation: AnyOperation): OpenApiParameter[] =>
    (['path', 'query'] as const).flatMap((place) => {
      const schema = plain((place === 'path' ? operation.params : operation.query) ?? { properties: {} })
      return Object.entries(schema.properties ?? {}).map(([name, { description, ...rest }]) => ({
        name,
        in: place,
        required: place === 'path' || (schema.required ?? []).includes(name),
        ...(description === undefined ? {} : { description }),
        schema: rest,
      }))
    })

  function contentOf(types: readonly string[], name: string, schema: JsonSchema, example: unknown) {
    const shape = components.named(name, schema)
    return Object.fromEntries(types.map((type) => [type, { schema: shape, example }]))
  }

  const capital = (id: string) => id.charAt(0).toUpperCase() + id.slice(1)

  function requestBody(operation: AnyOperation): Pick<OpenApiOperation, 'requestBody'> {
    const file = { type: 'string', format: 'binary', description: 'At most 32 MiB.' }
    if (operation.upload === true)
      return {
        requestBody: {
          required: operation.bodyOptional !== true,
          content: {
            'multipart/form-data': {
              schema: {
                type: 'object',
                properties: {
                  file: operation.bodyOptional === true ? { anyOf: [file, { type: 'null' }] } : file,
                },
                ...(operation.bodyOptional === true ? {} : { required: ['file'] }),
              },
            },
          },
        },
      }
    if (operation.rawTypes !== undefined)
      return {
        requestBody: {
          required: true,
          content: Object.fromEntries(operation.rawTypes.map((type) => [type, { schema: { type: 'string' } }])),
        },
      }
    if (operation.streamType !== undefined)
      return {
        requestBody: {
          required: true,
          content: { [operation.streamType]: { schema: { type: 'string', format: 'binary' } } },
        },
      }
    if (operation.body === undefined) return {}
    const given = plain(operation.body)
    const example = operation.examples?.request ?? exampleOf(given)
    const isNullable = given.type === 'null' || given.anyOf?.some(({ type }) => type === 'null') === true
    // `null` is the same as an empty body.
    const schema = operation.bodyOptional === true && !isNullable ? { anyOf: [given, { type: 'null' }] } : given
    return {
      requestBody: {
        required: operation.bodyOptional !== true,
        content: contentOf(bodyTypes, `${capital(operation.id)}Body`, schema, example),
      },
    }
  }

  function success(operation: AnyOperation): OpenApiResponse {
    const schema = plain(operation.response)
    const text = (type: string, description: string, form: JsonSchema = {}): OpenApiResponse => ({
      description,
      content: { [type]: { schema: { type: 'string', ...form } } },
    })
    switch (operation.responseKind) {
      case 'file':
        return {
          description: 'The file.',
          content: Object.fromEntries(
            [operation.fileType ?? 'application/octet-stream']
              .flat()
              .map((type) => [type, { schema: { type: 'string', format: 'binary' } }]),
          ),
          headers: { 'Content-Disposition': header('`attachment` with the file name.', 'string') },
        }
      case 'stream': {
        const events = text('text/event-stream', 'Events, until the client closes the connection.')
        // A stream with a message schema is also available as one message per line.
        if (schema.type === 'string') return events
        const example = operation.examples?.response ?? exampleOf(schema)
        const lines = contentOf(['application/x-ndjson'], `${capital(operation.id)}Answer`, schema, example)
        return { ...events, content: { ...lines, ...events.content } }
      }
      case 'html':
        return text('text/html', 'A page.')
      case 'text':
        return text('text/plain', schema.description ?? 'Text.')
      default: {
        const example = operation.examples?.response ?? exampleOf(schema)
        return {
          description: 'Success.',
          content: contentOf(answerTypes, `${capital(operation.id)}Answer`, schema, example),
        }
      }
    }
  }

  function problems(operation: AnyOperation): OpenApiOperation['responses'] {
    const byStatus = new Map<number, ErrorCode[]>()
    for (const code of problemsOf(operation)) {
      const status = statusOf(code, operation)
      byStatus.set(status, [...(byStatus.get(status) ?? []), code])
    }
    return Object.fromEntries(
      [...byStatus]
        .sort(([a], [b]) => a - b)
        .map(([status, codes]) => {
          const form = formOf(operation)
          const name = `${status}-${codes.join('-')}${status === 415 && form !== 'json' ? `-${form}` : ''}`
          responses[name] ??= problemResponse(status, codes, form)
          return [String(status), { $ref: `#/components/responses/${name}` }]
        }),
    )
  }

  const paths: OpenApiDocument['paths'] = {}
  for (const operation of operations.toSorted((a, b) => compare(`${a.path} ${a.method}`, `${b.path} ${b.method}`))) {
    const parameters = parametersOf(operation)
    paths[operation.path] = {
      ...paths[operation.path],
      [operation.method.toLowerCase()]: {
        operationId: operation.id,
        tags: [operation.tag],
        summary: operation.summary,
        ...(operation.replacedBy === undefined ? {} : { deprecated: true }),
        description: [replacedText(operation), operation.description, audienceText(operation), freshText(operation)]
          .filter((text) => text !== undefined)
          .join('\n\n'),
        ...securityOf(operation),
        ...(parameters.length === 0 ? {} : { parameters }),
        ...requestBody(operation),
        responses: {
          ...(operation.responseKind === 'redirect' ? redirected : { '200': success(operation) }),
          ...problems(operation),
        },
      },
    }
  }

  const used = new Set(operations.map((operation) => operation.tag))
  // Sorted by name, because the order of module exports differs between runtimes.
  const others = [...used].filter((tag) => !Object.hasOwn(operationGroups, tag)).sort(compare)
  const ordered = [...Object.keys(operationGroups), ...others]
  return {
    openapi: '3.1.0',
    info: {
      title: 'Portcullis',
      version,
      description:
        'The HTTP interface of Portcullis. Paths, parameter names and body field names are case-insensitive. Unknown parameters and fields are refused, and the error names them. HEAD works wherever GET does, except for redirects. A successful call returns 200; errors are problem details (RFC 9457). Times without a time zone are UTC. The interface has fixed names for some terms: an agent is a host (with or without an agent), a peripheral is a USB device, a notice or risk notification is an alert, a whitelist is an allowlist, and `Free` means that a host only monitors.',
      license: { name: 'Apache-2.0', identifier: 'Apache-2.0' },
    },
    servers: [{ url: '/', description: 'This server.' }],
    security: [{ bearer: [] }],
    tags: ordered
      .filter((tag) => used.has(tag))
      .map((name) => ({ name, description: operationGroups[name] ?? `Operations of ${name}.` })),
    paths,
    components: {
      securitySchemes: {
        agentSession: { type: 'http', scheme: 'bearer', description: 'Token from /agent/v1/session.' },
        bearer: {
          type: 'http',
          scheme: 'bearer',
          description: 'Access token from Auth/LocalLogin or auth/signin, or an API token.',
        },
        workerKey: { type: 'http', scheme: 'bearer', description: 'Key from /worker/v1/register.' },
      },
      schemas: byKey(components.schemas),
      responses: byKey(responses),
    },
  }
}

const isOperation = (value: unknown): value is AnyOperation => {
  const operation = value as Partial<AnyOperation> | null
  return typeof operation === 'object' && typeof operation?.path === 'string' && operation.permission !== undefined
}

/** Returns the operations that the contract defines, for the reference files. */
export const operationsOf = (contract: Contract): AnyOperation[] =>
  Object.values<unknown>({ ...contract }).filter(isOperation)
