import { isUtf8 } from 'node:buffer'
import { cleanText, mustExist } from '@portcullis/domain'
import { AppError, invalid } from '@portcullis/platform/server/app-error.ts'
import { undefuse } from '@portcullis/platform/server/csv.ts'
import { type CsvRecord, readCsv } from '@portcullis/platform/server/csv-records.ts'
import { Rollback, type Tx, transactionAgain } from '@portcullis/platform/server/db/db.ts'
import type { Actor } from '@portcullis/platform/server/http/actor.ts'
import { Compile } from 'typebox/compile'
import { NeedsApprover } from '#features/change-requests/server/index.ts'
import {
  type ConnectionInput,
  ConnectionInput as ConnectionShape,
  pollInterval,
  type ResponseOf,
  type uploadConnections,
} from '#features/contract.ts'
import { because, tagNameFault } from '#features/tags/server/index.ts'
import { assertConnection, nameKey, overrides } from './connection.rules.ts'
import { type Connections, type HostTags, namesIn } from './connections.service.ts'
import { type ConnectionRow, createConnectionsStore } from './connections.store.ts'
import type { AgentlessContext } from './context.ts'

type Report = ResponseOf<typeof uploadConnections>
type Outcome = Report['lines'][number]['outcome']

const columnNames = [
  'ComputerName',
  'Port',
  'Platform',
  'UserName',
  'Password',
  'PrivateKey',
  'IntervalMinutes',
  'Tags',
] as const
type ColumnName = (typeof columnNames)[number]

const batchSize = 500
const listedErrors = 1_000
const listedLines = 200
const shape = Compile(ConnectionShape)

const readHeader = (record: CsvRecord | undefined): Map<ColumnName, number> => {
  const wanted = `the columns ${columnNames.join(', ')}; ComputerName is required`
  if (record === undefined || 'fault' in record) throw invalid('body.file', `must begin with a header of ${wanted}`)
  const found = new Map<ColumnName, number>()
  for (const [at, cell] of record.cells.entries()) {
    const name = columnNames.find((one) => one.toLowerCase() === cell.trim().toLowerCase())
    if (name === undefined)
      // The message omits the cell: a file without a header begins with a computer and its password.
      throw invalid('body.file', `has an unknown name in column ${at + 1} of its header; valid are ${wanted}`)
    if (found.has(name)) throw invalid('body.file', `has the column ${name} twice`)
    found.set(name, at)
  }
  if (!found.has('ComputerName')) throw invalid('body.file', `must have ${wanted}`)
  return found
}

/** Returns the faults of a line, by its columns. */
const faultOf = (error: AppError): string =>
  error.errors.map(({ field, message }) => `${field.replace(/^\./, '')} ${message}.`).join(' ') || error.message

/** Messages for numbers out of range. */
const ranges: Readonly<Record<string, string>> = {
  port: 'port is not a whole number from 1 to 65,535.',
  intervalMinutes: `intervalMinutes is not a whole number from ${pollInterval.min} to ${pollInterval.max.toLocaleString('en')}.`,
}

/** Returns the computer name of an invalid line, so that people find the line in the file. */
const nameIn = (cells: readonly string[], columns: ReadonlyMap<ColumnName, number>): string =>
  cleanText(undefuse(cells[columns.get('ComputerName') ?? -1] ?? ''), 255)

/**
 * Parses a line to a connection or its fault; an empty cell counts as absent. Without `withFault`, it does not search
 * for the fault, because that takes 18 µs and much memory. A file of 190,000 such lines would take 3.5 s and 300 MB.
 */
const readLine = (
  cells: readonly string[],
  columns: ReadonlyMap<ColumnName, number>,
  withFault: boolean,
): ConnectionInput | string => {
  if (cells.length > columns.size)
    return `The line has ${cells.length} cells, but the header has ${columns.size}. Put cells that contain a comma in quotes.`
  if (cells[columns.get('ComputerName') ?? -1]?.trim().toLowerCase() === 'computername')
    return 'The line is a second header.'
  // Secrets are used as written. In other cells, a spreadsheet may have inserted an apostrophe.
  const raw = (name: ColumnName): string => cells[columns.get(name) ?? -1] ?? ''
  const cell = (name: ColumnName): string => undefuse(raw(name)).trim()
  const number = (name: ColumnName) =>
    cell(name) === '' ? {} : /^\d{1,9}$/.test(cell(name)) ? Number(cell(name)) : Number.NaN
  const port = number('Port')
  const interval = number('IntervalMinutes')
  const input = {
    computerName: cell('ComputerName'),
    ...(typeof port === 'number' ? { port } : {}),
    ...(cell('Platform') === '' ? {} : { platform: cell('Platform').toLowerCase() }),
    ...(cell('UserName') === '' ? {} : { userName: cell('UserName') }),
    ...(raw('Password') === '' ? {} : { password: raw('Password') }),
    ...(raw('PrivateKey').trim() === '' ? {} : { privateKey: raw('PrivateKey').replaceAll('\\n', '\n') }),
    ...(typeof interval === 'number' ? { intervalMinutes: interval } : {}),
    ...(cell('Tags') === ''
      ? {}
      : {
          hashtags: cell('Tags')
            .split(';')
            .map((tag) => tag.trim())
            .filter((tag) => tag !== ''),
        }),
  }
  if (!shape.Check(input)) {
    if (!withFault) return ''
    const [fault] = shape.Errors(input)
    const member = fault?.instancePath.split('/')[1] ?? ''
    return ranges[member] ?? `${member === '' ? 'The line' : member} ${fault?.message ?? 'is not valid'}.`
  }
  const badTag = (input.hashtags ?? []).map((tag) => tagNameFault(tag)).find((fault) => fault !== null)
  if (badTag !== undefined) return `A tag ${badTag}.`
  try {
    assertConnection(input, '')
  } catch (error) {
    if (!(error instanceof AppError)) throw error
    return faultOf(error)
  }
  return input
}

interface NumberedInput {
  line: number
  input: ConnectionInput
}

interface Noted {
  outcome: Outcome
  message: string
}
type Outcomes = Map<number, Noted>

/** The lines that were stored in a transaction. */
interface Applied {
  outcomes: Outcomes
  /** Tags of hosts, which are set for all lines at once. */
  tagged: HostTags[]
  /** Writes the audit record after the tags: they lock hosts, and the audit trail is locked last. */
  record(reason: string): Promise<void>
}

interface Options {
  dryRun: boolean
  /** The reason; empty if none was given. */
  reason: string
}

const waits = 'The tags in this file need a second approver. Upload the file again after request {id} is approved.'

/** Imports a file of connections: stores every valid line and reports every invalid one. */
export const createUpload = ({ db, clock, tags, audit }: AgentlessContext, connections: Connections) => {
  const store = createConnectionsStore()
  /** Returns whether a line requests no change of an existing connection. */
  const isUnchanged = (row: ConnectionRow, next: ConnectionRow, input: ConnectionInput): boolean =>
    input.password === undefined &&
    input.privateKey === undefined &&
    JSON.stringify({ ...row, password: 0, private_key: 0, passphrase: 0 }) ===
      JSON.stringify({ ...next, password: 0, private_key: 0, passphrase: 0 })

  async function apply(tx: Tx, actor: Actor, lines: readonly NumberedInput[]): Promise<Applied> {
    const outcomes: Outcomes = new Map()
    const tagged: HostTags[] = []
    const keys = lines.map(({ input }) => nameKey(input.computerName))
    const rows = new Map((await store.lockByKeys(tx, keys)).map((row) => [row.name_key, row]))
    await tags.ensureTags(tx, [...new Set(lines.flatMap(({ input }) => input.hashtags ?? []))])
    const added = lines.filter(({ input }) => !rows.has(nameKey(input.computerName)))
    await store.insert(
      tx,
      new Date(clock.now()),
      added.map(({ input }) => connections.fresh(actor, input)),
    )
    for (const { line } of added) outcomes.set(line, { outcome: 'added', message: '' })
    let updated = 0
    for (const { line, input } of lines) {
      const row = rows.get(nameKey(input.computerName))
      if (row === undefined) continue
      try {
        const next = connections.changed(actor, row, input, row.computer_name)
        if (isUnchanged(row, next, input)) {
          outcomes.set(line, { outcome: 'unchanged', message: '' })
          continue
        }
        connections.assertSecretsMayStay(row, next, input, '')
        tagged.push(...(await connections.write(tx, row, next)))
        updated++
        outcomes.set(line, { outcome: 'updated', message: '' })
      } catch (error) {
        if (!(error instanceof AppError) || error.code !== 'validation_failed') throw error
        outcomes.set(line, { outcome: 'failed', message: faultOf(error) })
      }
    }
    async function record(reason: string): Promise<void> {
      if (added.length + updated === 0) return
      await audit.write(tx, actor, {
        action: 'connections.imported',
        entity: `${added.length + updated} connections`,
        count: added.length + updated,
        details: [
          `${added.length} added, ${updated} changed, lines ${lines[0]?.line} to ${lines.at(-1)?.line}`,
          `overriding the default credentials: ${lines.filter(({ input }) => overrides(input) === true).length}`,
          namesIn(
            lines
              .filter(({ line }) => outcomes.get(line)?.outcome !== 'unchanged')
              .map(({ input }) => input.computerName),
          ),
        ]
          .join('; ')
          .concat(because(reason)),
      })
    }
    return { outcomes, tagged, record }
  }

  /**
   * Stores all valid lines in one transaction. If their tags need a second approver, stores one request for all of them
   * and refuses the file.
   */
  async function carryOut(
    actor: Actor,
    lines: readonly NumberedInput[],
    { dryRun, reason }: Options,
  ): Promise<{
    outcomes: Outcomes
    secondPerson: boolean
    opened: Partial<Pick<Report, 'newlyAllowed' | 'worksAgain'>>
  }> {
    const outcomes: Outcomes = new Map()
    let opened: Partial<Pick<Report, 'newlyAllowed' | 'worksAgain'>> = {}
    const outcome = await transactionAgain(db, async (tx) => {
      const applied: Applied[] = []
      for (let at = 0; at < lines.length; at += batchSize)
        applied.push(await apply(tx, actor, lines.slice(at, at + batchSize)))
      for (const one of applied) for (const [line, outcome] of one.outcomes) outcomes.set(line, outcome)
      const tagged = applied.flatMap((one) => one.tagged)
      if (dryRun) opened = await tags.measureAgentTags(tx, tagged)
      const refused = await tags.setAgentTags(tx, actor, tagged, reason)
      if (!dryRun && refused !== null)
        return refused instanceof NeedsApprover ? new NeedsApprover({ ...refused.proposed, detail: waits }) : refused
      for (const { record } of applied) await record(reason)
      const done = { secondPerson: refused !== null }
      // The preview runs the upload and rolls it back, so that it always matches.
      return dryRun ? new Rollback(done) : done
    })
    const { secondPerson } = await tags.settle<{ secondPerson: boolean }>(actor, outcome)
    return { outcomes, secondPerson, opened }
  }

  return async (actor: Actor, bytes: Buffer, options: Options): Promise<Report> => {
    if (!isUtf8(bytes)) throw invalid('body.file', 'must be a CSV file in UTF-8')
    const { header, batches } = readCsv(bytes)
    const columns = readHeader(header)
    const report: Report = { added: 0, updated: 0, failed: 0, errors: [], lines: [], secondPerson: false }
    function note(line: number, computerName: string, outcome: Outcome, message: string): void {
      if (outcome === 'added') report.added++
      if (outcome === 'updated') report.updated++
      if (outcome === 'failed') {
        report.failed++
        if (faults.length < listedErrors) report.errors.push({ line, message })
      }
      if (report.lines.length < listedLines) report.lines.push({ line, computerName, outcome, message })
    }
    const seen = new Map<string, number>()
    const good: NumberedInput[] = []
    const faults: { line: number; name: string; fault: string }[] = []
    for await (const records of batches)
      for (const record of records) {
        const read =
          'fault' in record
            ? `The line ${record.fault}.`
            : readLine(record.cells, columns, faults.length < listedErrors)
        if (typeof read === 'string') {
          faults.push({ line: record.line, name: 'fault' in record ? '' : nameIn(record.cells, columns), fault: read })
          continue
        }
        const key = nameKey(read.computerName)
        const before = seen.get(key)
        if (before !== undefined) {
          const fault = `Line ${before} already contains this computer.`
          faults.push({ line: record.line, name: read.computerName, fault })
          continue
        }
        seen.set(key, record.line)
        good.push({ line: record.line, input: read })
      }
    const { outcomes, secondPerson, opened } = await carryOut(actor, good, options)
    report.secondPerson = secondPerson
    Object.assign(report, opened)
    const notes = [
      ...faults.map(({ line, name, fault }) => ({ line, name, outcome: 'failed' as const, message: fault })),
      ...good.map(({ line, input }) => ({
        line,
        name: input.computerName,
        ...mustExist(outcomes.get(line), 'the outcome of a line'),
      })),
    ]
    for (const { line, name, outcome, message } of notes.sort((a, b) => a.line - b.line))
      note(line, name, outcome, message)
    return report
  }
}
