import { expect, it } from 'vitest'
import { invariants, invariantsIn } from './invariants.mjs'

it('reads an invariant of one line and of several', () => {
  const source = '// Invariant: One thing holds.\n// Invariant: Another holds\n//   on two lines.\n// A comment.\n'
  expect(invariantsIn(source)).toEqual(['One thing holds.', 'Another holds on two lines.'])
})

it('lists each invariant once, as a sentence', () => {
  const texts = invariants().map(({ text }) => text)
  expect(texts.length).toBeGreaterThan(90)
  expect(texts.filter((text, index) => texts.indexOf(text) !== index)).toEqual([])
  expect(texts.filter((text) => !/^[A-Z/].{15,}\.$/.test(text ?? ''))).toEqual([])
})
