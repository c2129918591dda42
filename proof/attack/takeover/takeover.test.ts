// Invariant: Every control of the takeover matrix names its tests.

import { readFileSync } from 'node:fs'
import { matchesGlob } from 'node:path'
import { describe, expect, it } from 'vitest'
import vitest from '../../../vitest.config.ts'
import { fromRoot } from '../../kit/root.ts'
import { declaredTests } from './declared-tests.ts'
import { type NamedTest, namedTests, readMatrix } from './matrix.ts'

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

  it('has a verdict with its controls, or a dash, in every cell', () => {
    const { cells } = readMatrix()
    expect(cells.length).toBe(22 * 9)
    expect(cells.filter(({ goal }) => goal === '')).toEqual([])
    for (const { attacker, goal, verdict, controls, note } of cells) {
      const cell = `${attacker}, ${goal}`
      expect(verdict, cell).toMatch(/^(?:refused|second approver|detected|possible|–)$/)
      if (verdict === '–') expect([controls, note], cell).toEqual([[], undefined])
      // Controls of a possible takeover only reduce the damage.
      else if (verdict !== 'possible') expect(controls.length, cell).toBeGreaterThan(0)
      expect(new Set(controls).size, cell).toBe(controls.length)
    }
  })

  it('uses each control, which names its tests, each once', () => {
    const { cells, controls } = readMatrix()
    const used = new Set(cells.flatMap((cell) => cell.controls))
    expect([...used].sort((a, b) => a - b)).toEqual(controls.map((_, index) => index + 1))
    for (const { text, tests, isLinked } of controls) {
      expect([isLinked, tests.length > 0], text).toEqual([true, true])
      expect(new Set(tests.map(shown)).size, text).toBe(tests.length)
    }
  })

  it('has one note for each limit, and for every possible takeover how to respond', () => {
    const { cells, notes } = readMatrix()
    const noted = cells.filter(({ note }) => note !== undefined)
    expect(noted.map(({ note }) => note).sort((a, b) => Number(a) - Number(b))).toEqual(
      notes.map((_, index) => index + 1),
    )
    for (const { attacker, goal, note } of noted)
      expect(notes[Number(note) - 1]).toMatch(`**${attacker}, ${goal.toLowerCase()}.** `)
    for (const { attacker, goal, verdict, note } of cells)
      if (verdict === 'possible')
        expect(notes[Number(note) - 1], `${attacker}, ${goal}`).toMatch(/\.\*\* .{15,} \*Response:\* .{10,}/)
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
