import type { Suggestions } from '../../contract/filters.ts'

/** A value that a filter suggests. */
export interface Suggestion {
  value: string
  /** Text that explains the value. Can be empty. */
  label: string
  /** Number of attached devices with this value. */
  devices: number
}

/** Values of the fleet for filters, which capabilities provide. */
export interface FilterValues {
  tags: () => Promise<readonly string[]>
  suggest: (kind: Suggestions, text: string) => Promise<readonly Suggestion[]>
}
