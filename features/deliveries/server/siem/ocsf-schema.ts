import { isIP } from 'node:net'
import schema from './ocsf-1.7.0.json' with { type: 'json' }

/**
 * Validates events with the OCSF schema. `ocsf-1.7.0.json` contains the classes and objects in use, from
 * github.com/ocsf/ocsf-schema (Apache-2.0, release 1.7.0): requirement, type, enumeration values, and `@` with the profile.
 */

type Attributes = Readonly<Record<string, string>>
interface Shape {
  attributes: Attributes
  at_least_one?: readonly string[]
}
const classes = schema.classes as Record<
  string,
  Shape & { caption: string; category: string; category_uid: number; activities: Record<string, string> }
>
const objects = schema.objects as Record<string, Shape>

const isOf: Readonly<Record<string, (value: unknown) => boolean>> = {
  integer_t: Number.isSafeInteger,
  long_t: Number.isSafeInteger,
  timestamp_t: (value) => Number.isSafeInteger(value) && (value as number) >= 0,
  boolean_t: (value) => typeof value === 'boolean',
  string_t: (value) => typeof value === 'string' && value !== '',
  resource_uid_t: (value) => typeof value === 'string' && value !== '',
  hostname_t: (value) => typeof value === 'string' && /^[A-Za-z0-9.-]+$/.test(value),
  ip_t: (value) => typeof value === 'string' && isIP(value) !== 0,
  json_t: (value) => value !== null,
  object: (value) => typeof value === 'object' && value !== null,
}

const faultsOf = (
  value: Record<string, unknown>,
  { attributes, at_least_one = [] }: Shape,
  at: string,
  profiles: readonly string[],
): string[] => {
  const faults: string[] = []
  for (const [name, rule] of Object.entries(attributes))
    if (rule.startsWith('required ') && !rule.includes('@') && value[name] === undefined)
      faults.push(`${at}${name} is missing`)
  if (at_least_one.length > 0 && at_least_one.every((name) => value[name] === undefined))
    faults.push(`${at} needs at least one of ${at_least_one}`)
  for (const [name, given] of Object.entries(value)) {
    const rule = attributes[name]
    if (rule === undefined) {
      faults.push(`${at}${name} is not in the schema`)
      continue
    }
    const [, type = '', ...more] = rule.split(' ')
    const profile = more.find((part) => part.startsWith('@'))?.slice(1)
    if (profile !== undefined && !profiles.includes(profile)) faults.push(`${at}${name} needs the profile ${profile}`)
    const numbers = more.find((part) => /^\d/.test(part))?.split('|')
    const plain = type.replace('[]', '')
    const all = type.endsWith('[]') ? (Array.isArray(given) ? given : [undefined]) : [given]
    for (const one of all) {
      if (numbers !== undefined && !numbers.includes(String(one))) faults.push(`${at}${name} cannot be ${one}`)
      const shape = objects[plain]
      if (shape !== undefined)
        faults.push(...faultsOf(one as Record<string, unknown>, shape, `${at}${name}.`, profiles))
      else if (isOf[plain]?.(one) !== true) faults.push(`${at}${name} is not a ${plain}: ${JSON.stringify(one)}`)
    }
  }
  return faults
}

interface OcsfEvent extends Record<string, unknown> {
  class_uid: number
  activity_id: number
  metadata: { version: string; profiles?: string[] }
}

/** Returns the violations of the schema in an event. */
export const faultsOfOcsf = (event: OcsfEvent): string[] => {
  const shape = classes[String(event.class_uid)]
  if (shape === undefined) return [`unknown class ${event.class_uid}`]
  const expected = {
    class_name: shape.caption,
    category_uid: shape.category_uid,
    category_name: shape.category,
    type_uid: event.class_uid * 100 + event.activity_id,
  }
  const faults = Object.entries(expected)
    .filter(([name, value]) => event[name] !== value)
    .map(([name, value]) => `${name} is not ${value}`)
  const activity = shape.activities[event.activity_id]
  if (event.activity_id !== 99 && event.activity_name !== activity) faults.push(`the activity name is not ${activity}`)
  if (event.metadata.version !== schema.version) faults.push('the version is not that of the schema')
  return [...faults, ...faultsOf(event, shape, '', event.metadata.profiles ?? [])]
}
