import type { ReactNode } from 'react'
import classes from './FullPage.module.css'

/** The full page of one thing, with the way back to its list. */
export const FullPage = ({ back, children }: { back: ReactNode; children: ReactNode }) => (
  <div className={classes.page}>
    <nav className={classes.back} aria-label="Back">
      ← {back}
    </nav>
    <div className={classes.body}>{children}</div>
  </div>
)
