import { feedLimits } from '@portcullis/contract/feed-lines.ts'
import { roleOf } from './feed-fields.ts'
import type { Part } from './feed-scan.ts'
import type { TreeObject } from './tree.ts'

/** A record of a CSV file. Without values: it is not valid CSV. */
export interface CsvPart extends Part {
  values: TreeObject | undefined
}

const NAME = /^[\w@.$ -]{1,64}$/
const MAX_COLUMNS = 200

/** Returns the cells of the record at `from` and its end. Undefined if a quoted cell has no end. */
const recordAt = (text: string, from: number, separator: string): { cells: string[]; end: number } | undefined => {
  const cells: string[] = []
  const last = Math.min(text.length, from + feedLimits.lineChars)
  for (let at = from; ; at++) {
    let cell = ''
    if (text[at] === '"') {
      let close = text.indexOf('"', at + 1)
      while (close >= 0 && close < last && text[close + 1] === '"') close = text.indexOf('"', close + 2)
      // What follows shows whether the quote ends this cell, or begins one after a truncated cell.
      if (close < 0 || close >= last || ![separator, '\r', '\n', undefined].includes(text[close + 1])) return undefined
      cell = text.slice(at + 1, close).replaceAll('""', '"')
      at = close + 1
    }
    const start = at
    while (at < last && text[at] !== separator && text[at] !== '\n') at++
    cell += text.slice(start, at).replace(/\r$/, '')
    if (cells.length < MAX_COLUMNS) cells.push(cell)
    if (at >= last || text[at] === '\n') return { cells, end: at }
  }
}

/** Returns where the header of a CSV file with events begins, and its separator. Undefined: the text is not such a file. */
const headerIn = (text: string): { from: number; separator: string } | undefined => {
  // PowerShell 5 writes the type of the records first.
  const from = /^\ufeff?(?:#TYPE [^\n]{0,200}\n)?/.exec(text.slice(0, 256))?.[0].length ?? 0
  const line = /^[^\n]{0,8192}/.exec(text.slice(from, from + 8_192))?.[0] ?? ''
  for (const separator of [',', ';', '\t']) {
    const names = recordAt(line, 0, separator)?.cells ?? []
    const roles = new Set(names.map((name) => roleOf(name)?.[0]))
    const isWindows = names.includes('_raw') || (roles.has('eventId') && roles.has('host'))
    const isDefender = roles.has('action') && roles.has('deviceName')
    if (names.length > 1 && names.every((name) => NAME.test(name)) && (isWindows || isDefender))
      return { from, separator }
  }
  return undefined
}

/**
 * Yields each record after the header of a CSV file. Returns false if the text is not a CSV file with events.
 */
export function* csvRecordsOf(text: string): Generator<CsvPart, boolean> {
  const header = headerIn(text)
  const names = header && recordAt(text, header.from, header.separator)
  if (header === undefined || names === undefined) return false
  let line = 1
  let counted = 0
  for (let at = names.end + 1; at < text.length; ) {
    for (let i = text.indexOf('\n', counted); i >= 0 && i < at; i = text.indexOf('\n', counted)) {
      line++
      counted = i + 1
    }
    const record = recordAt(text, at, header.separator)
    const lineEnd = text.indexOf('\n', at)
    const end = record?.end ?? (lineEnd < 0 ? text.length : lineEnd)
    const whole = text.slice(at, end).trim()
    const values =
      record && Object.fromEntries(record.cells.flatMap((cell, i) => (names.cells[i] ? [[names.cells[i], cell]] : [])))
    if (whole !== '') yield { line, text: whole, values }
    at = end + 1
  }
  return true
}
