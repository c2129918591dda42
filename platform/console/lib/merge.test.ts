import { expect, it } from 'vitest'
import { merged } from './merge.ts'

const base = { reason: 'old', scope: 'host', host: 'a', tag: '', kinds: ['Hub'] }

it('keeps my changes, and takes those that only the other person made', () => {
  const theirs = { ...base, reason: 'theirs', kinds: ['Keyboard'] }
  expect(merged(base, theirs, { ...base, reason: 'mine' })).toEqual({ ...base, reason: 'mine', kinds: ['Keyboard'] })
  expect(merged(base, theirs, base)).toEqual(theirs)
})

it('keeps fields together that only make sense together', () => {
  const theirs = { ...base, host: 'b' }
  const mine = { ...base, scope: 'tag', tag: 'kiosk' }
  expect(merged(base, theirs, mine, [['scope', 'host', 'tag']])).toEqual(mine)
  expect(merged(base, theirs, { ...base, reason: 'mine' }, [['scope', 'host', 'tag']])).toEqual({
    ...theirs,
    reason: 'mine',
  })
})
