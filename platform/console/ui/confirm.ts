import type { Severity } from './theme/tokens.ts'

export interface Confirmation {
  title: string
  /** Names of the affected items. */
  names: readonly string[]
  /** All parts of the change, shown in full. */
  details?: readonly string[]
  /** Number of affected items, if it differs from the number of names. */
  count?: number
  /** Formats the number with its noun, such as `3 hosts`. */
  kind: (values: { count: number }) => string
  /** The effect, and whether it can be undone. */
  consequence: string
  /** Label of the button. Default: the title. */
  action?: string
  /** Says which blocked devices work again. */
  worksAgain?: { severity: Severity; text: string } | null
  /** Asks for a reason, with this placeholder. */
  reasonFor?: string
  /** Receives the reason; empty if none was requested. */
  run: (reason: string) => Promise<unknown>
  /** Message after success. */
  done?: string
  /** Reads outdated data again before the dialog closes. */
  reread?: () => Promise<unknown>
}

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
