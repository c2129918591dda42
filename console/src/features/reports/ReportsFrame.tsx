import { Link } from '@tanstack/react-router'
import type { ReactNode } from 'react'
import classes from './reports.module.css'

const views = [
  { to: '/reports', title: 'Schedules' },
  { to: '/reports/history', title: 'History' },
] as const

/** The views of reports above, the open one below. */
export const ReportsFrame = ({ children }: { children: ReactNode }) => (
  <div className={classes.frame}>
    <nav className={classes.views} aria-label="Reports">
      {views.map(({ to, title }) => (
        <Link key={to} to={to} className={classes.view} activeOptions={{ exact: true, includeSearch: false }}>
          {title}
        </Link>
      ))}
    </nav>
    {children}
  </div>
)
