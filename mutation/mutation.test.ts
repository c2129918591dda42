import { existsSync, readFileSync } from 'node:fs'
import { describe, expect, it } from 'vitest'
import { fromRoot } from '../rig/root.ts'
import { compare, judgements } from './judged.ts'
import { mutants } from './mutants/index.ts'
import { readReport, type Survivor } from './stryker.ts'

const mutantIn = (status: string, line = 2) => ({
  status,
  mutatorName: 'EqualityOperator',
  replacement: 'a > b',
  location: { start: { line } },
})
const survivor: Survivor = {
  file: 'a.ts',
  line: 2,
  source: 'return a >= b',
  mutator: 'EqualityOperator',
  replacement: 'a > b',
}

describe('mutation testing', () => {
  it('counts timeouts as killed and uncovered mutants as survivors, and ignores mutants that do not compile', () => {
    const states = ['Killed', 'Timeout', 'Survived', 'NoCoverage', 'CompileError', 'Ignored']
    const source = 'one\n  return a >= b\n'
    const report = { files: { 'a.ts': { source, mutants: states.map((state) => mutantIn(state)) } } }
    expect(readReport(JSON.stringify(report))).toEqual({
      ...{ killed: 2, timedOut: 1, total: 4, files: ['a.ts'] },
      survivors: [survivor, survivor],
    })
  })

  it('accepts a judged survivor wherever its line moves, until the line changes', () => {
    const judged = [{ ...survivor, why: 'both are equal' }]
    expect(compare([{ ...survivor, line: 90 }], judged, ['a.ts'])).toEqual({ unjudged: [], obsolete: [] })
    const changed = { ...survivor, source: 'return a >= c' }
    expect(compare([changed], judged, ['a.ts'])).toEqual({ unjudged: [changed], obsolete: judged })
    expect(compare([survivor, survivor], judged, ['a.ts'])).toEqual({ unjudged: [survivor], obsolete: [] })
    expect(compare([], judged, ['a.ts'])).toEqual({ unjudged: [], obsolete: judged })
    expect(compare([], judged, ['b.ts']).obsolete).toEqual([])
  })

  it('has a reason for every judged survivor, and its line still exists', () => {
    for (const { file, source, why } of judgements()) {
      expect(why.length, source).toBeGreaterThan(10)
      expect(readFileSync(fromRoot(file), 'utf8')).toContain(source)
    }
  })

  it('quotes names of tests that exist', () => {
    const missing = Object.values(mutants)
      .flat()
      .flatMap(({ test, named = '' }) =>
        readFileSync(fromRoot(test), 'utf8').replaceAll("\\'", "'").includes(named) ? [] : [`${test}: ${named}`],
      )
    expect(missing).toEqual([])
  })

  it('finds the source of every mutant once, and its test', () => {
    for (const { does, file, find, replace, test } of Object.values(mutants).flat()) {
      expect([does, readFileSync(fromRoot(file), 'utf8').split(find).length - 1]).toEqual([does, 1])
      expect(replace).not.toBe(find)
      expect(existsSync(fromRoot(test)), test).toBe(true)
    }
  })
})
