import type { Confirmation } from './ConfirmDialog.tsx'

let ask: ((confirmation: Confirmation) => void) | null = null

/** Opens a confirmation dialog. */
export const confirm = (confirmation: Confirmation): void => ask?.(confirmation)

/** Registers the function that shows confirmations. Returns a function that removes it. */
export const answerConfirms = (show: (confirmation: Confirmation) => void): (() => void) => {
  ask = show
  return () => {
    ask = null
  }
}
