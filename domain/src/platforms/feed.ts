import { type FeedFault, feedLimits } from '@portcullis/contract/feed-lines.ts'
import { csvRecordsOf } from './feed-csv.ts'
import { type FeedEvent, feedEvent } from './feed-event.ts'
import { treeIn } from './feed-fields.ts'
import { listNames, partsOf } from './feed-scan.ts'
import type { ToInstant } from './feed-time.ts'
import { decodeAnswer } from './poll.ts'
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

/** Returns the event in a part of a body: JSON, also after the header of syslog, XML or text. */
const treeOf = (part: string): Tree | undefined => {
  if (/^[{["]/.test(part)) {
    const value = parseJson(part)
    return typeof value === 'string' ? treeIn(value) : value
  }
  const said = treeIn(part)
  const start = part.endsWith('}') ? part.indexOf('{') : -1
  return said ?? (start < 0 ? undefined : parseJson(part.slice(start)))
}

/** Returns the events in a value that may be a batch of them, such as logs of OpenTelemetry. */
const eventsIn = (value: Tree | undefined, depth = 0): (Tree | undefined)[] => {
  if (!isObject(value) || depth > 4) return [value]
  const list = listNames.map((name) => (Object.hasOwn(value, name) ? value[name] : undefined)).find(Array.isArray)
  return list === undefined ? [value] : list.flatMap((one) => eventsIn(one, depth + 1))
}

/** Returns whether a text that is no known event looks like one. */
const looksLikeEvent = (text: string): boolean =>
  (text.includes('6416') && /VID_[0-9A-F]{4}/i.test(text)) || text.includes('PnpDeviceConnected')

/**
 * Reads the events in the body of a request to a feed in steps, one for each part of the body, because the largest body takes
 * over a second. Accepts any bytes, never throws, and stops after one line more than the limit.
 *
 * @param toInstant converts times without a zone; undefined: their zone is unknown
 */
export function* readFeedInSteps(body: string | Uint8Array, toInstant?: ToInstant): Generator<undefined, FeedReading> {
  const result: FeedReading = { total: 0, events: [], ignored: 0, failed: 0, errors: [] }

  function outcomeOf(said: Tree | undefined, whole: string): ReturnType<typeof feedEvent> {
    if (whole.length > feedLimits.lineChars) return 'too-long'
    const outcome = isObject(said) ? feedEvent(said, toInstant) : 'unknown'
    if (outcome !== 'unknown') return outcome
    const isBroken = !isObject(said) && /^[{["]|<Event[ >]/.test(whole)
    if (!isBroken && looksLikeEvent(whole)) return 'unknown-form'
    return isObject(said) ? 'other' : 'not-understood'
  }
  function add(line: number, said: Tree | undefined, whole: string): boolean {
    result.total++
    if (result.total > feedLimits.lines) return false
    const outcome = outcomeOf(said, whole)
    if (typeof outcome !== 'string')
      result.events.push({ ...outcome, line, key: outcome.key || whole || JSON.stringify(said) })
    else if (outcome === 'other') result.ignored++
    else {
      result.failed++
      if (result.errors.length < feedLimits.errors) result.errors.push({ line, code: outcome as FeedFault })
    }
    return true
  }
  function addPart(line: number, part: string): boolean {
    if (part.length > feedLimits.lineChars) return add(line, undefined, part)
    const [first, ...others] = eventsIn(treeOf(part))
    if (others.length === 0) return add(line, first, part)
    return [first, ...others].every((one) => add(line, one, JSON.stringify(one) ?? part))
  }
  const text = typeof body === 'string' ? body : decodeAnswer(body)
  const records = csvRecordsOf(text)
  let record = records.next()
  for (; record.done !== true; record = records.next()) {
    const { line, text: whole, values } = record.value
    const isText = values === undefined || /^[{<]/.test(whole)
    if (!(isText ? addPart(line, whole) : add(line, values, whole))) return result
    yield
  }
  if (record.value) return result
  for (const { line, text: part } of partsOf(text)) {
    if (!addPart(line, part)) return result
    yield
  }
  return result
}

/** Reads a feed at once. */
export const readFeed = (body: string | Uint8Array, toInstant?: ToInstant): FeedReading => {
  const steps = readFeedInSteps(body, toInstant)
  let step = steps.next()
  while (step.done !== true) step = steps.next()
  return step.value
}
