// Invariant: Every control of the takeover matrix names its tests.

import { readFileSync } from 'node:fs'
import { matchesGlob } from 'node:path'
import { describe, expect, it } from 'vitest'
import vitest from '../../../vitest.config.ts'
import { fromRoot } from '../../kit/root.ts'
import { attackers, goals } from './axes.ts'
import { controls, type NamedTest, namedTests } from './controls.ts'
import { declaredTests } from './declared-tests.ts'
import { cells, takeoverPage } from './render.ts'

const shown = ({ file, name }: NamedTest): string => `${file} > ${name}`

/** The projects of the test run. Continuous integration runs them all (`scripts/test-plan.test.mjs`). */
const projects = (vitest.test?.projects ?? []) as { test: { include: string[]; exclude?: string[] } }[]
const isRun = (file: string): boolean =>
  projects.some(({ test: { include, exclude = [] } }) => {
    const matches = (patterns: readonly string[]) => patterns.some((pattern) => matchesGlob(file, pattern))
    return matches(include) && !matches(exclude)
  })

describe('the takeover matrix', () => {
  it('names tests that exist exactly once and are not skipped', () => {
    const declared = new Map<string, ReturnType<typeof declaredTests>>()
    const wrong = namedTests().filter(({ file, name }) => {
      if (!declared.has(file)) declared.set(file, declaredTests(readFileSync(fromRoot(file), 'utf8')))
      const found = declared.get(file)?.filter((test) => test.name.test(name)) ?? []
      return found.length !== 1 || found[0]?.isSkipped !== false
    })
    expect(wrong.map(shown)).toEqual([])
  })

  it('names tests that a project of the test run includes', () => {
    expect(projects.length).toBeGreaterThan(1)
    expect(isRun('server/none.ts')).toBe(false)
    expect(namedTests().filter(({ file }) => !isRun(file))).toEqual([])
  })

  it('names each test of a control once, and uses every control', () => {
    const used = new Set(cells.flatMap(({ cell }) => ('by' in cell ? cell.by : [])))
    expect(Object.keys(controls).filter((id) => !used.has(id as never))).toEqual([])
    for (const [id, texts] of Object.entries(controls)) expect(new Set(texts).size, id).toBe(texts.length)
    for (const { attacker, goal, cell } of cells)
      if ('by' in cell) expect(new Set(cell.by).size, `${attacker}, ${goal}`).toBe(cell.by.length)
  })

  it('states for every possible takeover what limits the damage and how to respond', () => {
    for (const { attacker, goal, cell } of cells)
      if (cell.is === 'possible') {
        expect(cell.limit?.length, `${attacker}, ${goal}`).toBeGreaterThan(15)
        expect(cell.response?.length, `${attacker}, ${goal}`).toBeGreaterThan(10)
      }
    expect(cells).toHaveLength(Object.keys(attackers).length * Object.keys(goals).length)
  })

  it('is published as it is in the code (node scripts/generate-reference.ts)', () => {
    expect(readFileSync(fromRoot('docs/security/takeover.md'), 'utf8')).toBe(takeoverPage())
  })
})

describe('the tests that a file declares', () => {
  it('are found with their suites, their modifiers, and titles that are completed at run time', () => {
    const tests = declaredTests(`
      describe('a suite', options, () => {
        it('runs', () => {})
        it.each(['x'])('repeats %s', () => {})
        it(\`counts \${n} rows\`, unless(null), async () => {})
        it.skip('is off', () => {})
        it.todo('is missing')
      })
      describe.skip('a closed suite', () => { it('waits', () => {}) })
      doorTest('asks', async () => {})`)
    const namesOf = (name: string) => tests.filter((test) => test.name.test(name)).map(({ isSkipped }) => isSkipped)
    expect(namesOf('a suite > runs')).toEqual([false])
    expect(namesOf('runs')).toEqual([])
    expect(namesOf('a suite > repeats x')).toEqual([false])
    expect(namesOf('a suite > counts 5 rows')).toEqual([false])
    expect(namesOf('a suite > is off')).toEqual([true])
    expect(namesOf('a suite > is missing')).toEqual([true])
    expect(namesOf('a closed suite > waits')).toEqual([true])
    expect(namesOf('asks')).toEqual([false])
  })
})
