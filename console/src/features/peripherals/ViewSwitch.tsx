import { Link } from '@tanstack/react-router'
import classes from './ViewSwitch.module.css'

const views = [
  { to: '/peripherals', title: 'By device' },
  { to: '/peripherals/models', title: 'By model' },
] as const

/** The two lists of peripherals: each device, or each model once. */
export const ViewSwitch = () => (
  <nav className={classes.switch} aria-label="View">
    {views.map(({ to, title }) => (
      <Link key={to} to={to} className={classes.view} activeOptions={{ exact: true, includeSearch: false }}>
        {title}
      </Link>
    ))}
  </nav>
)
