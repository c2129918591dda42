import { readFileSync } from 'node:fs'
import { expect, it } from 'vitest'
import { drills } from '../drill/drills.ts'
import { gates } from '../gate/gates.ts'
import { fromRoot } from '../rig/root.ts'

// A self-test takes hours, so this test shows immediately when a change moves the source that a sabotage edits.
it('every sabotage of drills and gates matches its source exactly once', () => {
  const edits = [...drills, ...gates].flatMap(({ name, sabotages = [] }) =>
    sabotages.flatMap(({ what, edits }) => edits.map((edit) => ({ ...edit, of: `${name}: ${what}` }))),
  )
  expect(edits.length).toBeGreaterThan(70)
  const wrong = edits.filter(({ file, find }) => readFileSync(fromRoot(file), 'utf8').split(find).length !== 2)
  expect(wrong.map(({ of, file }) => `${of} (${file})`)).toEqual([])
})
