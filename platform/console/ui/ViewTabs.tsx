import { Link, type LinkProps } from '@tanstack/react-router'
import classes from './ViewTabs.module.css'

export interface ViewTabsProps {
  label: string
  views: readonly { to: LinkProps['to']; title: string }[]
}

/** Tabs that link to the pages of one area. */
export const ViewTabs = ({ label, views }: ViewTabsProps) => (
  <nav className={classes.views} aria-label={label}>
    {views.map(({ to, title }) => (
      <Link key={to} to={to} className={classes.view} activeOptions={{ exact: true, includeSearch: false }}>
        {title}
      </Link>
    ))}
  </nav>
)
