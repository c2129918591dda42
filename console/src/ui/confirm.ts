import type { Confirmation } from './ConfirmDialog.tsx'

let ask: ((confirmation: Confirmation) => void) | null = null

/** Asks before something that hurts: how many, which, what will happen. */
export const confirm = (confirmation: Confirmation): void => ask?.(confirmation)

/** The frame says where questions are shown; returns how to stop. */
export const answerConfirms = (show: (confirmation: Confirmation) => void): (() => void) => {
  ask = show
  return () => {
    ask = null
  }
}
