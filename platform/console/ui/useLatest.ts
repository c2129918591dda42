import { type RefObject, useLayoutEffect, useRef } from 'react'

/** Returns a ref to the value of the last committed render, for stable handlers. Do not read it during render. */
export const useLatest = <T>(value: T): Readonly<RefObject<T>> => {
  const latest = useRef(value)
  useLayoutEffect(() => {
    latest.current = value
  })
  return latest
}
