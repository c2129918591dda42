import { describe, expect, it } from 'vitest'
import { createReach } from './reach.ts'

const setUp = (answers: boolean[]) => {
  const pauses: number[] = []
  const probes = { count: 0 }
  const reach = createReach({
    isReachable: async () => {
      probes.count++
      return answers.shift() ?? true
    },
    pause: async (milliseconds) => void pauses.push(milliseconds),
  })
  return { reach, pauses, probes }
}

describe('the connection to the server', () => {
  it('is tried again at growing intervals until the server responds', async () => {
    const { reach, pauses } = setUp([false, false, false, false, false, true])
    const states: boolean[] = []
    reach.watch(() => states.push(reach.isLost()))
    await reach.untilReachable()
    expect(pauses).toEqual([1_000, 2_000, 3_000, 5_000, 5_000])
    expect(states).toEqual([true, false])
  })

  it('is tried once for everybody who waits', async () => {
    const { reach, probes } = setUp([false, true])
    await Promise.all([reach.untilReachable(), reach.untilReachable(), reach.untilReachable()])
    expect(probes.count).toBe(2)
  })

  it('delays calls that keep failing although the server responds', async () => {
    const { reach, pauses } = setUp([])
    await reach.untilWorthRetrying()
    await reach.untilWorthRetrying()
    await reach.untilWorthRetrying(30)
    reach.noteSuccess()
    await reach.untilWorthRetrying()
    expect(pauses).toEqual([1_000, 2_000, 30_000, 1_000])
  })
})
