import type { FormEvent } from 'react'

/** Returns a submit handler that calls `run` instead of sending the browser's request. */
export const submits = (run: () => unknown) => (event: FormEvent) => {
  event.preventDefault()
  run()
}
