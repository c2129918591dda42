import { afterEach, beforeEach, expect, it, vi } from 'vitest'
import { createArrivals } from '../src/platform/windows/arrivals.ts'

beforeEach(() => void vi.useFakeTimers())
afterEach(() => void vi.useRealTimers())

it('polls every 500 ms if Windows refuses notifications', () => {
  let devices = 'a'
  const onEvent = vi.fn()
  const arrivals = createArrivals({ stamp: () => devices, onEvent, listen: () => undefined })
  vi.advanceTimersByTime(2000)
  expect(onEvent).not.toHaveBeenCalled()
  devices = 'a b'
  vi.advanceTimersByTime(500)
  expect(onEvent).toHaveBeenCalledTimes(1)
  arrivals.stop()
  devices = 'a'
  vi.advanceTimersByTime(10_000)
  expect(onEvent).toHaveBeenCalledTimes(1)
})

it('delivers events every 250 ms and finds missed ones within 5 s', () => {
  let devices = 'a'
  let isWaiting = false
  const onEvent = vi.fn()
  const arrivals = createArrivals({
    stamp: () => devices,
    onEvent,
    listen: (send) => ({
      pump() {
        if (isWaiting) send()
        isWaiting = false
      },
    }),
  })
  isWaiting = true
  vi.advanceTimersByTime(250)
  expect(onEvent).toHaveBeenCalledTimes(1)
  devices = 'a b'
  vi.advanceTimersByTime(4700)
  expect(onEvent).toHaveBeenCalledTimes(1)
  vi.advanceTimersByTime(250)
  expect(onEvent).toHaveBeenCalledTimes(2)
  arrivals.stop()
  isWaiting = true
  vi.advanceTimersByTime(10_000)
  expect(onEvent).toHaveBeenCalledTimes(2)
})

it('keeps polling if a read fails', () => {
  const onEvent = vi.fn()
  const stamp = vi.fn(() => 'a')
  const arrivals = createArrivals({ stamp, onEvent, listen: () => undefined })
  stamp.mockImplementationOnce(() => {
    throw new Error('no')
  })
  vi.advanceTimersByTime(1000)
  expect(onEvent).toHaveBeenCalledTimes(2)
  arrivals.stop()
})
