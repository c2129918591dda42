/** A value in JSON or a property list. */
export type Tree = null | string | number | boolean | Tree[] | TreeObject
export interface TreeObject {
  [key: string]: Tree
}

/** Maximum nesting. The longest chain of hubs needs 16. */
const MAX_DEPTH = 64
/** Maximum number of objects in a tree. A Mac with 100 devices has 1,000. */
const MAX_OBJECTS = 100_000

/** Parses a JSON text. Undefined if it is not valid. */
export const parseJson = (text: string): Tree | undefined => {
  try {
    return JSON.parse(text) as Tree
  } catch {
    return undefined
  }
}

const entities: Readonly<Record<string, string>> = { lt: '<', gt: '>', amp: '&', quot: '"', apos: "'" }

/** Decodes the entities of XML, once. */
export const unescapeXml = (text: string): string =>
  text.includes('&')
    ? text.replace(/&(?:#(\d{1,7})|#x([0-9a-f]{1,6})|(lt|gt|amp|quot|apos));/gi, (whole, decimal, hex, name) => {
        const point = decimal ? Number(decimal) : hex ? Number.parseInt(hex, 16) : Number.NaN
        if (name) return entities[name.toLowerCase()] ?? whole
        return point <= 0x10ffff ? String.fromCodePoint(point) : whole
      })
    : text

const numberOf = (text: string): string | number => {
  const value = Number(text)
  // Keep all digits of a 64-bit number, because it may be the location of a device.
  return Number.isSafeInteger(value) || !/^-?\d+$/.test(text) ? value : text
}

const scalarOf = (tag: string, text: string): Tree => {
  if (tag === 'true' || tag === 'false') return tag === 'true'
  if (tag === 'integer' || tag === 'real') return numberOf(text.trim())
  return unescapeXml(text)
}

const TOKEN = /<(\/?)(plist|dict|array|key|string|integer|real|data|date|true|false)\b[^<>/]*(\/?)>([^<]*)/g

/**
 * Parses a property list of macOS (XML; integers above 2^53 stay text). Undefined if it is not valid or nested too deeply.
 * Never throws.
 */
export const parsePlist = (text: string): Tree | undefined => {
  const root: Tree[] = []
  const open: { value: Tree[] | TreeObject; key?: string }[] = [{ value: root }]
  function add(value: Tree): void {
    const top = open.at(-1)
    if (!top) return
    if (Array.isArray(top.value)) top.value.push(value)
    else if (top.key !== undefined) top.value[top.key] = value
  }
  for (const [, close, tag = '', isEmpty, content = ''] of text.matchAll(TOKEN)) {
    const isContainer = tag === 'dict' || tag === 'array'
    if (tag === 'plist' || (close && !isContainer)) continue
    if (close) {
      if (open.length > 1) open.pop()
    } else if (isContainer) {
      const value: Tree[] | TreeObject = tag === 'array' ? [] : Object.create(null)
      add(value)
      if (!isEmpty) open.push({ value })
      if (open.length > MAX_DEPTH) return undefined
    } else if (tag === 'key') {
      const top = open.at(-1)
      if (top) top.key = unescapeXml(content)
    } else add(scalarOf(tag, content))
  }
  return root[0]
}

/** Returns the objects of a tree, parents before children, within the limits. */
export const objectsOf = (tree: Tree | undefined): TreeObject[] => {
  const found: TreeObject[] = []
  function walk(value: Tree | undefined, depth: number): void {
    if (typeof value !== 'object' || value === null || depth > MAX_DEPTH || found.length >= MAX_OBJECTS) return
    if (!Array.isArray(value)) found.push(value)
    for (const child of Object.values(value)) walk(child, depth + 1)
  }
  walk(tree, 0)
  return found
}

/** Returns a text value, or undefined. */
export const textIn = (object: TreeObject, ...keys: string[]): string | undefined => {
  for (const key of keys) {
    const value = Object.hasOwn(object, key) ? object[key] : undefined
    if (typeof value === 'string' && value !== '') return value
  }
  return undefined
}

/** Returns an integer value from 0 to `max`, or undefined. */
export const numberIn = (object: TreeObject, key: string, max: number): number | undefined => {
  const value = Object.hasOwn(object, key) ? object[key] : undefined
  return typeof value === 'number' && Number.isInteger(value) && value >= 0 && value <= max ? value : undefined
}

/** Returns a text value or list of texts as a list. */
export const textsIn = (object: TreeObject, key: string): string[] => {
  const value = Object.hasOwn(object, key) ? object[key] : undefined
  return (Array.isArray(value) ? value : [value]).filter((v) => typeof v === 'string')
}
