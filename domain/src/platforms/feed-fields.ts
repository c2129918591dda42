import { textEvent } from './feed-text.ts'
import { xmlData, xmlEvent } from './feed-xml.ts'
import { parseJson, type Tree } from './tree.ts'

/** A field of an event that the reader uses. */
export type FieldRole =
  | 'action'
  | 'channel'
  | 'class'
  | 'compatible'
  | 'device'
  | 'deviceName'
  | 'eventId'
  | 'hardware'
  | 'host'
  | 'machine'
  | 'message'
  | 'record'
  | 'report'
  | 'time'

/** Values by role, the most trusted first. */
export type EventFields = ReadonlyMap<FieldRole, readonly string[]>

const MAX_DEPTH = 24
const MAX_FIELDS = 1_000
const MAX_VALUE = 16_384
const MAX_PATH = 256

/**
 * The names of a field in order of trust, as the end of its path. Exporters nest an event in objects of their own, or flatten
 * it with `.` or `_` and a prefix. Only the end of a path is therefore the same.
 */
const names: readonly [FieldRole, RegExp][] = [
  ['eventId', /(?:^|[._])event[._]?(?:id|code)(?:[._]id)?$/],
  // PowerShell
  ['eventId', /^id$/],
  ['host', /(?:^|[._])computer(?:[._]?name)?$/],
  ['host', /(?:^|[._])machine[._]?name$/],
  ['host', /^(?!(?:.*[._])?(?:agent|beat|collector|manager|observer|predecoder)[._])(?:.*[._])?host[._]?name$/],
  ['host', /^host$/],
  ['host', /^source$/],
  ['time', /(?:^|[._@-])(?:system|time)[._]?(?:time|created)$/],
  ['time', /(?:^|[._])event[._]?time$/],
  ['time', /(?:^|[._])(?:time[._]?generated|properties\.timestamp)$/],
  ['time', /(?:^|[._])time$/],
  ['time', /^(?!.*receive).*(?:^|[._])@?timestamp$/],
  ['time', /(?:^|[._])event[._]created$/],
  ['device', /(?:^|[._])device[._ ]?id$/],
  ['deviceName', /(?:^|[._])devicename$/],
  ['hardware', /(?:^|[._])(?:vendor|hardware)[._ ]?ids$/],
  ['compatible', /(?:^|[._])compatible[._ ]?ids$/],
  ['class', /(?:^|[._])class[._ ]?(?:id|guid)$/],
  ['record', /(?:^|[._])record[._]?(?:id|number)$|(?:^|[._])eventrecordid$/],
  ['channel', /(?:^|[._])(?:channel|log[._]?name)$/],
  ['report', /(?:^|[._])reportid$/],
  ['action', /(?:^|[._])actiontype$/],
  ['message', /(?:^|[._])message$/],
]

/** Names in the path of a value that do not name it: elements with attributes, lists of values, and OTLP. */
const WRAPPER =
  /\.(?:#text|#attributes|@attributes|_|\$t?|text|value|content|@value|stringvalue|intvalue|kvlistvalue|arrayvalue|values)(?=\.|$)/g
/** Names that wrap a complete event. */
const PREFIX = /^(?:(?:_source|_raw|result|body|message|event\.original|preview)\.)+/

/** The last letters of all names. Most keys of an event have others, and trying each name costs a hundred times as much. */
const lastLetters =
  /(?:action.?type|channel|code|computer|created|generated|guid|host|ids?|message|name|number|source|time|timestamp)$/

const known = new Map<string, readonly [FieldRole, number] | null>()

/** Returns the role of a path and its rank. Remembers the paths, because all lines of an exporter have the same. */
export const roleOf = (path: string): readonly [FieldRole, number] | null => {
  if (path.length > MAX_PATH) return null
  const found = known.get(path)
  if (found !== undefined) return found
  const name = path.toLowerCase().replace(WRAPPER, '').replace(PREFIX, '')
  const rank = lastLetters.test(name.slice(-12)) ? names.findIndex(([, pattern]) => pattern.test(name)) : -1
  const role = rank < 0 ? null : ([names[rank]?.[0] as FieldRole, rank] as const)
  if (known.size > 4_096) known.clear()
  known.set(path, role)
  return role
}

/** The values of event 6416 in their order, for exporters that write them without names. */
const inserts = [
  'SubjectUserSid',
  'SubjectUserName',
  'SubjectDomainName',
  'SubjectLogonId',
  'DeviceId',
  'DeviceDescription',
  'ClassId',
  'ClassName',
  'VendorIds',
  'CompatibleIds',
  'LocationInformation',
]

const nameKeys = ['Name', '@Name', '-Name', '_Name', 'key']

/** Returns the name of an element of a list of named values, and the key that contains it. */
const nameIn = (element: { [key: string]: Tree }): [name: string, key: string] | undefined => {
  for (const key of nameKeys) {
    const name = Object.hasOwn(element, key) ? element[key] : undefined
    if (typeof name === 'string' && name !== '' && name.length <= 64) return [name, key]
  }
  for (const key of ['#attributes', '$', '@attributes']) {
    const inner = Object.hasOwn(element, key) ? element[key] : undefined
    if (typeof inner === 'object' && inner !== null && !Array.isArray(inner) && typeof inner.Name === 'string')
      return [inner.Name, key]
  }
  return undefined
}

/** Returns the event in a text that an exporter put into a field. */
export const treeIn = (text: string): Tree | undefined => {
  // A setup class is in braces too, and parsing what is no JSON costs as much as the rest of a line.
  if (/^\{\s*"/.test(text) && text.endsWith('}')) return parseJson(text)
  if (text.startsWith('<')) return xmlEvent(text) ?? (text.includes('<Data') ? xmlData(text) : undefined)
  return textEvent(text)
}

/** Paths of texts that a device or a user can choose: they are never an event. */
const CHOSEN =
  /(?:event[._]?data|additionalfields)[._]|(?:device[._ ]?(?:description|name)|class[._ ]?name|location[._ ]?information)$/i

/** Returns the fields of an event that have a role, in any nesting. Ends for any tree. */
export const fieldsOf = (event: Tree): EventFields => {
  const found = new Map<FieldRole, { value: string; rank: number; texts: number }[]>()
  let left = MAX_FIELDS
  /** Number of texts that contain the current value. Of equal fields, the one in fewer texts counts, except for times. */
  let texts = 0
  const take = (path: string, value: string): void => {
    const [role, rank] = roleOf(path) ?? []
    if (role === undefined || rank === undefined || value === '') return
    // A Defender event has the ID of the computer as `DeviceId`. Only IDs of devices contain a backslash.
    const is = role === 'device' && !value.includes('\\') ? 'machine' : role
    const values = found.get(is) ?? []
    if (values.length < 16) values.push({ value: value.slice(0, MAX_VALUE), rank, texts: role === 'time' ? 0 : texts })
    found.set(is, values)
  }
  function walk(path: string, value: Tree, depth: number): void {
    if (left-- <= 0 || depth > MAX_DEPTH) return
    if (typeof value === 'string') {
      const tree = value.length > 8 && !CHOSEN.test(path) ? treeIn(value.trim()) : undefined
      if (tree === undefined) take(path, value)
      else {
        texts++
        walk(path, tree, depth + 1)
        texts--
      }
    } else if (typeof value === 'number') take(path, String(value))
    else if (Array.isArray(value)) walkList(path, value, depth)
    else if (value !== null && typeof value === 'object')
      for (const [key, inner] of Object.entries(value)) walk(path === '' ? key : `${path}.${key}`, inner, depth + 1)
  }
  function walkList(path: string, list: readonly Tree[], depth: number): void {
    if (/(?:stringinserts|properties)$/i.test(path) && list.length === inserts.length)
      for (const [i, name] of inserts.entries()) walk(name, list[i] ?? null, depth + 1)
    else if (list.every((one) => typeof one === 'string')) take(path, list.slice(0, 64).join('\n'))
    else
      for (const one of list.slice(0, 256)) {
        if (typeof one !== 'object' || one === null || Array.isArray(one)) continue
        const named = nameIn(one)
        if (named === undefined) walk(path, one, depth + 1)
        else walk(`${path}.${named[0]}`, { ...one, [named[1]]: null }, depth + 1)
      }
  }
  walk('', event, 0)
  return new Map(
    [...found].map(([role, values]) => [
      role,
      values.sort((a, b) => a.rank - b.rank || a.texts - b.texts).map(({ value }) => value),
    ]),
  )
}
