import { createHash } from 'node:crypto'
import { mkdirSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { dirname, join } from 'node:path'
import { expect, it } from 'vitest'
import { fromRoot, root } from '../rig/root.ts'
import { applyChanges, type Bars, grouped, missingRows, readChanges } from './proof/ledger.ts'
import { readBars } from './proof/read-bars.ts'

const startText = readFileSync(fromRoot('docs/proof/bars-start.json'), 'utf8')
const recorded = applyChanges(
  JSON.parse(startText) as Bars,
  readChanges(readFileSync(fromRoot('docs/proof/bars.md'), 'utf8')),
)

/** Reads the bars of a checkout with only these files. */
const barsOf = (files: Readonly<Record<string, string>>) => {
  const folder = mkdtempSync(join(tmpdir(), 'portcullis-bars-'))
  try {
    for (const name of ['bench', 'drill', 'gate', 'rig']) mkdirSync(join(folder, name))
    for (const [path, text] of Object.entries(files)) {
      mkdirSync(dirname(join(folder, path)), { recursive: true })
      writeFileSync(join(folder, path), text)
    }
    return readBars(folder)
  } finally {
    rmSync(folder, { recursive: true, force: true })
  }
}

const check = (body: string): string =>
  `export const one: Check = { name: 'D1', what: 'It.', run: async ({ isQuick }) => { ${body} } }`

it('has a row in docs/proof/bars.md for every changed bar', () => {
  expect(recorded.faults).toEqual([])
  expect(missingRows(recorded.bars, grouped(readBars(root)))).toEqual([])
})

it('keeps the initial list unchanged', () => {
  expect(createHash('sha256').update(startText).digest('hex')).toBe(
    '75e5e5399bb6291ce3eb1ed5940cdd639502c724750fe3b42e4e496922c93ecb',
  )
})

it('reduces only amounts of work in the short form, under different names', () => {
  const lowered = readBars(root).filter(
    ({ isShortened, isAmount, bar }) => isShortened && (!isAmount || bar.startsWith('<=')),
  )
  // Callers pass these counts.
  expect(lowered.map(({ check, figure }) => `${check}: ${figure}`)).toEqual([])
})

it('resolves constants in bars, including imported ones', () => {
  const bars = barsOf({
    'rig/limits.ts': 'export const most = 5 * 2',
    'drill/d1.ts': `import { most } from '../rig/limits.ts'
      const few = 3
      ${check(`const kills = isQuick ? 6 : 200
        return { findings: [
          { what: 'lost', value: 1, atMost: most },
          { what: amount(isQuick, 'kills'), value: kills, atLeast: kills },
          { what: 'few', value: 1, ...(isQuick ? {} : { atMost: few + 1 }) },
          { what: 'told', value: 1 },
        ] }`)}`,
  })
  expect(bars.map(({ check, figure, bar, isAmount }) => [check, figure, bar, isAmount])).toEqual([
    ['drill D1', 'few', '<= 4', false],
    ['drill D1', 'kills', '>= (isQuick ? 6 : 200)', true],
    ['drill D1', 'lost', '<= 10', false],
  ])
})

it('finds the callers that pass a bar', () => {
  const bars = barsOf({
    'gate/uploads.ts': `const costs = (what: string, most: number) => [{ what: \`grown by \${what}\`, value: 1, atMost: most }]
      export const all = [...costs('bombs', 50), ...costs('files', 32 + 82)]`,
  })
  expect(bars.map(({ figure, bar }) => `${figure} ${bar}`)).toEqual([
    'costs: bombs (most) 50',
    'costs: files (most) 114',
    'grown by {what} <= most',
  ])
})

it('detects a weaker bar in the short form', () => {
  const [bar] = barsOf({
    'drill/d1.ts': check(`return { findings: [{ what: 'p99', value: 1, atMost: isQuick ? 1_000 : 250 }] }`),
  })
  expect([bar?.isShortened, bar?.isAmount]).toEqual([true, false])
})

it('detects a bar that the short form does not have', () => {
  const bars = barsOf({
    'drill/d1.ts': check(`return { findings: [
      { what: 'p99', value: 1, ...(isQuick ? {} : { atMost: 250 }) },
      ...(isQuick ? [] : [{ what: 'lost', value: 1, atMost: 0 }]),
    ] }`),
  })
  expect(bars.map(({ figure, isShortened }) => [figure, isShortened])).toEqual([
    ['lost', true],
    ['p99', true],
  ])
})

it('rejects rows that do not start from the current bar or have no reason', () => {
  const start: Bars = { 'drill D1': { lost: '<= 0' } }
  const row = (text: string) => applyChanges(start, readChanges(`## Changes\n\n${text}\n`))
  const good = row('| 2026-11-23 | drill D1 | lost | <= 0 | <= 1 | a reason | 0 | 1 |')
  expect([good.faults, good.bars]).toEqual([[], { 'drill D1': { lost: '<= 1' } }])
  expect(row('| 2026-11-23 | drill D1 | lost | <= 2 | <= 3 | a reason | 0 | 1 |').faults).toHaveLength(1)
  expect(row('| 2026-11-23 | drill D1 | lost | <= 0 | <= 3 |  | 0 | 1 |').faults).toHaveLength(1)
  expect(missingRows(good.bars, start)).toEqual(['| date | drill D1 | lost | <= 1 | <= 0 | reason | before | after |'])
})
