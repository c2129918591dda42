import { describe, expect, it } from 'vitest'
import { isOpen } from './delivery-actions.ts'
import { streamState } from './stream-state.ts'

describe('the state of an event stream', () => {
  it.each([
    [{ failures: 0, isPaused: false, behind: 0 }, null, 'up to date'],
    [{ failures: 0, isPaused: false, behind: 7 }, null, 'sending'],
    [{ failures: 0, isPaused: false, behind: 10_001 }, 'amber', 'far behind'],
    [{ failures: 2, isPaused: false, behind: 7 }, 'amber', 'failed, retrying soon'],
    [{ failures: 1_200, isPaused: true, behind: 7 }, 'red', 'failing, 1,200 attempts in a row'],
  ])('%j', (stream, severity, word) => expect(streamState(stream)).toEqual({ severity, word }))
})

describe('a delivery', () => {
  it('can be sent or dropped until it has ended', () => {
    const states = ['waiting', 'failed', 'delivered', 'dropped'] as const
    expect(states.filter((state) => isOpen({ state }))).toEqual(['waiting', 'failed'])
  })
})
