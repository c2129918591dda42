// Invariant: Every error code is documented, and every documented code exists.

import * as contract from '@portcullis/features/contract.ts'
import {
  alertCatalogue,
  errorTable,
  eventCatalogue,
  subsystemCatalogue,
  subsystemNames,
} from '@portcullis/features/contract.ts'
import type { TSchema } from 'typebox'
import { Compile } from 'typebox/compile'
import { describe, expect, it } from 'vitest'
import { openApiDocument, operationsOf } from '../platform/server/http/openapi.ts'
import { exampleOf, type JsonSchema, plain } from '../platform/server/http/openapi-schema.ts'
import { referenceFiles } from './generate-reference.ts'

const operations = operationsOf(contract)

const pages = referenceFiles()

describe('the pages of operations', () => {
  it('describe each operation once, and each shape once', () => {
    const api = Object.entries(pages).filter(([name]) => name.startsWith('api/') && name !== 'api/README.md')
    const document = openApiDocument(operations, '', contract)
    expect(api.length).toBeGreaterThan(document.tags.length)
    const text = api.map(([, page]) => page).join('\n')
    const described = [...text.matchAll(/^## ([A-Z]+) (\/.+)$/gm)].map(([, method, path]) => `${method} ${path}`)
    expect(described.toSorted()).toEqual(operations.map(({ method, path }) => `${method} ${path}`).toSorted())
    const shapes = [...text.matchAll(/^### (.+)$/gm)].map(([, name]) => name)
    expect(shapes.toSorted()).toEqual(Object.keys(document.components.schemas).toSorted())
  })
})

describe('the pages of alerts, events and errors', () => {
  const headings = (name: string) => [...(pages[name] ?? '').matchAll(/^#{2,3} (.+)$/gm)].map((match) => match[1])

  it('list every alert, event and error', () => {
    expect(headings('events.md')).toEqual(expect.arrayContaining(Object.values(eventCatalogue).map(({ code }) => code)))
    expect(headings('alerts.md')).toEqual(
      expect.arrayContaining([...Object.values(alertCatalogue).map(({ title }) => title), ...subsystemNames]),
    )
    expect(headings('errors.md')).toEqual(expect.arrayContaining(Object.keys(errorTable)))
  })

  it('give meaning, cause and cure of each in whole sentences', () => {
    const errors = Object.entries(errorTable).map(([name, { title, cause, cure }]) => ({
      name,
      texts: [`${title}.`, cause, cure],
    }))
    const events = Object.values(eventCatalogue).map(({ code, guidance }) => [code, guidance] as const)
    const alerts = Object.entries({ ...alertCatalogue, ...subsystemCatalogue })
    const others = [...events, ...alerts].map(([name, one]) => ({
      name,
      texts: [one.meaning, one.cause, one.cure],
    }))
    expect(errors.length + others.length).toBeGreaterThan(100)
    for (const { name, texts } of [...errors, ...others])
      for (const text of texts) expect(text, name).toMatch(/^[\p{Lu}`\d].{7,}[.`)]$/su)
  })
})

describe('the OpenAPI document', () => {
  const document = openApiDocument(operations, '0.0.0', contract)

  it('has every operation once, with an id, a tag and its own problems', () => {
    const ids = Object.values(document.paths).flatMap((methods) => Object.values(methods).map((one) => one.operationId))
    expect(ids.toSorted()).toEqual(operations.map((operation) => operation.id).toSorted())
    for (const operation of operations) {
      const described = document.paths[operation.path]?.[operation.method.toLowerCase()]
      for (const code of operation.errors ?? [])
        expect(JSON.stringify(described?.responses), `${operation.id} ${code}`).toContain(code)
    }
  })

  it('contains no broken reference', () => {
    const text = JSON.stringify(document)
    for (const [, kind, name] of text.matchAll(/"#\/components\/(schemas|responses)\/([^"]+)"/g))
      expect(document.components[kind as 'schemas' | 'responses'], name).toHaveProperty([name as string])
  })

  it('has no component that refers only to itself', () => {
    for (const [name, schema] of Object.entries(document.components.schemas))
      for (const one of [schema, ...((schema as JsonSchema).anyOf ?? [])])
        expect((one as JsonSchema).$ref, name).not.toBe(`#/components/schemas/${name}`)
  })

  const bodies = operations.flatMap(({ id, body, response, responseKind, examples }) => [
    ...(body === undefined ? [] : [{ what: `${id} body`, schema: body as TSchema, given: examples?.request }]),
    ...(responseKind === undefined || responseKind === 'json' || responseKind === 'list'
      ? [{ what: `${id} answer`, schema: response as TSchema, given: examples?.response }]
      : []),
  ])
  // One test, because most examples come from the schema that validates them.
  it('has a valid example of every request body and response', () => {
    expect(bodies.length).toBeGreaterThan(200)
    const faults = bodies.flatMap(({ what, schema, given }) =>
      [...Compile(schema).Errors(given ?? exampleOf(plain(schema)))].map(
        ({ instancePath, message }) => `${what} ${instancePath} ${message}`,
      ),
    )
    expect(faults).toEqual([])
  })
})

describe('bodies of requests', () => {
  /** Returns the paths of objects that accept members that the schema does not name. */
  const openIn = (schema: JsonSchema, place: string): string[] => [
    ...(schema.type === 'object' && schema.additionalProperties !== false && schema.patternProperties === undefined
      ? [place]
      : []),
    ...Object.entries(schema.properties ?? {}).flatMap(([name, inner]) => openIn(inner, `${place}.${name}`)),
    ...(schema.items === undefined ? [] : openIn(schema.items, `${place}[]`)),
    ...(schema.anyOf ?? []).flatMap((inner) => openIn(inner, place)),
  ]

  it('reject unknown members, which could be stored otherwise', () => {
    const open = operations.flatMap(({ id, body }) => (body === undefined ? [] : openIn(plain(body), id)))
    // Clients of this call send every field that they know of a host.
    expect(open).toEqual(['agentsConfiguration[].agentConfigViewResource'])
  })
})
