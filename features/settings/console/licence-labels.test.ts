import { expect, it } from 'vitest'
import { expiryText } from './licence-labels.ts'

it.each([
  [null, null, 'Does not expire'],
  ['2031-05-04', 30, '2031-05-04 (UTC), in 30 days'],
  ['2031-05-04', 1, '2031-05-04 (UTC), in 1 day'],
  ['2031-05-04', 0, '2031-05-04 (UTC), today'],
  ['2031-05-04', -1, '2031-05-04 (UTC), 1 day ago'],
])('counts to the last day: %s, %s', (expires, daysLeft, words) => {
  expect(expiryText({ expires, daysLeft })).toBe(words)
})
