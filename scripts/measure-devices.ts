#!/usr/bin/env node
/**
 * Measures device recognition: `node scripts/measure-devices.ts [records.json.gz] [--json]`. Without a file, it measures
 * the fixtures of the project. A file contains a JSON array of records: `vid`, `pid`, `descriptors` (hex), `manufacturer`,
 * `product`, `serial`, `configuration`, `speed` (Mbit/s), `reports` (pairs of interface number and hex), `label` (the
 * kind) and `isTool`. Only the first three are required.
 */
import { parseArgs } from 'node:util'
import { fixtures } from './devices/fixtures.ts'
import { measure, print } from './devices/measure.ts'
import { readRecords } from './devices/records.ts'
import { tools } from './devices/tools.ts'

const { values, positionals } = parseArgs({
  allowPositionals: true,
  options: { json: { type: 'boolean', default: false } },
})
const [file] = positionals
const name = file === undefined ? 'fixtures' : 'records'
const measured = measure(file === undefined ? [...fixtures, ...tools] : readRecords(file))
if (values.json) console.log(JSON.stringify({ [name]: measured }, null, 2))
else print(name, measured)
