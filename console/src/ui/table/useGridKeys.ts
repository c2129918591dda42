import { useKeys } from '../useKeys.ts'

export interface GridKeys {
  /** Index of the row at the cursor; null: none. */
  cursor: number | null
  count: number
  moveTo: (index: number) => void
  /** Rows of a page up or down. */
  pageRows: () => number
  open: () => void
  select: () => void
  /** Closes what is open, then clears the selection, then the cursor. */
  leave: () => void
}

/** The keys of a table. */
export const useGridKeys = ({ cursor, count, moveTo, pageRows, open, select, leave }: GridKeys): void =>
  useKeys([
    { keys: 'j', description: 'Next row', run: () => moveTo((cursor ?? -1) + 1) },
    { keys: 'k', description: 'Previous row', run: () => moveTo((cursor ?? count) - 1) },
    { keys: 'ArrowDown', description: 'Next row', run: () => moveTo((cursor ?? -1) + 1) },
    { keys: 'ArrowUp', description: 'Previous row', run: () => moveTo((cursor ?? count) - 1) },
    { keys: 'PageDown', description: 'A page down', run: () => moveTo((cursor ?? 0) + pageRows()) },
    { keys: 'PageUp', description: 'A page up', run: () => moveTo((cursor ?? 0) - pageRows()) },
    { keys: 'Home', description: 'First row', run: () => moveTo(0) },
    { keys: 'End', description: 'Last row', run: () => moveTo(count - 1) },
    { keys: 'Enter', description: 'Open the row', run: open },
    { keys: 'x', description: 'Select the row', run: select },
    { keys: 'Escape', description: 'Close what is open', run: leave },
  ])
