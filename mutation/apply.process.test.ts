import { mkdirSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { expect, it, onTestFinished } from 'vitest'
import { linkPackages } from '../rig/link-packages.ts'
import { fromRoot } from '../rig/root.ts'
import { apply } from './apply.ts'

const files = {
  'vitest.config.ts': `export default { test: { projects: [{ test: { name: 'unit', include: ['*.test.ts'] } }] } }`,
  'sum.ts': `export const sum = (a: number, b: number) => a + b\nexport const twice = (a: number) => a + a`,
  'sum.test.ts': `import { expect, it } from 'vitest'
import { sum, twice } from './sum.ts'
it('adds (one)', () => expect(sum(2, 3)).toBe(5))
it('doubles', () => expect(twice(2)).toBe(4))`,
  'red.test.ts': `import { expect, it } from 'vitest'\nit('is red', () => expect(1).toBe(2))`,
}

it('reports which mutants a test detects, and restores the source', async () => {
  const tree = mkdtempSync(join(tmpdir(), 'portcullis-mutants-'))
  onTestFinished(() => rmSync(tree, { recursive: true, force: true }))
  for (const [name, text] of Object.entries(files)) writeFileSync(join(tree, name), text)
  mkdirSync(join(tree, 'node_modules'))
  linkPackages(fromRoot('node_modules'), join(tree, 'node_modules'))
  const sum = { file: 'sum.ts', find: 'a + b', test: 'sum.test.ts' }
  const twice = { file: 'sum.ts', find: 'a + a', test: 'sum.test.ts' }
  const applied = await apply(
    [tree],
    [
      { ...sum, does: 'one', replace: 'a - b' },
      { ...sum, does: 'two', replace: 'b + a' },
      { ...sum, does: 'three', replace: 'a * b', named: 'doubles' },
      { ...twice, does: 'four', replace: 'a', named: 'doubles' },
      { ...sum, does: 'five', replace: 'a * b', named: 'adds (one)' },
      { ...sum, does: 'six', replace: 'a * b', named: 'no such' },
      { ...sum, does: 'seven', find: 'a / b', replace: 'a * b' },
      { ...sum, does: 'eight', replace: 'a * b', test: 'red.test.ts' },
    ],
    () => {},
  )
  const outcomes = applied.map(({ mutant, outcome }) => [mutant.does, outcome])
  expect(Object.fromEntries(outcomes)).toEqual({
    one: 'killed',
    two: 'survived',
    three: 'survived',
    four: 'killed',
    five: 'killed',
    six: 'broken',
    seven: 'lost',
    eight: 'broken',
  })
  expect(applied.find(({ mutant }) => mutant.does === 'five')?.failure).toContain('adds (one): expected 6 to be 5')
  expect(readFileSync(join(tree, 'sum.ts'), 'utf8')).toBe(files['sum.ts'])
})
