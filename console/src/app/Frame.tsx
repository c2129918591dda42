import { Link, useLocation, useNavigate } from '@tanstack/react-router'
import { type ReactNode, useEffect, useState } from 'react'
import { Bell } from '../features/notices/Bell.tsx'
import { useServices } from '../lib/services.tsx'
import type { Confirmation } from '../ui/ConfirmDialog.tsx'
import { answerConfirms } from '../ui/confirm.ts'
import { Icon } from '../ui/icons.tsx'
import { Logo } from '../ui/Logo.tsx'
import { lazily } from '../ui/lazily.tsx'
import { useLiveNac } from '../ui/nac/useNac.ts'
import { useLiveNotices } from '../ui/notices/useNotices.ts'
import { useKeys } from '../ui/useKeys.ts'
import { ConnectionBanner } from './ConnectionBanner.tsx'
import classes from './Frame.module.css'
import { LiftBanner } from './LiftBanner.tsx'
import { LiveDot } from './LiveDot.tsx'
import { OpenPlace } from './OpenPlace.tsx'
import { places, settingsPlaces } from './places.ts'
import { SecondFactorBanner } from './SecondFactorBanner.tsx'
import { UserMenu } from './UserMenu.tsx'
import { WaitingCount } from './WaitingCount.tsx'

// Loaded at their first use: nobody needs them to see the page.
const Palette = lazily(async () => (await import('./Palette.tsx')).Palette)
const KeysHelp = lazily(async () => (await import('./KeysHelp.tsx')).KeysHelp)
const JobTray = lazily(async () => (await import('../features/jobs/JobTray.tsx')).JobTray)
const RequestsBadge = lazily(async () => (await import('../features/requests/RequestsBadge.tsx')).RequestsBadge)
const ConfirmDialog = lazily(async () => (await import('../ui/ConfirmDialog.tsx')).ConfirmDialog)

const isMac = typeof navigator !== 'undefined' && /Mac|iPhone|iPad/.test(navigator.userAgent)

/**
 * The frame of the console: navigation rail, top bar with search and connection status, and the current page. Shows
 * `children` instead of the page until the session is ready.
 */
export const Frame = ({ isReady, children }: { isReady: boolean; children?: ReactNode }) => {
  const { session } = useServices()
  const { pathname } = useLocation()
  const navigate = useNavigate()
  const [palette, setPalette] = useState<boolean>()
  const [help, setHelp] = useState<boolean>()
  const [question, setQuestion] = useState<Confirmation | null>()
  useEffect(() => answerConfirms(setQuestion), [])
  const nac = useLiveNac(isReady)
  const unread = useLiveNotices(isReady).data?.unread ?? 0
  const allowed = places.filter(
    ({ permission, isOfNac }) => (!isReady || session.may(permission)) && (isOfNac !== true || nac.isShown),
  )

  useKeys([
    ...[...places, ...settingsPlaces].flatMap(({ key, title, to, permission }) =>
      key === undefined
        ? []
        : [
            {
              keys: `g ${key}`,
              description: `Go to ${title}`,
              run: () => {
                if (session.may(permission)) void navigate({ to })
              },
            },
          ],
    ),
    { keys: '?', description: 'Show the keys', run: () => setHelp(true) },
  ])
  useEffect(() => {
    const open = (event: KeyboardEvent) => {
      if (event.key.toLowerCase() !== 'k' || !(event.metaKey || event.ctrlKey) || event.altKey || event.shiftKey) return
      event.preventDefault()
      setPalette(true)
    }
    document.addEventListener('keydown', open)
    return () => document.removeEventListener('keydown', open)
  }, [])

  return (
    <div className={classes.frame}>
      <a className={classes.skip} href="#content">
        Skip to the content
      </a>
      <nav className={classes.rail} aria-label="Sections">
        <Link to="/" activeOptions={{ exact: true }} className={classes.brand} aria-label="Portcullis, overview">
          <Logo size={24} />
          <span className={classes.word}>Portcullis</span>
        </Link>
        {allowed.map((place) => {
          const isHere = place.to === '/' ? pathname === '/' : pathname.startsWith(place.to)
          return (
            <Link
              key={place.to}
              to={place.to}
              activeOptions={{ exact: place.to === '/' }}
              className={classes.place}
              data-here={isHere || undefined}
              title={`${place.title} (g ${place.key})`}
            >
              <Icon name={place.icon} size={18} />
              <span className={classes.word}>{place.title}</span>
              {place.hasCount === true && isReady ? <WaitingCount /> : null}
              {place.hasUnread === true && unread > 0 ? (
                <span className={classes.count} title={`${unread.toLocaleString('en')} not read`}>
                  {unread > 999 ? '999+' : unread}
                </span>
              ) : null}
              {place.isOfNac === true && nac.waiting > 0 ? (
                <span className={classes.count} title={`${nac.waiting.toLocaleString('en')} wait for a person`}>
                  {nac.waiting > 999 ? '999+' : nac.waiting}
                </span>
              ) : null}
            </Link>
          )
        })}
      </nav>
      <header className={classes.bar}>
        <button type="button" className={classes.search} onClick={() => setPalette(true)}>
          <Icon name="search" />
          <span>Search hosts, devices, actions</span>
          <kbd>{isMac ? '⌘K' : 'Ctrl K'}</kbd>
        </button>
        <div className={classes.tools}>
          {isReady && session.may('fleet:write') ? <RequestsBadge /> : null}
          <LiveDot />
          {isReady && session.may('notices:read') ? <Bell /> : null}
          <button type="button" className={classes.tool} onClick={() => setHelp(true)} aria-label="Keyboard shortcuts">
            ?
          </button>
          <UserMenu />
        </div>
      </header>
      <main className={classes.content} id="content" tabIndex={-1}>
        <ConnectionBanner />
        <SecondFactorBanner />
        {isReady ? <LiftBanner /> : null}
        {isReady ? <OpenPlace among={places} /> : children}
      </main>
      <div className={classes.foot}>{isReady && session.may('fleet:read') ? <JobTray /> : null}</div>
      {palette === undefined ? null : <Palette opened={palette} close={() => setPalette(false)} />}
      {help === undefined ? null : <KeysHelp opened={help} close={() => setHelp(false)} />}
      {question === undefined ? null : <ConfirmDialog confirmation={question} close={() => setQuestion(null)} />}
    </div>
  )
}
