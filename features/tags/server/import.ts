import { isUtf8 } from 'node:buffer'
import { countText, mustExist } from '@portcullis/domain'
import { invalid } from '@portcullis/platform/server/app-error.ts'
import { undefuse } from '@portcullis/platform/server/csv.ts'
import { type CsvRecord, readCsv } from '@portcullis/platform/server/csv-records.ts'
import { type Queryable, Rollback, type Tx, transactionAgain } from '@portcullis/platform/server/db/db.ts'
import type { Actor } from '@portcullis/platform/server/http/actor.ts'
import { type ImportResult, maxImportErrors, type TaggedEntity, tagFileColumns } from '#features/contract.ts'
import { because, type HostTagChange } from './changes.ts'
import type { TagsContext } from './context.ts'
import { tagNameFault, tagNames } from './names.ts'
import { changesOf, elementId, parseElementId } from './tags.service.ts'
import { createTagsStore, type Element, type TagsStore } from './tags.store.ts'

/** Lines per transaction. Short enough not to delay check-ins that wait for an agent's row. */
const batchSize = 500
const maxTagsPerLine = 200

/** A line that sets the tags of an element. */
interface ElementLine {
  line: number
  entity: TaggedEntity
  element: Element
  tags: string[]
}
/** A line that creates tags only. */
type TagLine = Omit<ElementLine, 'entity' | 'element'> & { entity: 'Tag'; element: null }
type Line = ElementLine | TagLine

interface Columns {
  type: number
  identifier: number
  tags: number
}

const readHeader = (record: CsvRecord | undefined): Columns => {
  if (record === undefined || 'fault' in record)
    throw invalid('body.file', `must begin with the header ${tagFileColumns.join(',')}`)
  const names = record.cells.map((cell) => cell.trim().toLowerCase())
  const at = (name: (typeof tagFileColumns)[number]) => names.indexOf(name.toLowerCase())
  const known = new Set(tagFileColumns.map((column) => column.toLowerCase()))
  const unknown = names.find((name) => !known.has(name))
  if (unknown !== undefined)
    throw invalid(
      'body.file',
      `has the unknown column ${JSON.stringify(unknown.slice(0, 64))}; the columns are ${tagFileColumns.join(', ')}`,
    )
  const columns = { type: at('Type'), identifier: at('Identifier'), tags: at('Tags') }
  if (columns.type < 0 || columns.identifier < 0 || columns.tags < 0 || new Set(names).size < names.length)
    throw invalid('body.file', 'must have the columns Type, Identifier and Tags, each once')
  return columns
}

const kinds: ReadonlyMap<string, Line['entity']> = new Map([
  ['tag', 'Tag'],
  ['agent', 'Agent'],
  ['peripheral', 'Peripheral'],
])

/** Parses a line. Returns its data, or what is wrong with it. */
const readLine = (line: number, cells: readonly string[], columns: Columns): Line | string => {
  const cell = (at: number) => undefuse(cells[at] ?? '').trim()
  const entity = kinds.get(cell(columns.type).toLowerCase())
  if (entity === undefined) return 'Type must be Tag, Agent or Peripheral.'
  const tags = cell(columns.tags)
    .split(';')
    .map((tag) => tag.trim())
    .filter((tag) => tag !== '')
  for (const tag of tags) {
    const fault = tagNameFault(tag)
    if (fault !== null) return `Tag ${JSON.stringify(tag.slice(0, 80))} ${fault}.`
  }
  if (tags.length > maxTagsPerLine) return `More than ${maxTagsPerLine} tags.`
  if (entity === 'Tag')
    return tags.length === 0 ? 'A row of type Tag needs a tag.' : { line, entity, element: null, tags }
  const identifier = cell(columns.identifier)
  const element = identifier.includes('\u0000') ? null : parseElementId(entity, identifier)
  return element === null
    ? `The ${entity.toLowerCase()} ${identifier.slice(0, 100)} does not exist.`
    : { line, entity, element, tags }
}

type Outcome = { at: number; line: Line } | { at: number; line: null; fault: string }

/** Reads the lines of a file in batches. Each line has data or a fault. */
async function* readLines(bytes: Buffer): AsyncGenerator<Outcome[]> {
  const { header, batches } = readCsv(bytes)
  const columns = readHeader(header)
  for await (const records of batches)
    yield records.map((record): Outcome => {
      const read = 'fault' in record ? `The line ${record.fault}.` : readLine(record.line, record.cells, columns)
      return typeof read === 'string' ? { at: record.line, line: null, fault: read } : { at: record.line, line: read }
    })
}

/** Returns the last line of each agent, which is the effective one. */
const lastOfAgents = (lines: Iterable<Line>): Map<string, ElementLine> => {
  const last = new Map<string, ElementLine>()
  for (const line of lines) if (line.entity === 'Agent') last.set(line.element.agentId, line)
  return last
}

interface Options {
  isDry: boolean
  /** Reason of the change. Empty if none was given. */
  reason: string
}

export const createTagsImport = ({ db, audit, gate }: TagsContext) => {
  /** Sets the tags of one kind of element. Returns the lines whose element does not exist. */
  async function apply(store: TagsStore, entity: TaggedEntity, lines: readonly Line[]): Promise<ElementLine[]> {
    const own = lines.filter((line): line is ElementLine => line.entity === entity)
    if (own.length === 0) return []
    // The last line of an element applies.
    const byId = new Map(own.map((line) => [elementId(entity, line.element), line]))
    const elements = await store.lockExisting(
      entity,
      [...byId.values()].map((line) => line.element),
    )
    const present = new Set(elements.map((element) => elementId(entity, element)))
    const names = tagNames([...byId].filter(([id]) => present.has(id)).flatMap(([, line]) => line.tags))
    await store.create(names)
    const ids = new Map((await store.byFolded(names.map((name) => name.folded))).map((tag) => [tag.folded, tag.tag_id]))
    const pairs = elements.flatMap((element) =>
      tagNames(byId.get(elementId(entity, element))?.tags ?? []).map((name) => ({
        element,
        tagId: mustExist(ids.get(name.folded), 'the id of a tag'),
      })),
    )
    await store.setExactly(entity, elements, pairs)
    return own.filter((line) => !present.has(elementId(entity, line.element)))
  }

  /** Returns the tags that hosts gain and lose, and all tags that each will have. */
  async function settingOf(q: Queryable, lines: Iterable<Line>) {
    const last = lastOfAgents(lines)
    const agents = [...last.values()].map(({ element, tags }) => ({
      agentId: element.agentId,
      names: tagNames(tags),
    }))
    const changes: HostTagChange[] = changesOf(
      agents,
      await createTagsStore(q).ofAgents(agents.map(({ agentId }) => agentId)),
    )
    return { agents, changes }
  }

  /** Returns null if one person may allow devices on the hosts of these lines. */
  async function approve(tx: Tx, actor: Actor, lines: Iterable<Line>, reason: string): Promise<Rollback<never> | null> {
    const { agents, changes } = await settingOf(tx, lines)
    const moved = new Set(changes.flatMap(({ agentIds }) => agentIds ?? []))
    const order = agents
      .filter(({ agentId }) => moved.has(agentId))
      .map(({ agentId, names }) => ({ agentId, names: names.map(({ name }) => name) }))
    return gate.approve(tx, actor, changes, { op: 'set', agents: order, ...(reason === '' ? {} : { reason }) })
  }

  async function applyBatch(actor: Actor, lines: readonly Line[], { isDry, reason }: Options): Promise<ElementLine[]> {
    const outcome = await transactionAgain(db, async (tx) => {
      const store = createTagsStore(tx)
      const waits = isDry ? null : await approve(tx, actor, lines, reason)
      if (waits !== null) return waits
      await store.create(tagNames(lines.filter((line) => line.entity === 'Tag').flatMap((line) => line.tags)))
      const missing = [...(await apply(store, 'Agent', lines)), ...(await apply(store, 'Peripheral', lines))]
      if (missing.length < lines.length)
        await audit.write(tx, actor, {
          action: 'tags.imported',
          entity: 'tags',
          count: lines.length - missing.length,
          details: `${countText(lines.length - missing.length, 'line')}, from line ${lines[0]?.line} to ${lines.at(-1)?.line}${because(reason)}`,
        })
      // Applies the lines and rolls them back, so that the preview always matches the import.
      return isDry ? new Rollback(missing) : missing
    })
    return gate.settle<ElementLine[]>(actor, outcome)
  }

  async function lastOfFile(bytes: Buffer): Promise<Map<string, Line>> {
    const last = new Map<string, Line>()
    for await (const outcomes of readLines(bytes))
      for (const [agentId, line] of lastOfAgents(outcomes.flatMap(({ line }) => line ?? []))) last.set(agentId, line)
    return last
  }

  /**
   * Refuses a file that exceeds the limit for one person before storing any line. The batches are checked again,
   * because rules may change between them.
   */
  async function assertFileAlone(actor: Actor, bytes: Buffer, reason: string): Promise<void> {
    const last = await lastOfFile(bytes)
    if (last.size === 0) return
    // The batches count the hosts. Rolls back this count, so that no host counts twice.
    const outcome = await transactionAgain(
      db,
      async (tx) => (await approve(tx, actor, last.values(), reason)) ?? new Rollback(undefined),
    )
    await gate.settle<undefined>(actor, outcome)
  }

  /** Imports a file of `exporttags`: applies every valid line and reports every invalid one. */
  async function importFile(actor: Actor, bytes: Buffer, options: Options): Promise<ImportResult> {
    if (!isUtf8(bytes)) throw invalid('body.file', 'must be a CSV file in UTF-8')
    if (!options.isDry) await assertFileAlone(actor, bytes, options.reason)
    const result: ImportResult = { imported: 0, failed: 0, errors: [] }
    if (options.isDry) {
      const { changes } = await settingOf(db, (await lastOfFile(bytes)).values())
      result.newlyAllowed = await gate.measure(db, changes)
      result.worksAgain = await gate.worksAgain(db, changes)
    }
    function fail(line: number, message: string) {
      result.failed++
      if (result.errors.length < maxImportErrors) result.errors.push({ line, message })
    }
    let batch: Line[] = []
    async function flush() {
      if (batch.length === 0) return
      const missing = await applyBatch(actor, batch, options)
      for (const { line, entity, element } of missing)
        fail(line, `The ${entity.toLowerCase()} ${elementId(entity, element)} does not exist.`)
      result.imported += batch.length - missing.length
      batch = []
    }
    for await (const outcomes of readLines(bytes))
      for (const outcome of outcomes) {
        if (outcome.line === null) fail(outcome.at, outcome.fault)
        else batch.push(outcome.line)
        if (batch.length >= batchSize) await flush()
      }
    await flush()
    result.errors.sort((a, b) => a.line - b.line)
    return result
  }

  return { importFile }
}
