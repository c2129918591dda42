import { readFileSync } from 'node:fs'
import { describe, expect, it } from 'vitest'
import { fromRoot } from '../../rig/root.ts'
import { attackers, goals } from './axes.ts'
import { type Guard, proofsOf } from './guard.ts'
import { guards } from './guards.ts'
import { cells, withTakeover } from './render.ts'

const page = (): string => readFileSync(fromRoot('docs/security/README.md'), 'utf8')

/** Titles of tests in a file; placeholders of `it.each` match anything. */
const titlesIn = (text: string): RegExp[] =>
  [...text.matchAll(/\(\s*(['"`])((?:\\.|(?!\1).)+)\1,\s*(?:async )?\(/g)].map(
    ([, , title = '']) =>
      new RegExp(
        `^${title
          .replaceAll(/\\(.)/g, '$1')
          .split(/%[sdijo]|\$\{[^}]*\}|\$\w+/)
          .map((part) => part.replace(/[.*+?^${}()|[\]\\]/g, '\\$&'))
          .join('.*')}$`,
      ),
  )

const proofs = Object.entries<Guard>(guards).flatMap(([id, guard]) =>
  proofsOf(guard).map((proof) => ({ id, ...proof })),
)

describe('the takeover matrix', () => {
  it('names a test that exists for every clause of a guard', () => {
    const missing = proofs.filter(
      ({ test }) => !titlesIn(readFileSync(fromRoot(test.file), 'utf8')).some((title) => title.test(test.name)),
    )
    expect(missing.map(({ id, test }) => `${id}: ${test.file}: ${test.name}`)).toEqual([])
  })

  it('removes every clause of a guard by edits that change the source', () => {
    for (const { id, removedBy } of proofs) {
      expect(removedBy.length, id).toBeGreaterThan(0)
      for (const { find, replace } of removedBy) expect(find === replace, id).toBe(false)
    }
  })

  it('uses every guard in at least one cell', () => {
    const used = new Set(cells.flatMap(({ cell }) => ('by' in cell ? cell.by : [])))
    expect(Object.keys(guards).filter((id) => !used.has(id as never))).toEqual([])
  })

  it('states for every possible takeover what limits the damage and how to respond', () => {
    for (const { attacker, goal, cell } of cells)
      if (cell.is === 'possible') {
        expect(cell.limit.length, `${attacker}, ${goal}`).toBeGreaterThan(20)
        expect(cell.response.length, `${attacker}, ${goal}`).toBeGreaterThan(10)
      }
    expect(cells).toHaveLength(Object.keys(attackers).length * Object.keys(goals).length)
  })

  it('is published as it is in the code', () => {
    expect(page()).toBe(withTakeover(page()))
  })
})
