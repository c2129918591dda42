import classes from './DataTable.module.css'
import { strings } from './strings.ts'
import type { Pending } from './useRows.ts'

const textOf = ({ arrived, moved }: Pending): string => {
  if (arrived > 0) return strings.rowsAdded({ count: arrived })
  return moved === 1 ? strings.rowMoved : strings.orderChanged
}

/** Offers pending rows. The list does not move under the pointer until the user asks. */
export const PendingBar = ({ pending, apply }: { pending: Pending | null; apply: () => void }) => (
  <div className={classes.pending} aria-live="polite">
    {pending === null ? null : (
      <button type="button" className={classes.pendingButton} onClick={apply}>
        {textOf(pending)} <span className={classes.pendingAction}>{strings.show}</span>
      </button>
    )}
  </div>
)
