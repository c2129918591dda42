import type { ReactNode } from 'react'
import classes from './FullPage.module.css'
import { strings } from './strings.ts'

/** The full page of an item, with a link back to its list. */
export const FullPage = ({ back, children }: { back: ReactNode; children: ReactNode }) => (
  <div className={classes.page}>
    <nav className={classes.back} aria-label={strings.back}>
      ← {back}
    </nav>
    <div className={classes.body}>{children}</div>
  </div>
)
