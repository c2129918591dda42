import type { JsonSchema } from './openapi-schema.ts'

/** The parts of an OpenAPI document that the reference pages read. */
export interface OpenApiDocument {
  openapi: '3.1.0'
  info: { title: string; version: string; description: string; license: object }
  servers: object[]
  security: object[]
  tags: { name: string; description: string }[]
  paths: Record<string, Record<string, OpenApiOperation>>
  components: {
    securitySchemes: object
    schemas: Record<string, JsonSchema>
    responses: Record<string, OpenApiResponse>
  }
}

export interface OpenApiParameter {
  name: string
  in: 'path' | 'query'
  required: boolean
  description?: string
  schema: JsonSchema
}

export interface OpenApiResponse {
  description: string
  headers?: Record<string, object>
  content?: Record<string, { schema: JsonSchema; example?: unknown; examples?: Record<string, { value: unknown }> }>
}

export interface OpenApiOperation {
  operationId: string
  deprecated?: boolean
  tags: string[]
  summary: string
  description?: string
  security?: object[]
  parameters?: OpenApiParameter[]
  requestBody?: { required: boolean; content: Record<string, { schema: JsonSchema; example?: unknown }> }
  responses: Record<string, OpenApiResponse | { $ref: string }>
}
