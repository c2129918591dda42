import { isOddText, serialKey } from '@portcullis/domain'
import { AppError, invalid } from '@portcullis/platform/server/app-error.ts'
import { undefuse } from '@portcullis/platform/server/csv.ts'
import { type CsvRecord, readCsv } from '@portcullis/platform/server/csv-records.ts'
import { importedLines } from '#features/contract.ts'

/** A device of a list. A member is empty if the line does not contain it. */
export interface ListedDevice {
  line: number
  vid: string
  pid: string
  serial: string
  reason: string
}

type Column = Exclude<keyof ListedDevice, 'line'>

/** Names of columns in a header. */
const columnNames: Readonly<Record<string, Column>> = {
  ...{ vid: 'vid', vendorid: 'vid', pid: 'pid', productid: 'pid', reason: 'reason', comment: 'reason' },
  ...{ serial: 'serial', serialnumber: 'serial', serialno: 'serial' },
}

/** Columns of a line without a header, by its number of cells. */
const columnsWithoutHeader: readonly (readonly Column[])[] = [
  ['serial'],
  ['vid', 'serial'],
  ['vid', 'pid', 'serial'],
  ['vid', 'pid', 'serial', 'reason'],
]

const listedFaults = 100
const longestSerial = 255
const longestReason = 200
const hex4 = /^(?:0x)?([0-9a-f]{4})$/i
/** A long number that a spreadsheet rounded, such as 1.2E+15. */
const rounded = /^\d(?:[.,]\d+)?E\+\d+$/i

/** Returns the columns of a header; null: the record is a device. */
const headerOf = (cells: readonly string[]): (Column | null)[] | null => {
  const named = cells.map(
    (cell) =>
      columnNames[
        cell
          .trim()
          .toLowerCase()
          .replaceAll(/[\s_-]/g, '')
      ] ?? null,
  )
  if (!named.includes('serial')) return null
  const twice = named.find((column, i) => column !== null && named.indexOf(column) !== i)
  if (twice !== undefined) throw invalid('body.text', `has the column ${twice} twice`)
  return named
}

/** Parses a line. Returns its device, or its fault. */
const readLine = (
  line: number,
  cells: readonly string[],
  columns: readonly (Column | null)[],
  model: { vid: string; pid: string },
): ListedDevice | string => {
  if (headerOf(cells) !== null) return 'is a header, but not the first line'
  if (cells.slice(columns.length).some((cell) => cell.trim() !== ''))
    return `has ${cells.length} cells instead of ${columns.length}`
  const cell = (column: Column): string => undefuse(cells[columns.indexOf(column)] ?? '').trim()
  const [both, joined, ...others] = cell('vid').split(/[:/]/)
  if (others.length > 0) return 'has more than a VID and a PID in one cell'
  if (joined !== undefined && cell('pid') !== '') return 'has two PIDs'
  const given = { vid: both ?? '', pid: joined ?? cell('pid') }
  const { vid, pid } = given.vid === '' && given.pid === '' ? model : given
  if (vid === '' && pid === '') return 'has no VID and no PID'
  const [vidDigits, pidDigits] = [hex4.exec(vid)?.[1], hex4.exec(pid)?.[1]]
  if (vidDigits === undefined) return 'has a VID that is not four hex digits'
  if (pidDigits === undefined) return 'has a PID that is not four hex digits'
  const [serial, reason] = [cell('serial'), cell('reason')]
  if (serial === '') return 'has no serial number'
  if (rounded.test(serial)) return 'has a serial number that a spreadsheet rounded; format its column as text'
  if (serial.length > longestSerial) return `has a serial number of more than ${longestSerial} characters`
  if (isOddText(serial)) return 'has a serial number with control or invisible characters; write them as %07 or %u200B'
  if (reason.length > longestReason) return `has a reason of more than ${longestReason} characters`
  if (isOddText(reason)) return 'has a reason with control or invisible characters'
  return { line, vid: vidDigits.toUpperCase(), pid: pidDigits.toUpperCase(), serial, reason }
}

const number = (n: number): string => n.toLocaleString('en')

/** Refuses a list, and names its wrong lines. */
const refused = (faults: readonly { line: number; fault: string }[], lines: number): AppError => {
  const errors = faults
    .slice(0, listedFaults)
    .map(({ line, fault }) => ({ field: 'body.text', message: `line ${number(line)} ${fault}` }))
  const count = faults.length === 1 ? '1 line is' : `${number(faults.length)} of ${number(lines)} lines are`
  const more = faults.length > listedFaults ? ` The first ${listedFaults} are listed.` : ''
  return new AppError('validation_failed', { detail: `${count} wrong, so nothing was added.${more}` }, { errors })
}

/**
 * Reads a list of devices. Returns the number of lines with a device, and the devices without repetitions. Throws an error
 * that names each wrong line.
 */
export const readSerialList = async (
  text: string,
  model: { vid: string; pid: string },
): Promise<{ lines: number; devices: ListedDevice[] }> => {
  const { header, batches } = await readCsv(Buffer.from(text))
  const devices = new Map<string, ListedDevice>()
  const faults: { line: number; fault: string }[] = []
  let columns: (Column | null)[] | null = null
  let isFirst = true
  let lines = 0
  const take = (record: CsvRecord): void => {
    if ('fault' in record) {
      isFirst = false
      lines++
      faults.push(record)
      return
    }
    const { line, cells } = record
    if (cells.every((cell) => cell.trim() === '')) return
    if (isFirst) {
      isFirst = false
      columns = headerOf(cells)
      if (columns !== null) return
    }
    lines++
    const read = readLine(line, cells, columns ?? columnsWithoutHeader[Math.min(cells.length, 4) - 1] ?? [], model)
    if (typeof read === 'string') faults.push({ line, fault: read })
    else {
      const key = `${read.vid}:${read.pid} ${serialKey(read.serial)}`
      if (!devices.has(key)) devices.set(key, read)
    }
  }
  if (header !== undefined) take(header)
  for await (const batch of batches) {
    for (const record of batch) take(record)
    if (lines > importedLines)
      throw invalid('body.text', `has more than ${number(importedLines)} lines; split the list`)
  }
  if (faults.length > 0) throw refused(faults, lines)
  if (devices.size === 0) throw invalid('body.text', 'has no device')
  return { lines, devices: [...devices.values()] }
}
