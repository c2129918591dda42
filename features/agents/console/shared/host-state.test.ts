import { describe, expect, it } from 'vitest'
import { hostStateOf } from './host-state.ts'

describe('the state of a host', () => {
  it.each([
    ['Armed', 'Armed', 'armed', 'Armed'],
    ['Free', 'Free', 'free', 'Free'],
    ['Disconnected', 'Armed', 'disconnectedArmed', 'Disconnected, armed'],
    ['Disconnected', 'Free', 'disconnectedFree', 'Disconnected, free'],
    ['Expired', 'Armed', 'licence', 'Licence expired, armed'],
    ['Pending', 'Free', 'licence', 'Licence pending, free'],
  ] as const)('%s and %s is %s: "%s"', (displayStatusCombined, operationalStatus, state, word) =>
    expect(hostStateOf({ displayStatusCombined, operationalStatus })).toEqual([state, word]),
  )
})
