import { type FeedFault, feedLimits } from '@portcullis/contract'
import { type FeedEvent, feedEvent } from './feed-event.ts'
import { xmlEvent } from './feed-xml.ts'
import { parseJson, type Tree, type TreeObject } from './tree.ts'

export type { FeedEvent } from './feed-event.ts'
export { type WindowsReport, windowsReports } from './windows.ts'

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

/** Returns the event in a text that a collector wraps in JSON: the whole line, or the `_raw` of Splunk. */
const unwrapped = (value: Tree | undefined): Tree | undefined => {
  const result = isObject(value) && isObject(value.result) ? value.result : value
  const text = isObject(result) ? result._raw : result
  if (typeof text !== 'string') return value
  if (text.startsWith('<')) return xmlEvent(text)
  return text.startsWith('{') ? parseJson(text) : value
}

const isSpace = (code: number): boolean => code === 32 || (code >= 9 && code <= 13) || code === 0xfeff

/**
 * Returns where the elements of a body that is one JSON text begin; -1 for lines. Azure wraps events in `records`, advanced
 * hunting in `Results`, and queries of the Graph API in `value`.
 */
const elementsFrom = (text: string, first: number): number => {
  if (text[first] === '[') return first + 1
  const head = text.slice(first, first + 128)
  if (!/^\{\s*"(?:records|results|value|schema|stats|@odata[^"]{0,64})"/i.test(head)) return -1
  const found = /"(?:records|results|value)"\s*:\s*\[/i.exec(text)
  return found === null ? -1 : found.index + found[0].length
}

/** Calls `take` with the text of each element of an array from `from` on. Reads each character once. */
const eachElement = (text: string, from: number, take: (part: string, index: number) => boolean): void => {
  let depth = 0
  let start = from
  let index = 0
  const end = (at: number): boolean => {
    const part = text.slice(start, at).trim()
    start = at + 1
    return part === '' || take(part, ++index)
  }
  for (let at = from; at < text.length; at++) {
    const code = text.charCodeAt(at)
    if (code === 0x22) {
      do at = text.indexOf('"', at + 1)
      while (at > 0 && isEscaped(text, at))
      if (at < 0) break
    } else if (code === 0x5b || code === 0x7b) depth++
    else if (code === 0x5d || code === 0x7d) {
      if (depth-- === 0) {
        end(at)
        return
      }
    } else if (code === 0x2c && depth === 0 && !end(at)) return
  }
  end(text.length)
}

/** Returns whether a quote follows an odd number of backslashes. */
const isEscaped = (text: string, quote: number): boolean => {
  let at = quote
  while (text.charCodeAt(at - 1) === 0x5c) at--
  return (quote - at) % 2 === 1
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
    return unwrapped(value)
  }

  let first = 0
  while (first < text.length && isSpace(text.charCodeAt(first))) first++
  const elements = elementsFrom(text, first)
  if (elements >= 0) {
    eachElement(text, elements, (part, index) => add(index, parsed(part), part))
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
