import { feedLimits } from '@portcullis/contract/feed-lines.ts'

/** A part of a body: one event, or a batch of few. */
export interface Part {
  /** Line in the body. In an array at the start of the body, the number of the element. */
  line: number
  text: string
}

/** Names of lists of events in answers of interfaces and in batches of collectors. */
export const listNames = ['records', 'results', 'value', 'hits', 'messages', 'resourceLogs', 'scopeLogs', 'logRecords']
const someList = listNames.join('|')
const listStart = new RegExp(`"(?:${someList})"\\s*:\\s*\\[`, 'i')
const wrapperStart = new RegExp(
  `^\\{\\s*"(?:${someList}|schema|stats|took|timed_out|_shards|_scroll_id|@odata[^"]{0,64})"`,
  'i',
)
/** Maximum length of what precedes a list in its object: the schema of an answer of advanced hunting. */
const maxHead = 8_192
const maxDepth = 64
/** Maximum number of truncated lists, because each is searched for its end. After them, each line counts alone. */
const maxTruncated = 16

const isSpace = (code: number): boolean => code === 32 || (code >= 9 && code <= 13) || code === 0xfeff

const lineEndAt = (text: string, at: number): number => {
  const end = text.indexOf('\n', at)
  return end < 0 ? text.length : end
}

/** Returns the end of the string that begins at a quote. A line end before it means that the text is truncated: -1. */
const stringEnd = (text: string, quote: number): number => {
  for (let at = quote + 1; at < text.length; at++) {
    const code = text.charCodeAt(at)
    if (code === 0x0a) return -1
    if (code === 0x22) return at
    if (code === 0x5c && text.charCodeAt(at + 1) !== 0x0a) at++
  }
  return -1
}

/** Returns the end of the JSON object or array that contains `from`; -1 if it is truncated, too deep or too long. */
const enclosingEnd = (text: string, from: number, length: number): number => {
  let depth = 1
  const end = Math.min(text.length, from + length)
  for (let at = from; at < end; at++) {
    const code = text.charCodeAt(at)
    if (code === 0x22) {
      at = stringEnd(text, at)
      if (at < 0) return -1
    } else if (code === 0x5b || code === 0x7b) {
      if (++depth > maxDepth) return -1
    } else if ((code === 0x5d || code === 0x7d) && --depth === 0) return at + 1
  }
  return -1
}

/** Returns the start of the elements in a JSON text that is, or contains, a list of events; -1 for other texts. */
const elementsFrom = (text: string, first: number): number => {
  if (text[first] === '[') return first + 1
  if (text[first] !== '{' || !wrapperStart.test(text.slice(first, first + 128))) return -1
  const found = listStart.exec(text.slice(first, first + maxHead))
  if (found === null) return -1
  const elements = first + found.index + found[0].length
  const end = enclosingEnd(text, first + 1, maxHead)
  return end >= 0 && end < elements ? -1 : elements
}

/**
 * Yields the text of each element of an array from `from` on. Returns where the array ends. If it is truncated, that is the
 * end of the first line of its last element.
 */
function* elementsOf(text: string, from: number): Generator<Part, number> {
  let depth = 0
  let start = from
  let index = 0
  const end = (at: number): Part[] => {
    const part = text.slice(start, at).trim()
    start = at + 1
    return part === '' ? [] : [{ line: ++index, text: part }]
  }
  for (let at = from; at < text.length; at++) {
    const code = text.charCodeAt(at)
    if (code === 0x22) {
      at = stringEnd(text, at)
      if (at < 0) break
    } else if (code === 0x5b || code === 0x7b) depth++
    else if (code === 0x5d || code === 0x7d) {
      if (depth-- === 0) {
        yield* end(at)
        return at + 1
      }
    } else if (code === 0x2c && depth === 0) yield* end(at)
  }
  while (start < text.length && isSpace(text.charCodeAt(start))) start++
  const stop = lineEndAt(text, start)
  yield* end(stop)
  return stop
}

const xmlStart = /<Event[ >]/g
/** What surrounds events in an XML document, and what is left of a truncated one. */
const xmlMarkup = /^<(?:\?xml[^>\n]{0,200}|\/?Events[^>\n]{0,200}|\/Event)>/
const markupOf = (text: string, at: number): number => xmlMarkup.exec(text.slice(at, at + 256))?.[0].length ?? 0

/** Returns the length of what precedes an XML event in its line, such as the header of syslog. */
const headerOf = (text: string, at: number): number =>
  /^[^\n[{"][^\n]{0,1023}?(?=<Event[ >])/.exec(text.slice(at, at + 1_040))?.[0].length ?? 0

/** The date in the first line of an event in the classic text of Splunk, which has many lines. */
const textStart = /^[^\n]{8,40}\r?\nLogName=/
const textEnd = /\r?\n(?=[^\n]{8,40}\r?\nLogName=|[[{]|<(?:\?xml|Event))/g

/**
 * Splits a body into its events, in any mix: one per line as JSON, XML or text, JSON over several lines, JSON arrays,
 * answers of interfaces, and XML documents. A truncated event ends at its line or at the next event. Yields
 * each part. Reads each character a few times at most.
 */
export function* partsOf(text: string): Generator<Part> {
  let line = 1
  let newline = lineEndAt(text, 0)
  const lineAt = (at: number): number => {
    for (; newline < at; line++) newline = lineEndAt(text, newline + 1)
    return line
  }
  let close = -1
  const xmlClose = (at: number): number => {
    if (close < at) close = text.indexOf('</Event>', at)
    if (close < 0) close = text.length
    return close
  }
  const nextXml = (at: number): number => {
    xmlStart.lastIndex = at
    return xmlStart.exec(text)?.index ?? text.length
  }
  let truncated = 0
  let isFirst = true
  for (let at = 0; at < text.length; ) {
    if (isSpace(text.charCodeAt(at))) {
      at++
      continue
    }
    const from = at
    const elements = truncated < maxTruncated ? elementsFrom(text, from) : -1
    if (elements >= 0) {
      const here = isFirst ? undefined : lineAt(from)
      const list = elementsOf(text, elements)
      let element = list.next()
      for (; element.done !== true; element = list.next()) yield { ...element.value, line: here ?? element.value.line }
      at = element.value
      if (text.charCodeAt(at - 1) !== 0x5d) truncated++
      // The objects around the list end later in the line or document.
      for (let open = text.slice(from, elements - 1).match(/[{[]/g)?.length ?? 0; open > 0; open--) {
        const end = enclosingEnd(text, at, feedLimits.lineChars)
        if (end >= 0) at = end
      }
    } else if (text.startsWith('<Event', from) && nextXml(from) === from) {
      const [end, next] = [xmlClose(from), nextXml(from + 1)]
      at = next < end || end === text.length ? Math.min(next, lineEndAt(text, from)) : end + 8
      yield { line: lineAt(from), text: text.slice(from, Math.min(at, from + feedLimits.lineChars + 1)).trim() }
    } else if (markupOf(text, from) > 0) at += markupOf(text, from)
    else if (headerOf(text, from) > 0) at += headerOf(text, from)
    else {
      at = eventEnd(text, from)
      const part = text.slice(from, at).trim().replace(/,$/, '')
      yield { line: lineAt(from), text: part }
    }
    isFirst = false
  }
}

/** Returns the end of an event that begins at `from`: of its line, of JSON over several lines, or of a text. */
const eventEnd = (text: string, from: number): number => {
  const end = lineEndAt(text, from)
  if (text.slice(from, Math.min(end, from + 4)).trim() === '{') {
    const close = enclosingEnd(text, from + 1, feedLimits.lineChars)
    return close < 0 ? end : close
  }
  if (!textStart.test(text.slice(from, from + 64))) return end
  textEnd.lastIndex = from + 8
  return textEnd.exec(text)?.index ?? text.length
}
