import classes from './DataTable.module.css'
import { strings } from './strings.ts'
import type { Pending } from './useRows.ts'

const textOf = ({ arrived, moved }: Pending): string => {
  if (arrived > 0) return strings.arrivedNew({ arrived })
  return moved === 1 ? strings.n1RowMoved : strings.orderChanged
}

/** What waits to be shown: nothing moves under the pointer until the reader asks. */
export const PendingBar = ({ pending, apply }: { pending: Pending | null; apply: () => void }) => (
  <div className={classes.pending} aria-live="polite">
    {pending === null ? null : (
      <button type="button" className={classes.pendingButton} onClick={apply}>
        {textOf(pending)} <span className={classes.pendingAction}>{strings.show}</span>
      </button>
    )}
  </div>
)
