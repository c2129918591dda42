/** The pages of docs/reference/api/: one for each group of operations, and one for the shapes that several groups use. */

import * as contract from '@portcullis/features/contract.ts'
import { notesOf, shapeText } from '../platform/server/http/docs-shape.ts'
import { openApiDocument, operationsOf } from '../platform/server/http/openapi.ts'
import type { JsonSchema } from '../platform/server/http/openapi-schema.ts'
import type { OpenApiDocument, OpenApiOperation, OpenApiResponse } from '../platform/server/http/openapi-types.ts'

export const generated = '<!-- Generated from the contract by npm run build. -->'

/** Escapes text for a cell of a Markdown table. */
export const cell = (text: string): string => text.replaceAll('|', '\\|').replaceAll('\n', ' ')

const contentText = (content: OpenApiResponse['content']): string => {
  const [type, body] = Object.entries(content ?? {})[0] ?? []
  if (type === undefined || body === undefined) return ''
  return `\`${type}\`, ${`\`${shapeText(body.schema)}\``}`
}

const operationText = (
  document: OpenApiDocument,
  { method, path, operation }: { method: string; path: string; operation: OpenApiOperation },
): string => {
  const { '200': success, '302': redirect, default: _, ...problems } = operation.responses
  const parameters = (operation.parameters ?? []).map(
    ({ name, in: place, required, schema, description }) =>
      `| \`${name}\`${required ? ' (required)' : ''} | ${place} | \`${cell(shapeText(schema))}\` | ${cell(notesOf({ ...schema, description: description ?? '' }))} |`,
  )
  const codes = Object.entries(problems).map(([status, response]) => {
    const name = '$ref' in response ? (response.$ref.split('/').at(-1) as string) : ''
    const known = Object.keys(
      document.components.responses[name]?.content?.['application/problem+json']?.examples ?? {},
    )
    return `${status} ${known.map((code) => `[${code}](../errors.md#${code})`).join(', ')}`
  })
  return [
    `## ${method.toUpperCase()} ${path}`,
    operation.summary,
    operation.description ?? '',
    parameters.length === 0
      ? ''
      : `| Parameter | In | Type | Description |\n| --- | --- | --- | --- |\n${parameters.join('\n')}`,
    operation.requestBody === undefined
      ? ''
      : `Body${operation.requestBody.required ? '' : ' (optional)'}: ${contentText(operation.requestBody.content)}`,
    redirect === undefined
      ? `Response: ${contentText((success as OpenApiResponse).content)}`
      : 'Response: 302, a redirect for browsers',
    `Errors: ${codes.join('; ')}`,
  ]
    .filter((part) => part !== '')
    .join('\n\n')
}

const pageOf = (group: string): string => `${group.toLowerCase().replaceAll(/[^a-z0-9]+/g, '-')}.md`

/** Returns the names of the shapes that `value` contains, also through other shapes. */
const shapesIn = (document: OpenApiDocument, value: unknown): ReadonlySet<string> => {
  const found = new Set<string>()
  const visit = (one: unknown): void => {
    for (const [, name = ''] of JSON.stringify(one).matchAll(/"#\/components\/schemas\/([^"]+)"/g)) {
      if (found.has(name)) continue
      found.add(name)
      visit(document.components.schemas[name])
    }
  }
  visit(value)
  return found
}

const shapesText = (document: OpenApiDocument, names: readonly string[]): string =>
  names
    .map((name) => `### ${name}\n\n\`\`\`ts\n${shapeText(document.components.schemas[name] as JsonSchema)}\n\`\`\``)
    .join('\n\n')

/** Returns the pages by their path below docs/reference. A shape is on the page of its group, or on shapes.md. */
export const apiFiles = (): Readonly<Record<string, string>> => {
  const document = openApiDocument(operationsOf(contract), '', contract)
  const operations = Object.entries(document.paths).flatMap(([path, methods]) =>
    Object.entries(methods).map(([method, operation]) => ({ path, method, operation })),
  )
  const groups = document.tags.map(({ name, description }) => {
    const own = operations.filter(({ operation }) => operation.tags.includes(name))
    return { name, description, own, shapes: shapesIn(document, own) }
  })
  const isShared = (shape: string) => groups.filter(({ shapes }) => shapes.has(shape)).length !== 1
  const names = Object.keys(document.components.schemas)
  const page = (title: string, ...parts: readonly string[]) =>
    `${[generated, `# ${title}`, '[All operations](README.md) · [Errors](../errors.md)', ...parts.filter((part) => part !== '')].join('\n\n')}\n`
  return {
    'api/README.md': `${generated}\n\n# Operations\n\n${document.info.description}\n\n| Group | Operations | |\n| --- | --- | --- |\n${groups
      .map(({ name, description, own }) => `| [${name}](${pageOf(name)}) | ${own.length} | ${cell(description)} |`)
      .join('\n')}\n\nShapes that several groups use: [Shapes](shapes.md).\n`,
    ...Object.fromEntries(
      groups.map(({ name, description, own, shapes }) => {
        const listed = names.filter((shape) => shapes.has(shape) && !isShared(shape))
        const texts = own.map((operation) => operationText(document, operation))
        const rest = [...shapes].some(isShared) ? 'Other shapes: [Shapes](shapes.md).' : ''
        return [
          `api/${pageOf(name)}`,
          page(
            name,
            description,
            ...texts,
            ...(listed.length === 0 ? [] : ['## Shapes', shapesText(document, listed)]),
            rest,
          ),
        ]
      }),
    ),
    'api/shapes.md': page('Shapes', shapesText(document, names.filter(isShared))),
  }
}
