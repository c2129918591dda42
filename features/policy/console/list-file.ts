/** Reads a list of devices from a file: text, CSV or the first sheet of an Excel workbook (XLSX). */

import { ConsoleRefusal } from '@portcullis/platform/console/lib/problem.ts'
import { strings } from './strings.ts'

const longestFile = 8 * 1024 * 1024
/** Size of an unpacked part of a workbook, so that a small file cannot fill the memory. */
const longestPart = 32 * 1024 * 1024

interface Part {
  method: number
  from: number
  size: number
}

/** Returns the parts of a ZIP archive by name. */
const partsOf = (bytes: Uint8Array): Map<string, Part> => {
  const view = new DataView(bytes.buffer, bytes.byteOffset, bytes.byteLength)
  let end = bytes.length - 22
  while (end >= 0 && view.getUint32(end, true) !== 0x06054b50) end--
  if (end < 0) throw new ConsoleRefusal(strings.workbookUnreadable)
  const parts = new Map<string, Part>()
  let at = view.getUint32(end + 16, true)
  for (let n = view.getUint16(end + 10, true); n > 0 && view.getUint32(at, true) === 0x02014b50; n--) {
    const nameLength = view.getUint16(at + 28, true)
    const name = new TextDecoder().decode(bytes.subarray(at + 46, at + 46 + nameLength))
    const local = view.getUint32(at + 42, true)
    const from = local + 30 + view.getUint16(local + 26, true) + view.getUint16(local + 28, true)
    parts.set(name, { method: view.getUint16(at + 10, true), from, size: view.getUint32(at + 20, true) })
    at += 46 + nameLength + view.getUint16(at + 30, true) + view.getUint16(at + 32, true)
  }
  return parts
}

const unpack = async (bytes: Uint8Array<ArrayBuffer>, { method, from, size }: Part): Promise<string> => {
  const packed = bytes.slice(from, from + size)
  const source = new Blob([packed]).stream()
  const stream = method === 0 ? source : source.pipeThrough(new DecompressionStream('deflate-raw'))
  const decoder = new TextDecoder()
  let text = ''
  let length = 0
  for (const reader = stream.getReader(); ; ) {
    const { done, value } = await reader.read()
    if (done) return text + decoder.decode()
    length += value.length
    if (length > longestPart) throw new ConsoleRefusal(strings.workbookTooLarge)
    text += decoder.decode(value, { stream: true })
  }
}

const named: Readonly<Record<string, string>> = { amp: '&', lt: '<', gt: '>', quot: '"', apos: "'" }

const unescapeXml = (text: string): string =>
  text.replaceAll(/&(?:#x([0-9a-f]{1,6})|#(\d{1,7})|(amp|lt|gt|quot|apos));/gi, (whole, hex, decimal, name) => {
    if (name !== undefined) return named[String(name).toLowerCase()] ?? whole
    const code = hex === undefined ? Number(decimal) : Number.parseInt(hex, 16)
    return code <= 0x10ffff ? String.fromCodePoint(code) : whole
  })

/** Returns the text of an element: all its `t`, without phonetic hints. */
const textOf = (xml: string): string =>
  [...xml.replaceAll(/<rPh\b[\s\S]*?<\/rPh>/g, '').matchAll(/<t(?:\s[^>]*)?>([\s\S]*?)<\/t>/g)]
    .map(([, text = '']) => unescapeXml(text))
    .join('')

/** Returns the number of a column from the name of a cell: `A1` is 0. */
const columnOf = (name: string): number =>
  [...(/^[A-Z]{1,3}/.exec(name)?.[0] ?? '')].reduce((n, letter) => n * 26 + letter.charCodeAt(0) - 64, 0) - 1

const quoted = (cell: string): string => (/["\t\r\n]/.test(cell) ? `"${cell.replaceAll('"', '""')}"` : cell)

const rowOf = (xml: string, shared: readonly string[]): string => {
  const cells: string[] = []
  for (const [, attributes = '', body = ''] of xml.matchAll(/<c\b([^>]*?)(?:\/>|>([\s\S]*?)<\/c>)/g)) {
    const name = /\br="([A-Z]+\d+)"/.exec(attributes)?.[1]
    const type = /\bt="(\w+)"/.exec(attributes)?.[1]
    const value = unescapeXml(/<v>([\s\S]*?)<\/v>/.exec(body)?.[1] ?? '')
    const at = name === undefined ? cells.length : columnOf(name)
    while (cells.length < at) cells.push('')
    cells[at] = type === 's' ? (shared[Number(value)] ?? '') : type === 'inlineStr' ? textOf(body) : value
  }
  return cells.map(quoted).join('\t')
}

const workbookText = async (bytes: Uint8Array<ArrayBuffer>): Promise<string> => {
  const parts = partsOf(bytes)
  const [sheet] = [...parts.keys()]
    .filter((name) => /^xl\/worksheets\/[^/]+\.xml$/.test(name))
    .sort((a, b) => a.localeCompare(b, 'en', { numeric: true }))
  const part = sheet === undefined ? undefined : parts.get(sheet)
  if (part === undefined) throw new ConsoleRefusal(strings.workbookUnreadable)
  const sharedPart = parts.get('xl/sharedStrings.xml')
  const shared =
    sharedPart === undefined
      ? []
      : [...(await unpack(bytes, sharedPart)).matchAll(/<si>([\s\S]*?)<\/si>|<si\/>/g)].map(([, one = '']) =>
          textOf(one),
        )
  const rows = (await unpack(bytes, part)).matchAll(/<row\b[^>]*?(?:\/>|>([\s\S]*?)<\/row>)/g)
  return [...rows].map(([, row = '']) => rowOf(row, shared)).join('\n')
}

/** Returns the text of a file. Rows of a workbook become lines with tabs. */
export const textOfFile = async (file: Blob): Promise<string> => {
  if (file.size > longestFile) throw new ConsoleRefusal(strings.listFileTooLarge)
  const bytes = new Uint8Array(await file.arrayBuffer())
  if (bytes[0] !== 0x50 || bytes[1] !== 0x4b) return new TextDecoder().decode(bytes)
  try {
    return await workbookText(bytes)
  } catch (cause) {
    // The archive is damaged, or no workbook.
    throw cause instanceof ConsoleRefusal ? cause : new ConsoleRefusal(strings.workbookUnreadable)
  }
}
