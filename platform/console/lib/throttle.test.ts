import { describe, expect, it } from 'vitest'
import { throttle } from './throttle.ts'

const setUp = (gap: number) => {
  let now = 0
  let runs = 0
  let timer: { at: number; run: () => void } | null = null
  const { call, stop } = throttle(
    () => runs++,
    gap,
    { now: () => now },
    (run, milliseconds) => {
      timer = { at: now + milliseconds, run }
      return () => {
        timer = null
      }
    },
  )
  const pass = (milliseconds: number) => {
    now += milliseconds
    if (timer !== null && timer.at <= now) {
      const { run } = timer
      timer = null
      run()
    }
  }
  return { call, stop, pass, runs: () => runs }
}

describe('throttle', () => {
  it('runs immediately, then at most once per gap, and never loses the last call', () => {
    const { call, pass, runs } = setUp(1_000)
    call()
    expect(runs()).toBe(1)
    call()
    call()
    pass(999)
    expect(runs()).toBe(1)
    pass(1)
    expect(runs()).toBe(2)
    pass(5_000)
    expect(runs()).toBe(2)
    call()
    expect(runs()).toBe(3)
  })

  it('does nothing after stop', () => {
    const { call, stop, pass, runs } = setUp(1_000)
    call()
    call()
    stop()
    pass(2_000)
    expect(runs()).toBe(1)
  })
})
