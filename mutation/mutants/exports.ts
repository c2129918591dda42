import type { Mutant } from '../mutant.ts'

const exports = 'server/src/features/outbound/exports'
const platform = 'server/src/platform'
const reports = 'server/src/features/outbound/reports'
const csv = { file: `${platform}/csv.ts`, test: `${platform}/csv.test.ts` }
const copied = { file: `${platform}/db/copy-out.ts`, test: `${platform}/db/copy-out.test.ts` }
const csvOfLists = { file: `${platform}/csv.ts`, test: `${exports}/exports.test.ts` }
const records = { file: `${platform}/csv-records.ts`, test: `${platform}/csv.test.ts` }
const stream = { file: `${platform}/list/stream.ts`, test: `${platform}/list/stream.test.ts` }
const list = { file: `${platform}/list/list.ts`, test: `${platform}/list/lists.test.ts` }
const request = { file: `${exports}/export-request.ts`, test: `${exports}/exports.test.ts` }
const words = { file: `${exports}/filter-labels.ts`, test: `${exports}/exports.pdf.test.ts` }
const files = { file: `${exports}/files.service.ts`, test: `${reports}/reports.lists.test.ts` }
const computed = { file: `${exports}/computed-lists.ts`, test: `${exports}/computed-lists.test.ts` }
const counted = { file: `${exports}/counted-rows.ts`, test: `${reports}/reports.lists.test.ts` }
const service = { file: `${exports}/exports.service.ts`, test: `${exports}/exports.pdf.test.ts` }
const read = { file: `${exports}/exports.read.ts`, test: `${reports}/reports.lists.test.ts` }
const visible = { file: `${exports}/pdf/visible-text.ts`, test: `${exports}/pdf/type.test.ts` }
const direction = { file: `${exports}/pdf/direction.ts`, test: `${exports}/pdf/type.test.ts` }
const cadence = { file: `${reports}/cadence.ts`, test: `${reports}/cadence.test.ts` }

export const exportsMutants: readonly Mutant[] = [
  {
    ...csv,
    does: 'A formula after an apostrophe is changed by an export and import',
    find: 'before + apostrophes.slice(1))',
    replace: 'before)',
  },
  {
    ...csv,
    does: 'A full-width equals sign runs as a formula',
    find: "'[=+\\\\-@＝＋－＠]'",
    replace: "'[=+\\\\-@＋－＠]'",
  },
  {
    ...csv,
    does: 'A formula after a semicolon runs',
    find: '((?:^|[,;|',
    replace: '((?:^|[,|',
  },
  {
    ...csv,
    does: 'A formula in quotes runs',
    find: `'[ "`,
    replace: "'[ ",
  },
  {
    ...copied,
    does: 'The first row of a list gets a separator',
    find: 'this.#isRow && this.#rows++ > 0',
    replace: 'this.#isRow && this.#rows++ >= 0',
  },
  {
    ...copied,
    does: 'The first read of a message that arrives in two parts ends its row',
    find: 'const isWhole = this.#left === 0',
    replace: 'const isWhole = true',
  },
  {
    ...csvOfLists,
    does: 'A formula with a full-width sign runs in an export',
    find: '|\\xef\\xbc[\\x9d\\x8b\\x8d\\xa0]',
    replace: '',
    named: 'prefixes only formulas',
  },
  {
    ...csvOfLists,
    does: 'A row that arrives in two parts is not checked as a whole',
    file: `${platform}/db/copy-out.ts`,
    find: 'Buffer.concat([this.#part, part]))',
    replace: 'part)',
    named: 'prefixes only formulas',
  },
  {
    ...csvOfLists,
    does: 'Spreadsheets do not read the file as UTF-8',
    find: '`${bom}${headings',
    replace: '`${headings',
    named: 'is RFC 4180',
  },
  {
    ...records,
    does: 'An open quote swallows the rest of an imported file',
    find: 'return { cells, next: end < 0 ? bytes.length : end + 1, fault: text }',
    replace: 'return { cells, next: Math.max(bound, end + 1), fault: text }',
    named: 'continues after an invalid line',
  },
  {
    ...records,
    does: 'Errors after a multi-line cell name the wrong line',
    find: 'line += linesIn(bytes, at, next)',
    replace: 'line += 1',
  },
  {
    ...records,
    does: 'Two quotes inside a cell stay two',
    find: ".replaceAll('\"\"', '\"')",
    replace: '',
  },
  {
    ...records,
    does: 'A file that contains only errors blocks the server',
    find: 'if (fault !== null && ++faults >= maxFaults) {',
    replace: 'if (fault !== null && ++faults >= 100 * maxFaults) {',
    named: 'limits a record and the number of faults',
  },
  {
    ...records,
    does: 'A large import blocks all other requests',
    find: '      await yieldToOthers()\n',
    replace: '      if (looked > 0) await yieldToOthers()\n',
    named: 'yields to the event loop',
  },
  {
    ...stream,
    does: 'A list value with a quote or backslash breaks the filter of an export',
    find: ".replace(/[\"\\\\]/g, '\\\\$&')",
    replace: '',
    test: `${exports}/exports.test.ts`,
    named: 'finds tags in any spelling',
  },
  {
    ...copied,
    does: 'The answer after the rows never reaches the driver',
    find: 'if (rest.length > 0) toDriver(rest)',
    replace: '',
  },
  {
    ...stream,
    does: 'A large page is counted with the filter of the whole list',
    find: 'const filtered = await countOf(client, statements.filtered)',
    replace: 'const filtered = await countOf(client, statements.total)',
  },
  {
    ...stream,
    file: `${platform}/body.ts`,
    does: 'A briefly slow reader is disconnected',
    find: "this.#timer = setTimeout(() => this.destroy(new Error('the client stopped reading')), stallMs).unref()",
    replace: "this.#timer = setTimeout(() => this.destroy(new Error('the client stopped reading')), 1).unref()",
    test: `${exports}/exports.reading.test.ts`,
  },
  {
    file: `${exports}/exportable-list.ts`,
    test: `${exports}/exports.test.ts`,
    does: 'A host name runs as a formula in an export',
    find: "isText: kind === 'text'",
    replace: "isText: key === 'hashtags'",
    named: 'prefixes only formulas',
  },
  {
    ...list,
    does: 'A new host is on the page, but not in its count',
    find: 'rows.length < limit ? end : Math.max(filtered, end)',
    replace: 'rows.length < limit ? filtered : Math.max(filtered, end)',
    named: 'is on the page at once',
  },
  {
    ...list,
    does: 'The second page repeats the last row of the first',
    find: '(((query.PageNumber as number | undefined) ?? 1) - 1) * limit',
    replace: 'Math.max(0, (((query.PageNumber as number | undefined) ?? 1) - 1) * limit - 1)',
    named: 'pages of any size',
  },
  {
    ...list,
    does: 'The list of one host counts the devices of all hosts',
    find: "scope === undefined ? (spec.total ?? countStatement(from, raw('true'))) : countStatement(from, scope)",
    replace: "spec.total ?? countStatement(from, raw('true'))",
    named: 'of one host contains only the peripherals of that host',
  },
  {
    ...request,
    does: 'An export names a column twice',
    find: 'if (chosen.has(column))',
    replace: 'if (chosen.size > list.columns.length)',
    named: 'and names the member',
  },
  {
    ...request,
    does: 'An export has the columns in the order of the list instead of the requested order',
    find: '  return [...chosen]\n',
    replace: '  return list.columns.filter((column) => chosen.has(column))\n',
    named: 'has the requested columns in the requested order',
  },
  {
    ...request,
    does: 'An export refuses the body of its list, because it has paging',
    find: 'const { form: _form, columns, pageNumber: _pageNumber, pageSize: _pageSize, ...query } = body ?? {}',
    replace: 'const { form: _form, columns, ...query } = body ?? {}',
    named: 'has every row although',
  },
  {
    ...request,
    does: 'An export is not in the order of the list',
    find: 'Object.fromEntries(given.map(({ name, value })',
    replace: "Object.fromEntries(given.filter(({ name }) => name !== 'sortBy').map(({ name, value })",
    named: 'returns the rows of the list in their order',
  },
  {
    ...words,
    does: 'The cover of a PDF says that it holds all rows although a filter was given',
    find: "filters.length === 0 ? 'All rows'",
    replace: "filters.length <= 1 ? 'All rows'",
    named: 'describes its content',
  },
  {
    ...service,
    does: 'A PDF of 10,001 rows is truncated without a note',
    find: 'if (rows > maxPdfRows) throw tooLarge(list, format(rows))',
    replace: 'if (rows > 2 * maxPdfRows) throw tooLarge(list, format(rows))',
    named: 'of more than 10,000 rows',
  },
  {
    ...files,
    does: 'A report takes a filter that its list does not have',
    find: 'if (!known.includes(name))',
    replace: 'if (known.length === 0)',
    test: `${reports}/reports.test.ts`,
    named: 'and the member is named',
  },
  {
    ...files,
    does: 'A report of attack tools holds all devices',
    find: '{ ...content.filter, ...list.fixed, sortBy',
    replace: '{ ...content.filter, sortBy',
    named: 'contains no other devices',
  },
  {
    ...files,
    does: 'A report of the last day holds the rows of all days',
    find: 'range === null || list.time === undefined\n',
    replace: "range === null || list.time !== ''\n",
    named: 'a range has the rows of that range',
  },
  {
    ...read,
    does: 'Detached devices count as unapproved in the export of models',
    find: 'where p.unapproved and p.present group by',
    replace: 'where p.present group by',
    test: `${exports}/exports.test.ts`,
    named: 'with the number of approved devices',
  },
  {
    ...computed,
    does: 'A host name runs as a formula in an insight export',
    find: 'isText === true ? defuse(text) : text',
    replace: 'isText === true ? text : text',
  },
  {
    ...computed,
    file: `${platform}/csv.ts`,
    does: 'A comma in a name shifts the cells of its row',
    find: '/[",\\r\\n]/.test(text)',
    replace: '/["\\r\\n]/.test(text)',
  },
  {
    ...counted,
    does: 'The history of a report counts the lines of a cell as rows',
    find: "if (byte === quote && kind === 'csv') isQuoted = !isQuoted",
    replace: "if (byte === quote && kind === 'csv') isQuoted = false",
  },
  {
    ...counted,
    does: 'The history of a report counts the header as a row',
    find: "let rows = kind === 'csv' ? -1 : 0",
    replace: 'let rows = 0',
    test: `${reports}/reports.test.ts`,
    named: 'makes the file of its list',
  },
  {
    ...visible,
    does: 'A bidirectional control character reverses a name in a PDF',
    find: '/[\\p{C}\\p{Zl}',
    replace: '/[\\p{Cc}\\p{Zl}',
  },
  {
    ...visible,
    does: 'Combining marks of one letter draw over other rows',
    find: 'const combiningAllowed = 3',
    replace: 'const combiningAllowed = 30',
  },
  {
    ...visible,
    does: 'Characters that a font cannot draw are dropped without a placeholder',
    find: '!hidden.test(character) && has(codePoint)',
    replace: '!hidden.test(character)',
  },
  {
    ...direction,
    does: 'Numbers in Arabic text are drawn backwards',
    find: "  if (digit.test(character)) return 'D'\n",
    replace: '',
  },
  {
    ...direction,
    does: 'Brackets in Hebrew text point outwards',
    find: "'(': ')',",
    replace: '',
  },
  {
    ...cadence,
    does: 'A schedule that just ran runs again at once',
    find: 'if (at > after) return at',
    replace: 'if (at >= after) return at',
  },
  {
    ...cadence,
    does: 'A weekly report falls on its day in UTC',
    find: 'for (let day = dayOf(wallOf(after, cadence.timeZone));',
    replace: 'for (let day = dayOf(after);',
  },
  {
    ...cadence,
    does: 'A monthly report on the 31st is skipped in short months',
    find: 'date.getUTCDate() === Math.min(cadence.day ?? 1, daysOfMonth(date.getUTCFullYear(), date.getUTCMonth()))',
    replace: 'date.getUTCDate() === (cadence.day ?? 1)',
    named: 'fall on the last day of a shorter month',
  },
  {
    ...cadence,
    does: 'A weekly report runs a day early',
    find: '(date.getUTCDay() || 7) === cadence.weekday',
    replace: 'date.getUTCDay() + 1 === cadence.weekday',
    named: 'at the day and time of the zone',
  },
  {
    ...cadence,
    does: 'The range of a day is 24 hours at a clock change',
    find: "return instantOf(day + time - (range === 'week' ? 7 : 1) * dayMs, zone)",
    replace: "return to - (range === 'week' ? 7 : 1) * dayMs",
    named: 'is a day, week or month',
  },
  {
    ...cadence,
    does: 'A server that was down runs a report once for each missed time',
    find: '    at = next\n    missed++',
    replace: '    missed++',
    named: 'runs once, for the newest',
  },
]
