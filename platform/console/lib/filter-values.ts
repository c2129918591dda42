import type { Choices, Suggestions } from '../../contract/filters.ts'

/** A value that a filter suggests. */
export interface Suggestion {
  value: string
  /** Text that explains the value. Can be empty. */
  label: string
  /** Number of attached devices with this value. */
  devices: number
}

/** An object that a filter identifies by ID. */
export interface Choice {
  value: string
  name: string
}

/** Values of the fleet for filters, which capabilities provide. */
export interface FilterValues {
  tags: () => Promise<readonly string[]>
  suggest: (kind: Suggestions, text: string) => Promise<readonly Suggestion[]>
  /** Returns the newest or first objects whose name contains a text, or the one with this ID. */
  choices: (kind: Choices, text: string) => Promise<readonly Choice[]>
}
