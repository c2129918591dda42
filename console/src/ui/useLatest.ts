import { type RefObject, useLayoutEffect, useRef } from 'react'

/**
 * Holds the value of the last committed render, for handlers that keep their identity and for work that waits. It must not
 * be read during render.
 */
export const useLatest = <T>(value: T): Readonly<RefObject<T>> => {
  const latest = useRef(value)
  useLayoutEffect(() => {
    latest.current = value
  })
  return latest
}
