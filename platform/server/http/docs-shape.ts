import type { JsonSchema } from './openapi-schema.ts'

const refName = (schema: JsonSchema): string | null =>
  typeof schema.$ref === 'string' ? (schema.$ref.split('/').at(-1) ?? null) : null

const oneLine = (schema: JsonSchema): string | null => {
  const name = refName(schema)
  if (name !== null) return name
  if (schema.const !== undefined) return JSON.stringify(schema.const)
  if (schema.enum !== undefined) return schema.enum.map((value) => JSON.stringify(value)).join(' | ')
  if (schema.anyOf !== undefined) {
    const parts = schema.anyOf.map(oneLine)
    return parts.every((part) => part !== null) ? parts.join(' | ') : null
  }
  if (schema.type === 'array') {
    const item = oneLine(schema.items ?? {})
    return item === null ? null : / \| /.test(item) ? `(${item})[]` : `${item}[]`
  }
  if (schema.type === 'object') return Object.keys(schema.properties ?? {}).length === 0 ? 'object' : null
  return schema.type ?? 'any'
}

const bounds = (schema: JsonSchema): string => {
  const textOf = (limit: unknown) => (typeof limit === 'number' ? limit.toLocaleString('en') : undefined)
  const range = (least: unknown, most: unknown, unit: string) => {
    const [from, to] = [textOf(least), textOf(most)]
    if (from === undefined && to === undefined) return []
    const limits = from === undefined ? `At most ${to}` : to === undefined ? `At least ${from}` : `${from} to ${to}`
    return [`${limits}${unit}.`]
  }
  return [
    ...range(schema.minLength, schema.maxLength, ' characters'),
    // A minimum of 0 is usual for counts.
    ...range(schema.minimum === 0 && schema.maximum === undefined ? undefined : schema.minimum, schema.maximum, ''),
    ...range(schema.minItems, schema.maxItems, ' items'),
    ...(schema.default === undefined ? [] : [`Default: ${JSON.stringify(schema.default)}.`]),
  ].join(' ')
}

/** Returns the description and limits of a field, for the comment next to it. */
export const notesOf = (schema: JsonSchema): string =>
  [schema.description ?? '', bounds(schema)].filter((text) => text !== '').join(' ')

/** Formats a shape like a TypeScript type: one field per line, references by name, descriptions as comments. */
export const shapeText = (schema: JsonSchema, indent = ''): string => {
  const line = oneLine(schema)
  if (line !== null) return line
  if (schema.anyOf !== undefined) return schema.anyOf.map((one) => shapeText(one, indent)).join(' | ')
  if (schema.type === 'array') return `${shapeText(schema.items ?? {}, indent)}[]`
  const inner = `${indent}  `
  const members = Object.entries(schema.properties ?? {}).map(([name, member]) => {
    const optional = (schema.required ?? []).includes(name) ? '' : '?'
    const notes = notesOf(member)
    return `${inner}${name}${optional}: ${shapeText(member, inner)}${notes === '' ? '' : `  // ${notes}`}`
  })
  return `{\n${members.join('\n')}\n${indent}}`
}
