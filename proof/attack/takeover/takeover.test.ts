// Invariant: Every control of the takeover matrix names its tests.

import { readFileSync } from 'node:fs'
import { matchesGlob } from 'node:path'
import ts from 'typescript'
import { describe, expect, it } from 'vitest'
import { type NamedTest, namedTests, readMatrix } from '../../../scripts/takeover.ts'
import vitest from '../../../vitest.config.ts'
import { fromRoot } from '../../kit/root.ts'

/** A test that a file declares. */
interface DeclaredTest {
  /** Matches the titles of its suites and its own, joined by ` > ` as Vitest prints them. */
  name: RegExp
  isSkipped: boolean
}

const escaped = (text: string): string => text.replace(/[.*+?^${}()|[\]\\]/g, '\\$&')

/** Returns the names of a call such as `describe.skip` or `it.each([…])`. */
const calledNames = (node: ts.Expression): string[] => {
  if (ts.isIdentifier(node)) return [node.text]
  if (ts.isPropertyAccessExpression(node)) return [...calledNames(node.expression), node.name.text]
  return ts.isCallExpression(node) || ts.isTaggedTemplateExpression(node)
    ? calledNames(ts.isCallExpression(node) ? node.expression : node.tag)
    : []
}

/** Returns a pattern for a title, in which values that are known at run time only match any text. */
const patternOf = (title: ts.Expression | undefined, isRepeated: boolean): string | undefined => {
  if (title === undefined) return undefined
  if (ts.isTemplateExpression(title))
    return [title.head.text, ...title.templateSpans.map(({ literal }) => literal.text)].map(escaped).join('.*')
  if (!ts.isStringLiteralLike(title)) return undefined
  return isRepeated
    ? title.text
        .split(/%[sdifjo#$]|\$[\w.]+/)
        .map(escaped)
        .join('.*')
    : escaped(title.text)
}

/** Returns the tests that the text of a test file declares. */
const declaredTests = (text: string): DeclaredTest[] => {
  const found: DeclaredTest[] = []
  const visit = (node: ts.Node, suites: readonly string[], isSkipped: boolean): void => {
    if (ts.isCallExpression(node)) {
      const [kind = '', ...modifiers] = calledNames(node.expression)
      const pattern = patternOf(node.arguments[0], modifiers.includes('each') || modifiers.includes('for'))
      if (pattern !== undefined && /^(?:describe|it|test|\w+Test)$/.test(kind)) {
        const isOff = isSkipped || modifiers.some((one) => one !== 'each' && one !== 'for')
        if (kind !== 'describe')
          found.push({ name: new RegExp(`^${[...suites, pattern].join(' > ')}$`, 's'), isSkipped: isOff })
        else for (const argument of node.arguments) visit(argument, [...suites, pattern], isOff)
        return
      }
    }
    ts.forEachChild(node, (child) => visit(child, suites, isSkipped))
  }
  visit(ts.createSourceFile('tests.ts', text, ts.ScriptTarget.Latest, true), [], false)
  return found
}

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
