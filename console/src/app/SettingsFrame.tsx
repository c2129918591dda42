import { useServices } from '@portcullis/platform/console/lib/services.tsx'
import { Icon } from '@portcullis/platform/console/ui/icons.tsx'
import { Stack } from '@portcullis/platform/console/ui/layout/layout.tsx'
import { Link, useLocation } from '@tanstack/react-router'
import { Fragment, type KeyboardEvent, useEffect, useRef } from 'react'
import { OpenPlace } from './OpenPlace.tsx'
import { settingsPlaces } from './places.ts'
import classes from './SettingsFrame.module.css'
import { strings } from './strings.ts'

/** Moves the focus through the list with the arrow keys, Home and End. */
const walk = (event: KeyboardEvent<HTMLElement>) => {
  const links = [...event.currentTarget.querySelectorAll('a')]
  const at = event.target instanceof HTMLAnchorElement ? links.indexOf(event.target) : -1
  const to = { ArrowUp: at - 1, ArrowDown: at + 1, Home: 0, End: links.length - 1 }[event.key]
  if (at < 0 || to === undefined) return
  event.preventDefault()
  links[Math.min(Math.max(to, 0), links.length - 1)]?.focus()
}

/** The settings: list on the left, open page on the right. */
export const SettingsFrame = () => {
  const { session } = useServices()
  const { pathname } = useLocation()
  const list = useRef<HTMLElement>(null)
  // The list can be longer than the window: scroll to the open page.
  // biome-ignore lint/correctness/useExhaustiveDependencies: runs when the address changes
  useEffect(() => {
    list.current?.querySelector('[aria-current]')?.scrollIntoView({ block: 'nearest' })
  }, [pathname])
  const shown = settingsPlaces.filter(({ permission }) => session.may(permission))
  return (
    <div className={classes.frame}>
      <nav ref={list} className={classes.list} aria-label={strings.settings} onKeyDown={walk}>
        {shown.map(({ to, title, icon, section }, index) => (
          <Fragment key={to}>
            {section === shown[index - 1]?.section ? null : <p className={classes.section}>{section}</p>}
            <Link
              to={to}
              className={classes.place}
              data-here={pathname.startsWith(to) || undefined}
              aria-current={pathname.startsWith(to) ? 'page' : undefined}
            >
              <Icon name={icon} />
              {title}
            </Link>
          </Fragment>
        ))}
      </nav>
      <Stack scroll gap={0}>
        <OpenPlace among={settingsPlaces} />
      </Stack>
    </div>
  )
}
