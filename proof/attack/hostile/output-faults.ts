/** Finds faults in the server's output: places where a text was interpreted or broke out of its field. */
import { spawnSync } from 'node:child_process'
import { writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { partsOf } from '../../kit/smtp-receiver.ts'
import { jsonOf } from '../../kit/wire.ts'

/** Parses CSV according to RFC 4180. Returns null if a quote is misplaced. */
const rowsOf = (csv: string): string[][] | null => {
  const cell = /(?:"((?:[^"]|"")*)"|([^",\r\n]*))(,|\r\n|$)/gy
  const rows: string[][] = [[]]
  cell.lastIndex = csv.startsWith('\ufeff') ? 1 : 0
  while (cell.lastIndex < csv.length) {
    const found = cell.exec(csv)
    if (found === null) return null
    const [, quoted, plain = '', end] = found
    rows.at(-1)?.push(quoted?.replaceAll('""', '"') ?? plain)
    if (end === '\r\n') rows.push([])
  }
  return rows.at(-1)?.length === 0 ? rows.slice(0, -1) : rows
}

export const csvFaults = (csv: string): string[] => {
  const rows = rowsOf(csv)
  if (rows === null) return ['not CSV according to RFC 4180']
  const [head = [], ...rest] = rows
  const faults = rest
    .filter((row) => row.length !== head.length)
    .map((row) => `a row of ${row.length} cells, not ${head.length}`)
  // Spreadsheets may end a cell at any of these, also within quotes. A negative number is not a formula.
  for (const cell of rest.flat().flatMap((text) => text.split(/[,;|\t\r\n]/)))
    if (/^[ "]*[=+\-@＝＋－＠]/.test(cell) && !/^-\d+(?:\.\d+)?$/.test(cell))
      faults.push(`a formula: ${cell.slice(0, 40)}`)
  return faults
}

export const pdfFaults = (pdf: Buffer, folder: string, said: readonly string[]): string[] => {
  const file = join(folder, 'export.pdf')
  writeFileSync(file, pdf)
  const faults: string[] = []
  const text = spawnSync('pdftotext', ['-layout', file, '-'], { encoding: 'utf8', maxBuffer: 2 ** 28 })
  if (text.status !== 0) return [`pdftotext: ${text.stderr.slice(0, 200)}`]
  // Narrow cells cut and wrap their text, so a tag that is visible as text is enough.
  for (const part of said) if (!text.stdout.includes(part)) faults.push(`the text does not contain ${part}`)
  const checked = spawnSync('qpdf', ['--check', file], { encoding: 'utf8' })
  if (checked.status !== 0) faults.push(`qpdf: ${checked.stdout.slice(0, 200)}${checked.stderr.slice(0, 200)}`)
  const plain = spawnSync('qpdf', ['--qdf', '--object-streams=disable', file, '-'], {
    maxBuffer: 2 ** 29,
  }).stdout.toString('latin1')
  // Search only the names of the document's objects. Page content is in streams.
  const objects = plain.replace(/\bstream\r?\n[\s\S]*?endstream/g, '')
  for (const name of ['/JavaScript', '/JS', '/Launch', '/URI', '/EmbeddedFile', '/OpenAction', '/AA'])
    if (new RegExp(`${name}\\b`).test(objects)) faults.push(`the document contains ${name}`)
  return faults
}

/** Matches markup that was not escaped. */
const markup =
  /<(?:img src=x|script>alert|svg onload|iframe|link rel=stylesheet href=\/\/evil|meta http-equiv=refresh|base href|form action|math>|a href="javascript:)/i

export const mailFaults = (mail: string): string[] => {
  const { header, parts } = partsOf(mail)
  const faults: string[] = []
  if (/^(?:bcc|x|cc):/im.test(header) || /evil\.example/i.test(header.replace(/^subject:.*(?:\r\n[ \t].*)*/im, '')))
    faults.push(`an injected header: ${header.slice(0, 300)}`)
  for (const { type, text } of parts)
    if (type === 'text/html' && markup.test(text)) faults.push(`markup: ${markup.exec(text)?.[0]}`)
  if (!parts.some(({ type }) => type === 'text/html') || !parts.some(({ type }) => type === 'text/plain'))
    faults.push('text or HTML part is missing')
  return faults
}

/** Returns whether text contains control characters other than tab and line feed. */
const raw = (text: string): boolean =>
  /[\u0000-\u0008\u000b-\u001f\u007f\u0080-\u009f\u202a-\u202e\u2066-\u2069]/.test(text)

/** Checks that a message is a single line of RFC 5424. */
export const syslogFaults = (message: string, format: 'rfc5424' | 'cef' | 'ocsf'): string[] => {
  const faults: string[] = []
  if (raw(message.replace('\ufeff', '')) || message.includes('\n')) faults.push('a control character')
  const head =
    /^<\d{1,3}>1 \S{20,40} \S{1,255} \S{1,48} \S{1,128} \S{1,32} (?:-|(\[(?:[^"\]\\]|"(?:[^"\\\]]|\\["\\\]])*")*\])+)(?: (.*))?$/.exec(
      message,
    )
  if (head === null) return [...faults, `not an RFC 5424 message: ${message.slice(0, 200)}`]
  const body = (head[2] ?? '').replace(/^\ufeff/, '')
  if (
    format === 'cef' &&
    !/^CEF:[01]\|(?:(?:[^|\\\n]|\\[|\\])*\|){6}(?:\w+=(?:[^=\\\n]|\\[=\\nr])*(?: |$))*$/.test(body)
  )
    faults.push(`not CEF: ${body.slice(0, 300)}`)
  if (format === 'ocsf' && typeof jsonOf(body) !== 'object') faults.push(`not JSON: ${body.slice(0, 200)}`)
  return faults
}

/** Checks the exposition format of the metrics. */
export const metricsFaults = (text: string): string[] =>
  text
    .split('\n')
    .filter((line) => line !== '' && !/^# (?:HELP|TYPE|EOF|UNIT)\b/.test(line))
    .filter(
      (line) =>
        !/^[a-zA-Z_:][\w:]*(?:\{(?:[a-zA-Z_]\w*="(?:[^"\\\n]|\\["\\n])*",?)*\})? (?:NaN|[+-]?Inf|[-+\d.e]+)(?: \d+)?$/.test(
          line,
        ),
    )
    .map((line) => `not a sample: ${line.slice(0, 100)}`)
    .concat(/forged/.test(text) ? ['a forged sample'] : [])

/** Checks that log lines are JSON, except for the messages printed at startup. */
export const logFaults = (output: string): string[] =>
  output
    .split('\n')
    .filter((line) => line !== '' && !/^(?:Portcullis is at |First sign-in|Data: |Its certificate)/.test(line))
    .filter((line) => typeof jsonOf(line) !== 'object' || raw(line))
    .map((line) => `not a line in JSON: ${line.slice(0, 100)}`)

export const sseFaults = (text: string): string[] =>
  text
    .split('\n\n')
    // The last event may be incomplete.
    .slice(0, -1)
    .flatMap((event) => {
      const lines = event.split('\n').filter((line) => line !== '' && !line.startsWith(':'))
      const bad = lines.filter((line) => !/^(?:id|event|data|retry):/.test(line))
      const data = lines.filter((line) => line.startsWith('data:')).map((line) => line.slice(5).trim())
      return [
        ...bad.map((line) => `a line outside an event: ${line.slice(0, 60)}`),
        ...(data.length > 1 || data.some((line) => line !== '' && jsonOf(line) === undefined)
          ? ['data that is not JSON']
          : []),
      ]
    })

export const jsonFaults = (text: string): string[] => {
  const value = jsonOf(text)
  if (value === undefined) return ['not JSON']
  return JSON.stringify(value).includes('"forged":true') ? ['a forged member'] : []
}
