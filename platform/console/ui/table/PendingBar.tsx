import classes from './DataTable.module.css'
import { strings } from './strings.ts'
import type { Pending } from './useRows.ts'

const textOf = ({ arrived, moved }: Pending): string => {
  if (arrived > 0) return strings.rowsAdded({ count: arrived })
  return moved === 1 ? strings.rowMoved : strings.orderChanged
}

export interface PendingBarProps {
  pending: Pending | null
  /** Rows stay in place because some are selected. */
  isFrozen?: boolean
  apply: () => void
}

/** Offers pending rows. The list does not move under the pointer or a selection until the user asks. */
export const PendingBar = ({ pending, isFrozen = false, apply }: PendingBarProps) => (
  <div className={classes.pending} aria-live="polite">
    {pending === null ? null : (
      <button type="button" className={classes.pendingButton} onClick={apply}>
        {isFrozen ? strings.orderKept({ news: textOf(pending) }) : textOf(pending)}{' '}
        <span className={classes.pendingAction}>{isFrozen ? strings.refreshOrder : strings.show}</span>
      </button>
    )}
  </div>
)
