import type { ReactNode } from 'react'
import { ViewTabs } from '../../ui/ViewTabs.tsx'
import classes from './reports.module.css'

const views = [
  { to: '/reports', title: 'Schedules' },
  { to: '/reports/history', title: 'History' },
] as const

/** The views of reports above, the open one below. */
export const ReportsFrame = ({ children }: { children: ReactNode }) => (
  <div className={classes.frame}>
    <ViewTabs label="Reports" views={views} />
    {children}
  </div>
)
