import { Link } from '@tanstack/react-router'
import { strings } from './strings.ts'
import classes from './ViewSwitch.module.css'

const views = [
  { to: '/peripherals', title: strings.byDevice },
  { to: '/peripherals/models', title: strings.byModel },
] as const

/** The two lists of peripherals: each device, or each model once. */
export const ViewSwitch = () => (
  <nav className={classes.switch} aria-label={strings.view}>
    {views.map(({ to, title }) => (
      <Link key={to} to={to} className={classes.view} activeOptions={{ exact: true, includeSearch: false }}>
        {title}
      </Link>
    ))}
  </nav>
)
