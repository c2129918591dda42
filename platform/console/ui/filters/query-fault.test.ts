import { expect, it } from 'vitest'
import { faultIn, pointerLines } from './query-fault.ts'

it('marks the index of a fault under the text', () => {
  expect(pointerLines('a AND', 5)).toEqual(['a AND', '     ^'])
  const [line, mark] = pointerLines(`${'a'.repeat(100)}X${'b'.repeat(100)}`, 100)
  expect([line.length, line[mark.indexOf('^')]]).toEqual([82, 'X'])
})

it('reads the position from the message of the server', () => {
  const field = 'query.Query'
  expect(faultIn([{ field, message: 'at character 9: Severity must be a number' }])).toEqual({
    at: 8,
    message: 'Severity must be a number',
  })
  expect(faultIn([{ field, message: 'is too long' }])).toEqual({ at: 0, message: 'is too long' })
  expect(faultIn([{ field: 'query.Status', message: 'at character 9: x' }])).toBeNull()
})
