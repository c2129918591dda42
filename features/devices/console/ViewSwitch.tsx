import { Link } from '@tanstack/react-router'
import { strings } from './strings.ts'
import classes from './ViewSwitch.module.css'

const views = [
  { to: '/peripherals', title: strings.byDevice },
  { to: '/peripherals/models', title: strings.byModel },
] as const

/** Switches between the list of devices and the list of models. */
export const ViewSwitch = () => (
  <nav className={classes.switch} aria-label={strings.view}>
    {views.map(({ to, title }) => (
      <Link key={to} to={to} className={classes.view} activeOptions={{ exact: true, includeSearch: false }}>
        {title}
      </Link>
    ))}
  </nav>
)
