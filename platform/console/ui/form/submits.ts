import type { FormEvent } from 'react'

/** Returns the handler of a form that runs a change in place of the browser's request. */
export const submits = (run: () => unknown) => (event: FormEvent) => {
  event.preventDefault()
  run()
}
