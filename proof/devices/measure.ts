import { readFileSync } from 'node:fs'
import { classify, createKnowledge, parseReport } from '@portcullis/domain'
import { type DeviceReport, icons } from '@portcullis/features/contract.ts'

/** A device with the truth about it. */
export interface Fixture {
  name: string
  report: DeviceReport
  /** The kind, if known. A text that is not a kind of the product is not compared. */
  kind: string | undefined
  isTool: boolean
}

interface Evaluated extends Fixture {
  found: string
  kinds: readonly string[]
  level: 'confirmed' | 'suspected' | null
  finding: string
}

const read = (file: string): string => readFileSync(new URL(`../../knowledge/${file}`, import.meta.url), 'utf8')
const knowledge = createKnowledge({
  version: JSON.parse(read('manifest.json')).version,
  usbIdsText: read('usb.ids'),
  attackTools: JSON.parse(read('attack-tools.json')),
  vulnerable: JSON.parse(read('vulnerable-peripherals.json')),
  genuine: JSON.parse(read('genuine-descriptors.json')),
  supplement: JSON.parse(read('vendor-supplement.json')),
  registries: JSON.parse(read('registries.json')),
})

const evaluate = (fixture: Fixture): Evaluated => {
  const { report } = fixture
  const parsed = parseReport(report)
  const { kind: found, kinds } = classify(parsed, report, knowledge.productName(parsed.vid, parsed.pid) ?? '')
  const { attackTool } = knowledge.assess(parsed, report, kinds)
  const finding = attackTool === null ? '' : `${attackTool.name}: ${attackTool.evidence.join('; ')}`
  return { ...fixture, found, kinds, level: attackTool?.level ?? null, finding }
}

const share = (n: number, of: number): number => (of === 0 ? 0 : Math.round((n / of) * 10_000) / 10_000)
const known: ReadonlySet<string> = new Set(Object.values(icons))

/** Counts findings about ordinary devices, tools without a finding, and kinds. */
export const measure = (fixtures: readonly Fixture[]) => {
  const all = fixtures.map(evaluate)
  const ordinary = all.filter((one) => !one.isTool)
  const tools = all.filter((one) => one.isTool)
  const labelled = ordinary.filter((one) => known.has(one.kind ?? ''))
  const counted = (some: readonly Evaluated[], of: readonly Evaluated[]) => ({
    n: some.length,
    share: share(some.length, of.length),
    which: some.map((one) => {
      const kind =
        one.kind === undefined || one.kind === one.found ? '' : ` (${one.kind} shown as ${one.kinds.join(', ')})`
      return `${one.name}${kind}${one.finding === '' ? '' : `: ${one.finding}`}`
    }),
  })
  const wrong = labelled.filter((one) => one.kind !== one.found && one.found !== 'Unknown')
  return {
    ordinary: ordinary.length,
    falseConfirmed: counted(
      ordinary.filter((one) => one.level === 'confirmed'),
      ordinary,
    ),
    falseSuspected: counted(
      ordinary.filter((one) => one.level === 'suspected'),
      ordinary,
    ),
    labelled: labelled.length,
    wrongKinds: counted(
      wrong.filter((one) => !one.kinds.includes(one.kind ?? '')),
      labelled,
    ),
    partlyWrongKinds: counted(
      wrong.filter((one) => one.kinds.includes(one.kind ?? '')),
      labelled,
    ),
    modemsShownAsPhone: counted(
      labelled.filter((one) => one.kind === 'Modem' && one.found === 'Phone'),
      labelled,
    ),
    unknown: counted(
      ordinary.filter((one) => one.found === 'Unknown'),
      ordinary,
    ),
    tools: tools.length,
    toolsConfirmed: tools.filter((one) => one.level === 'confirmed').length,
    missedTools: counted(
      tools.filter((one) => one.level === null),
      tools,
    ),
  }
}

/** Prints a measurement for people. */
export const print = (title: string, measured: ReturnType<typeof measure>): void => {
  console.log(title)
  for (const [key, value] of Object.entries(measured)) {
    const name = key.replaceAll(/[A-Z]/g, (letter) => ` ${letter.toLowerCase()}`)
    if (typeof value === 'number') console.log(`  ${name}: ${value}`)
    else {
      console.log(`  ${name}: ${value.n} (${(value.share * 100).toFixed(1)} %)`)
      for (const line of value.which) console.log(`    ${line}`)
    }
  }
}
