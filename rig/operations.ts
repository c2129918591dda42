/** What the running server says of itself (`/openapi.json`), and what the contract of this checkout says it has to be. */
import * as contract from '@portcullis/contract'
import { type AnyOperation, type Permission, permissionTable, type UserProfile } from '@portcullis/contract'
import type { Environment } from './environment.ts'
import { writtenPermissions } from './permissions.ts'
import { jsonOf } from './wire.ts'

/** A JSON Schema as the document has it. */
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

/** One operation as the server describes it. */
export interface Offered {
  id: string
  method: string
  path: string
  described: Described
  /** A body that the document gives as an example; undefined: it takes none in JSON. */
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

/** Who an operation is for: people by their permission, hosts and workers by their session or key, who proves himself in the body. */
export type For = Permission | 'public' | 'agent' | 'worker' | 'proof'

/** Operations that only hosts and workers know: the contract has their shapes, the server their routes. */
const spoken: Readonly<Record<string, For>> = {
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

/** Who an operation is for, as written down apart from the contract; undefined: nobody ever said. */
export const audienceOf = (id: string): For | undefined => {
  if (Object.hasOwn(spoken, id)) return spoken[id]
  return Object.hasOwn(writtenPermissions, id) ? writtenPermissions[id] : undefined
}

/** The lowest profile that may call it. */
export const profileFor = (audience: Permission): UserProfile => permissionTable[audience]

/** A path with its parameters filled in. */
export const filled = (path: string, values: Readonly<Record<string, string>> = {}): string =>
  path.replace(/\{(\w+)\}/g, (_, name: string) => encodeURIComponent(values[name] ?? '0'))

export const unknownId = '01977f6e-0000-7c3e-8f2a-000000000000'

/** Follows references of the document. */
export const resolverOf =
  (document: OpenApi) =>
  (schema: Schema): Schema => {
    let found = schema
    for (let i = 0; found.$ref !== undefined && i < 10; i++)
      found = document.components.schemas[found.$ref.slice('#/components/schemas/'.length)] ?? {}
    return found
  }
