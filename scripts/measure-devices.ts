#!/usr/bin/env node
/**
 * Measures device recognition: `node scripts/measure-devices.ts [folder] [--json]`. The folder (or
 * PORTCULLIS_RECORDINGS) contains recordings of ordinary devices. Its file `labels.json` can define what a device is
 * (`{"046D:C31C": {"kind": "Keyboard", "isTool": false}}`). Without the folder, the measurement is incomplete.
 */
import { existsSync, readFileSync } from 'node:fs'
import { join } from 'node:path'
import { parseArgs } from 'node:util'
import type { DeviceReport } from '@portcullis/contract'
import { classify, createKnowledge, parseReport } from '@portcullis/domain'
import { fixtures } from './devices/fixtures.ts'
import { readRecordings } from './devices/recordings.ts'

const { values, positionals } = parseArgs({
  allowPositionals: true,
  options: { json: { type: 'boolean', default: false } },
})
const folder = positionals[0] ?? process.env.PORTCULLIS_RECORDINGS
const isComplete = folder !== undefined && existsSync(folder)

const read = (file: string): string => readFileSync(new URL(`../knowledge/${file}`, import.meta.url), 'utf8')
const knowledge = createKnowledge({
  version: JSON.parse(read('manifest.json')).version,
  usbIdsText: read('usb.ids'),
  attackTools: JSON.parse(read('attack-tools.json')),
  vulnerable: JSON.parse(read('vulnerable-peripherals.json')),
  genuine: JSON.parse(read('genuine-descriptors.json')),
  supplement: JSON.parse(read('vendor-supplement.json')),
  registries: JSON.parse(read('registries.json')),
})

interface Label {
  kind?: string
  isTool?: boolean
}

interface Judged extends Label {
  name: string
  found: string
  level: 'confirmed' | 'suspected' | null
  finding: string
}

const judge = (name: string, report: DeviceReport, label: Label): Judged => {
  const parsed = parseReport(report)
  const classes = classify(parsed, report, knowledge.productName(parsed.vid, parsed.pid) ?? '')
  const { attackTool } = knowledge.assess(parsed, report, classes.kinds)
  const finding = attackTool === null ? '' : `${attackTool.name}: ${attackTool.evidence.join('; ')}`
  return { ...label, name, found: classes.kind, level: attackTool?.level ?? null, finding }
}

const count = <T>(all: readonly T[], key: (one: T) => string): Record<string, number> => {
  const counts: Record<string, number> = {}
  for (const one of all) counts[key(one)] = (counts[key(one)] ?? 0) + 1
  return Object.fromEntries(Object.entries(counts).sort(([, a], [, b]) => b - a))
}

const share = (n: number, of: number): number => (of === 0 ? 0 : Math.round((n / of) * 10_000) / 10_000)

const measured = (all: readonly Judged[]) => {
  const ordinary = all.filter((one) => one.isTool !== true)
  const tools = all.filter((one) => one.isTool === true)
  const unknown = ordinary.filter((one) => one.found === 'Unknown')
  const at = (level: Judged['level']) => ordinary.filter((one) => one.level === level)
  const shown = (some: readonly Judged[]) =>
    some.map((one) => (one.finding === '' ? one.name : `${one.name}: ${one.finding}`))
  const labelled = all.filter((one) => one.kind !== undefined)
  return {
    devices: all.length,
    unknown: { n: unknown.length, share: share(unknown.length, ordinary.length), which: shown(unknown) },
    falseConfirmed: {
      n: at('confirmed').length,
      share: share(at('confirmed').length, ordinary.length),
      which: shown(at('confirmed')),
    },
    falseSuspected: {
      n: at('suspected').length,
      share: share(at('suspected').length, ordinary.length),
      which: shown(at('suspected')),
    },
    tools: tools.length,
    missedTools: shown(tools.filter((one) => one.level === null)),
    kinds: count(ordinary, (one) => one.found),
    wrongKinds: labelled
      .filter((one) => one.kind !== one.found)
      .map((one) => `${one.name}: ${one.kind} classified as ${one.found}`),
    confusion: count(labelled, (one) => `${one.kind} -> ${one.found}`),
  }
}

const labelsOf = (path: string): Record<string, Label> =>
  existsSync(path) ? (JSON.parse(readFileSync(path, 'utf8')) as Record<string, Label>) : {}

const ownDevices = fixtures.map(({ name, report, kind, isTool }) => judge(name, report, { kind, isTool }))
const recordedDevices = (): Judged[] => {
  if (!isComplete) return []
  const labels = labelsOf(join(folder, 'labels.json'))
  return readRecordings(folder).map(({ file, report }) => {
    const { vid, pid } = parseReport(report)
    return judge(`${vid}:${pid} ${report.product ?? ''} (${file})`, report, labels[`${vid}:${pid}`] ?? {})
  })
}

const result = {
  knowledge: knowledge.info.version,
  isComplete,
  fixtures: measured(ownDevices),
  recordings: isComplete ? measured(recordedDevices()) : null,
}

const print = (title: string, m: ReturnType<typeof measured>): void => {
  const percent = (value: number): string => `${(value * 100).toFixed(2)} %`
  console.log(`${title}: ${m.devices} devices`)
  console.log(`  unknown          ${m.unknown.n} (${percent(m.unknown.share)})`)
  console.log(`  false confirmed  ${m.falseConfirmed.n} (${percent(m.falseConfirmed.share)})`)
  console.log(`  false suspected  ${m.falseSuspected.n} (${percent(m.falseSuspected.share)})`)
  console.log(`  missed tools     ${m.missedTools.length} of ${m.tools}`)
  for (const line of [...m.falseConfirmed.which, ...m.falseSuspected.which, ...m.missedTools])
    console.log(`    ${line}`)
  for (const line of m.unknown.which) console.log(`    unknown: ${line}`)
  for (const [pair, n] of Object.entries(m.confusion)) console.log(`  ${String(n).padStart(5)}  ${pair}`)
  if (Object.keys(m.confusion).length === 0)
    for (const [kind, n] of Object.entries(m.kinds)) console.log(`  ${String(n).padStart(5)}  ${kind}`)
}

if (values.json) console.log(JSON.stringify(result, null, 2))
else {
  print('Own fixtures', result.fixtures)
  if (result.recordings === null)
    console.log('Recordings: not measured. Pass their folder as an argument, or set PORTCULLIS_RECORDINGS.')
  else print('Recordings', result.recordings)
}
