import classes from './DataTable.module.css'
import type { Pending } from './useRows.ts'

const textOf = ({ arrived, moved }: Pending): string => {
  if (arrived > 0) return `${arrived.toLocaleString('en')} new`
  return moved === 1 ? '1 row moved' : 'Order changed'
}

/** What waits to be shown: nothing moves under the pointer until the reader asks. */
export const PendingBar = ({ pending, apply }: { pending: Pending | null; apply: () => void }) => (
  <div className={classes.pending} aria-live="polite">
    {pending === null ? null : (
      <button type="button" className={classes.pendingButton} onClick={apply}>
        {textOf(pending)} <span className={classes.pendingAction}>show</span>
      </button>
    )}
  </div>
)
