import { useKeys } from '../useKeys.ts'
import { strings } from './strings.ts'

export interface GridKeys {
  /** Index of the row at the cursor; null if none. */
  cursor: number | null
  count: number
  moveTo: (index: number) => void
  /** Rows of a page up or down. */
  pageRows: () => number
  open: () => void
  select: () => void
  /** Closes the drawer, then clears the selection, then the cursor. */
  leave: () => void
}

/** The keys of a table. */
export const useGridKeys = ({ cursor, count, moveTo, pageRows, open, select, leave }: GridKeys): void =>
  useKeys([
    { keys: 'j', description: strings.nextRow, run: () => moveTo((cursor ?? -1) + 1) },
    { keys: 'k', description: strings.previousRow, run: () => moveTo((cursor ?? count) - 1) },
    { keys: 'ArrowDown', description: strings.nextRow, run: () => moveTo((cursor ?? -1) + 1) },
    { keys: 'ArrowUp', description: strings.previousRow, run: () => moveTo((cursor ?? count) - 1) },
    { keys: 'PageDown', description: strings.pageDown, run: () => moveTo((cursor ?? 0) + pageRows()) },
    { keys: 'PageUp', description: strings.pageUp, run: () => moveTo((cursor ?? 0) - pageRows()) },
    { keys: 'Home', description: strings.firstRow, run: () => moveTo(0) },
    { keys: 'End', description: strings.lastRow, run: () => moveTo(count - 1) },
    { keys: 'Enter', description: strings.openRow, run: open },
    { keys: 'x', description: strings.selectRow, run: select },
    { keys: 'Escape', description: strings.close, run: leave },
  ])
