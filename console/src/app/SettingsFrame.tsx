import { Link, Outlet, useLocation } from '@tanstack/react-router'
import { useServices } from '../lib/services.tsx'
import { Icon } from '../ui/icons.tsx'
import { settingsPlaces } from './places.ts'
import classes from './SettingsFrame.module.css'

/** The settings: their list on the left, the open page on the right. */
export const SettingsFrame = () => {
  const { session } = useServices()
  const { pathname } = useLocation()
  return (
    <div className={classes.frame}>
      <nav className={classes.list} aria-label="Settings">
        {settingsPlaces
          .filter(({ permission }) => session.may(permission))
          .map(({ to, title, icon }) => (
            <Link key={to} to={to} className={classes.place} data-here={pathname.startsWith(to) || undefined}>
              <Icon name={icon} />
              {title}
            </Link>
          ))}
      </nav>
      <div className={classes.page}>
        <Outlet />
      </div>
    </div>
  )
}
