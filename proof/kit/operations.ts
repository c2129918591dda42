/**
 * Reads the operations that the running server describes (`/openapi.json`) and those that this checkout's contract
 * requires.
 */
import * as contract from '@portcullis/features/contract.ts'
import { type AnyOperation, type Permission, permissionTable, type UserProfile } from '@portcullis/features/contract.ts'
import type { Environment } from './environment.ts'
import { writtenPermissions } from './permissions.ts'
import { jsonOf } from './wire.ts'

/** A JSON Schema in the document. */
export interface Schema {
  [keyword: string]: unknown
  $ref?: string
  type?: string
  properties?: Record<string, Schema>
  items?: Schema
  anyOf?: Schema[]
  enum?: unknown[]
}

interface Media {
  schema?: Schema
  example?: unknown
}

interface Response {
  $ref?: string
  content?: Record<string, Media>
}

interface Described {
  operationId: string
  parameters?: { name: string; in: 'path' | 'query'; required: boolean; schema: Schema }[]
  requestBody?: { required: boolean; content: Record<string, Media> }
  responses: Record<string, Response>
}

export interface OpenApi {
  paths: Record<string, Record<string, Described>>
  components: { schemas: Record<string, Schema>; responses: Record<string, Response> }
}

/** An operation as the server describes it. */
export interface Offered {
  id: string
  method: string
  path: string
  described: Described
  /** Example body from the document; undefined if the operation takes no JSON body. */
  example: unknown
  isStream: boolean
  isUpload: boolean
}

export const readDocument = async ({ wire }: Pick<Environment, 'wire'>): Promise<OpenApi> => {
  const { text } = await wire.send({ method: 'GET', path: '/openapi.json' })
  return jsonOf(text) as OpenApi
}

export const offeredBy = (document: OpenApi): Offered[] =>
  Object.entries(document.paths).flatMap(([path, methods]) =>
    Object.entries(methods).map(([method, described]) => ({
      id: described.operationId,
      method: method.toUpperCase(),
      path,
      described,
      example: described.requestBody?.content['application/json']?.example,
      isStream: described.responses['200']?.content?.['text/event-stream'] !== undefined,
      isUpload: described.requestBody?.content['multipart/form-data'] !== undefined,
    })),
  )

const isOperation = (value: unknown): value is AnyOperation => {
  const operation = value as Partial<AnyOperation> | null
  return typeof operation === 'object' && typeof operation?.path === 'string' && operation.permission !== undefined
}

/** Operations of the contract by id. */
export const contractById: ReadonlyMap<string, AnyOperation> = new Map(
  Object.values(contract as Readonly<Record<string, unknown>>)
    .filter(isOperation)
    .map((operation) => [operation.id, operation]),
)

/** Audience of an operation: people by permission, hosts and workers by key, or a caller with a proof in the body. */
export type For = Permission | 'public' | 'agent' | 'worker' | 'proof'

/** Operations for hosts and workers only. The contract defines their shapes, the server their routes. */
const protocolAudience: Readonly<Record<string, For>> = {
  agentCheckIn: 'agent',
  agentDebugLogs: 'agent',
  agentDownload: 'public',
  agentEnrol: 'proof',
  agentInstallScript: 'public',
  agentKnowledge: 'agent',
  agentPackage: 'agent',
  agentPolicy: 'agent',
  agentSession: 'proof',
  workerLease: 'worker',
  workerRegister: 'proof',
  workerResults: 'worker',
}

/** Returns the audience of an operation, independently of the contract; undefined if the lists lack the operation. */
export const audienceOf = (id: string): For | undefined => {
  if (Object.hasOwn(protocolAudience, id)) return protocolAudience[id]
  return Object.hasOwn(writtenPermissions, id) ? writtenPermissions[id] : undefined
}

/** Returns the lowest profile that may call the operation. */
export const profileFor = (audience: Permission): UserProfile => permissionTable[audience]

/** Fills in the parameters of a path. */
export const filled = (path: string, values: Readonly<Record<string, string>> = {}): string =>
  path.replace(/\{(\w+)\}/g, (_, name: string) => encodeURIComponent(values[name] ?? '0'))

export const unknownId = '01977f6e-0000-7c3e-8f2a-000000000000'

/** Creates a function that resolves references in the document. */
export const resolverOf =
  (document: OpenApi) =>
  (schema: Schema): Schema => {
    let found = schema
    for (let i = 0; found.$ref !== undefined && i < 10; i++)
      found = document.components.schemas[found.$ref.slice('#/components/schemas/'.length)] ?? {}
    return found
  }
