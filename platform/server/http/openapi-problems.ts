import { mustExist } from '@portcullis/domain'
import { type ErrorCode, errorTable } from '../../contract/errors.ts'
import type { AnyOperation } from '../../contract/operation.ts'
import { problemDetail } from '../../contract/problem.ts'
import { type BodyShape, jsonLimitOf } from './body-bounds.ts'
import { freshChallenge } from './fresh.ts'
import { bodyForms } from './media-type.ts'
import type { JsonSchema } from './openapi-schema.ts'
import type { OpenApiResponse } from './openapi-types.ts'
import { largeBody } from './read-body.ts'
import { choosesRows } from './too-slow.ts'

/** Statuses that clients of `plainErrors` operations recognise as errors. */
const plainStatuses: readonly number[] = [400, 401, 403]

/** Returns the sentence about the operations that send plain text unless the client asks for JSON. */
export const plainErrorsText = (operations: readonly AnyOperation[]): string => {
  const names = operations
    .filter(({ plainErrors }) => plainErrors === true)
    .map(({ method, path }) => `\`${method} ${path}\``)
  return `The following operations send only the detail unless \`Accept\` names JSON: ${names.toSorted().join(', ')}.`
}

/** Returns the status of an error code for an operation. */
export const statusOf = (code: ErrorCode, operation: AnyOperation): number => {
  const { status } = errorTable[code]
  return operation.plainErrors === true && status < 500 && !plainStatuses.includes(status) ? 400 : status
}

/** Returns all error codes of an operation: its own codes, and those that follow from its form. */
export const problemsOf = (operation: AnyOperation): ErrorCode[] => {
  const codes = new Set<ErrorCode>(['validation_failed', 'internal_error', 'unavailable', ...(operation.errors ?? [])])
  if (operation.permission !== 'public' && operation.permission !== 'agent')
    for (const code of [
      'unauthorized',
      'too_many_connections',
      'forbidden',
      'scope_missing',
      'password_change_required',
      'second_factor_required',
    ] as const)
      codes.add(code)
  if (operation.permission === 'agent') codes.add('too_many_connections')
  if (operation.method !== 'GET')
    for (const code of ['origin_refused', 'payload_too_large', 'unsupported_media_type'] as const) codes.add(code)
  // Filing a change request needs fresh authentication as well.
  if (operation.fresh !== undefined || operation.errors?.includes('second_person_required') === true)
    for (const code of ['reauthentication_required', 'session_required'] as const) codes.add(code)
  if (operation.errors?.includes('second_person_required') === true)
    codes.add('approval_queue_full').add('change_not_shown')
  const body = operation.body as BodyShape | undefined
  const query = operation.query?.properties ?? {}
  const hasLargeBody = body !== undefined && (operation.bodyLimit ?? jsonLimitOf(body)) > largeBody
  const isSometimesHeavy = [query.PageSize, query.dryRun, body?.properties?.dryRun].some((one) => one !== undefined)
  if (hasLargeBody || operation.heavy !== undefined || isSometimesHeavy) codes.add('too_many_requests')
  if (operation.path.includes('{')) codes.add('not_found')
  if (choosesRows(operation)) codes.add('query_too_slow').add('too_many_requests')
  return (Object.keys(errorTable) as ErrorCode[]).filter((code) => codes.has(code))
}

const exampleParams = {
  detail: 'query.pageSize must be at least 1.',
  profile: 'Manager',
  scope: 'fleet:write',
  allow: 'GET',
  limit: 8_388_608,
  seconds: 30,
  until: '2031-05-05 10:11 UTC',
  expected: bodyForms.json as string,
}

const problemExample = (code: ErrorCode, status: number, params = exampleParams) => ({
  type: `/docs/errors#${code}`,
  title: errorTable[code].title,
  status,
  detail: problemDetail(code, params),
  instance: '/prime/webui/agents',
  code,
  errors: code === 'validation_failed' ? [{ field: 'query.pageSize', message: 'must be at least 1' }] : [],
  traceId: '5f1c9e0b7a3d24685f1c9e0b7a3d2468',
})

/** Schema of all error responses. */
export const problemSchema: JsonSchema = {
  type: 'object',
  description: 'Problem details (RFC 9457). Switch on `code`, because the texts may change.',
  properties: {
    type: { type: 'string', format: 'uri-reference', description: 'Address of the description of the error.' },
    title: { type: 'string' },
    status: { type: 'integer' },
    detail: {
      type: 'string',
      description: 'Description of the error. With `Accept: text/plain`, the response contains only this text.',
    },
    instance: { type: 'string', description: 'Path of the request.' },
    code: { type: 'string', enum: Object.keys(errorTable) },
    errors: {
      type: 'array',
      items: {
        type: 'object',
        properties: { field: { type: 'string' }, message: { type: 'string' } },
        required: ['field', 'message'],
      },
    },
    requestId: {
      type: 'string',
      description: 'With `second_person_required`: ID of the change request that waits for a second approver.',
    },
    traceId: {
      type: 'string',
      description:
        'ID of the request in the server log and of its trace. If the request has a `traceparent` header, the ID is from there.',
    },
  },
  required: ['type', 'title', 'status', 'detail', 'instance', 'code', 'errors', 'traceId'],
}

/** Describes a response header. */
export const header = (description: string, type: string) => ({ description, schema: { type } })

const challengeText = (codes: readonly ErrorCode[]): string =>
  codes.includes('reauthentication_required')
    ? `\`Bearer\`. With \`reauthentication_required\`: \`${freshChallenge}\` (RFC 9470).`
    : '`Bearer`.'

/** Describes the response with a status and its error codes. `form` is the form of the request body. */
export const problemResponse = (
  status: number,
  codes: readonly ErrorCode[],
  form: keyof typeof bodyForms = 'json',
): OpenApiResponse => {
  const example = (code: ErrorCode) => problemExample(code, status, { ...exampleParams, expected: bodyForms[form] })
  return {
    description: codes.map((code) => `\`${code}\`: ${errorTable[code].title}.`).join(' '),
    ...(status === 401 ? { headers: { 'WWW-Authenticate': header(challengeText(codes), 'string') } } : {}),
    ...(status === 429 || status === 503 ? { headers: { 'Retry-After': header('Seconds to wait.', 'integer') } } : {}),
    content: {
      'application/problem+json': {
        schema: { $ref: '#/components/schemas/Problem' },
        examples: Object.fromEntries(codes.map((code) => [code, { value: example(code) }])),
      },
      'text/plain': { schema: { type: 'string' }, example: example(mustExist(codes[0], 'an error code')).detail },
    },
  }
}
