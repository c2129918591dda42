#!/usr/bin/env node
/**
 * Measures device recognition: `node proof/measure-devices.ts [records.json.gz] [--json FILE]`. Without records, it measures
 * the fixtures of the project. Records are a JSON array of records: `vid`, `pid`, `descriptors` (hex), `manufacturer`,
 * `product`, `serial`, `configuration`, `speed` (Mbit/s), `reports` (pairs of interface number and hex), `label` (the
 * kind) and `isTool`. Only the first three are required.
 */
import { parseArgs } from 'node:util'
import { fixtures, tools } from './devices/devices.ts'
import { measure, print } from './devices/measure.ts'
import { readRecords } from './devices/records.ts'
import { deviceResult } from './devices/result.ts'
import { writeResults } from './kit/run.ts'

const { values, positionals } = parseArgs({
  allowPositionals: true,
  // Nothing in the measurement is random, but every part of the proof gets a seed.
  options: { json: { type: 'string' }, seed: { type: 'string' } },
})
const [file] = positionals
const what = file === undefined ? 'fixtures' : 'records'
const measured = measure(file === undefined ? [...fixtures, ...tools] : readRecords(file))
print(what, measured)
if (values.json !== undefined)
  writeResults(values.json, [
    deviceResult(measured, `Evaluates the ${what} of devices.`, Math.round(performance.now()) / 1000),
  ])
