import { type FeedFault, feedLimits } from '@portcullis/contract'
import { type FeedEvent, feedEvent } from './feed-event.ts'
import { xmlEvent } from './feed-xml.ts'
import { parseJson, type Tree, type TreeObject } from './tree.ts'

export type { FeedEvent } from './feed-event.ts'
export { windowsDevices } from './windows.ts'

export interface FeedLine extends FeedEvent {
  line: number
}

export interface FeedReading {
  /** Number of lines that are not empty. */
  total: number
  events: FeedLine[]
  ignored: number
  failed: number
  /** The first errors. */
  errors: { line: number; code: FeedFault }[]
}

const isObject = (value: Tree | undefined): value is TreeObject =>
  typeof value === 'object' && value !== null && !Array.isArray(value)

const isSpace = (code: number): boolean => code === 32 || (code >= 9 && code <= 13) || code === 0xfeff

/** Returns the array of a body that is one JSON text; undefined for lines. */
const elementsOf = (text: string, first: number): readonly Tree[] | undefined => {
  const opening = text[first]
  if (opening === '[') {
    const value = parseJson(text)
    return Array.isArray(value) ? value : undefined
  }
  if (opening !== '{') return undefined
  // Azure wraps events in records; advanced hunting in Results; queries of the Graph API in value.
  if (!/^\{\s*"(?:records|Results|results|value|Schema|schema|@odata[^"]{0,64})"/.test(text.slice(first, first + 128)))
    return undefined
  const value = parseJson(text)
  if (!isObject(value)) return undefined
  return [value.records, value.Results, value.results, value.value].find(Array.isArray)
}

/** Calls `take` with the start and end of each event of XML text that may span lines, and its line number. */
const eachXmlEvent = (text: string, take: (part: string, line: number) => boolean): void => {
  let line = 1
  let counted = 0
  for (let at = text.indexOf('<Event'); at >= 0; ) {
    const next = text[at + 6]
    const end = next === ' ' || next === '>' ? text.indexOf('</Event>', at) : -1
    if (next === ' ' || next === '>') {
      for (let i = text.indexOf('\n', counted); i >= 0 && i < at; i = text.indexOf('\n', i + 1)) line++
      counted = at
      if (!take(text.slice(at, end < 0 ? at + feedLimits.lineChars : end + 8), line) || end < 0) return
      at = text.indexOf('<Event', end + 8)
    } else at = text.indexOf('<Event', at + 6)
  }
}

/**
 * Reads the events in the body of a request to a feed: one per line as JSON or XML, one JSON array, or one XML document.
 * Accepts any text, never throws, and stops after one line more than the limit.
 */
export const readFeed = (text: string): FeedReading => {
  const result: FeedReading = { total: 0, events: [], ignored: 0, failed: 0, errors: [] }

  function add(line: number, said: Tree | undefined, whole: string): boolean {
    result.total++
    if (result.total > feedLimits.lines) return false
    const outcome =
      whole.length > feedLimits.lineChars ? 'too-long' : isObject(said) ? feedEvent(said) : 'not-understood'
    if (outcome === 'ignored') result.ignored++
    else if (typeof outcome !== 'string')
      result.events.push({ ...outcome, line, key: outcome.key || whole || JSON.stringify(said) })
    else {
      result.failed++
      if (result.errors.length < feedLimits.errors) result.errors.push({ line, code: outcome })
    }
    return true
  }
  const parsed = (part: string): Tree | undefined => {
    if (part.length > feedLimits.lineChars) return undefined
    if (part.startsWith('<')) return xmlEvent(part)
    const value = parseJson(part)
    // Some collectors send the XML of an event in a JSON text.
    return typeof value === 'string' && value.startsWith('<') ? xmlEvent(value) : value
  }

  let first = 0
  while (first < text.length && isSpace(text.charCodeAt(first))) first++
  const elements = elementsOf(text, first)
  if (elements !== undefined) {
    for (const [i, one] of elements.entries()) {
      const whole = typeof one === 'string' ? one : ''
      if (!add(i + 1, typeof one === 'string' ? parsed(one) : one, whole)) break
    }
    return result
  }
  if (text[first] === '<') {
    eachXmlEvent(text, (part, line) => add(line, parsed(part), part))
    if (result.total > 0) return result
  }
  let line = 0
  for (let at = 0; at < text.length; ) {
    const end = text.indexOf('\n', at)
    line++
    const part = text.slice(at, end < 0 ? text.length : end).trim()
    at = end < 0 ? text.length : end + 1
    if (part !== '' && !add(line, parsed(part), part)) break
  }
  return result
}
