#!/usr/bin/env node
/**
 * Adds rows of genuine devices from recordings: `node scripts/add-genuine.ts <folder> [--source <text>] [--write]`.
 * Prints new devices and contradictions with existing rows. Stores them only with `--write`, and stores only facts: ids,
 * numbers and names. Does not copy recordings.
 */
import { readFileSync, writeFileSync } from 'node:fs'
import { parseArgs } from 'node:util'
import type { GenuineRow } from '@portcullis/domain'
import { conflictsOf, mergeRows, rowsOf } from './devices/genuine-rows.ts'
import { readRecordings } from './devices/recordings.ts'

const { values, positionals } = parseArgs({
  allowPositionals: true,
  options: { source: { type: 'string', default: '' }, write: { type: 'boolean', default: false } },
})
const [folder] = positionals
if (folder === undefined) {
  console.error('The folder is missing. Usage: node scripts/add-genuine.ts <folder> [--source <text>] [--write]')
  process.exit(2)
}
const file = new URL('../knowledge/genuine-descriptors.json', import.meta.url)
const usbIds = readFileSync(new URL('../knowledge/usb.ids', import.meta.url), 'utf8')
const known = JSON.parse(readFileSync(file, 'utf8')) as GenuineRow[]
const made = rowsOf(readRecordings(folder), usbIds, values.source)
for (const line of conflictsOf(known, made)) console.log(line)
const all = mergeRows(known, made)
console.log(`${made.length} models recorded, ${all.length - known.length} of them new, ${all.length} rows.`)
if (values.write) writeFileSync(file, `[\n${all.map((row) => `  ${JSON.stringify(row)}`).join(',\n')}\n]\n`)
