import { Bell } from '@portcullis/features/alerts/console/inbox/Bell.tsx'
import { useLiveAlerts } from '@portcullis/features/alerts/console/shared/useAlerts.ts'
import { useLiveNac } from '@portcullis/features/quarantine/console/shared/useNac.ts'
import { PinnedViews } from '@portcullis/features/views/console/shared/PinnedViews.tsx'
import { useServices } from '@portcullis/platform/console/lib/services.tsx'
import type { Confirmation } from '@portcullis/platform/console/ui/confirm.ts'
import { answerConfirms } from '@portcullis/platform/console/ui/confirm.ts'
import { SavedViews } from '@portcullis/platform/console/ui/filters/saved-views.ts'
import { Icon } from '@portcullis/platform/console/ui/icons.tsx'
import { Logo } from '@portcullis/platform/console/ui/Logo.tsx'
import { lazily, lazilyDialog, useIdlePreload } from '@portcullis/platform/console/ui/lazily.tsx'
import { useKeys } from '@portcullis/platform/console/ui/useKeys.ts'
import { Link, useLocation, useNavigate } from '@tanstack/react-router'
import { Fragment, type ReactNode, useCallback, useEffect, useState } from 'react'
import { ConnectionBanner } from './ConnectionBanner.tsx'
import classes from './Frame.module.css'
import { LiftBanner } from './LiftBanner.tsx'
import { LiveDot } from './LiveDot.tsx'
import { OpenPlace } from './OpenPlace.tsx'
import { helpAddress, places, settingsPlaces } from './places.ts'
import { SecondFactorBanner } from './SecondFactorBanner.tsx'
import { strings } from './strings.ts'
import { UpdateBanner } from './UpdateBanner.tsx'
import { UserMenu } from './UserMenu.tsx'
import { useEarlyKeys } from './useEarlyKeys.ts'
import { WaitingCount } from './WaitingCount.tsx'

// Loaded at first use, to keep the first page small.
const Palette = lazily(async () => (await import('./Palette.tsx')).Palette)
const savedViews = {
  Tabs: lazily(async () => (await import('@portcullis/features/views/console/ViewTabs.tsx')).ViewTabs),
  Save: lazily(async () => (await import('@portcullis/features/views/console/SaveView.tsx')).SaveView),
}
const KeysHelp = lazily(async () => (await import('./KeysHelp.tsx')).KeysHelp)
const JobTray = lazily(async () => (await import('@portcullis/features/jobs/console/JobTray.tsx')).JobTray)
const RequestsBadge = lazily(
  async () => (await import('@portcullis/features/change-requests/console/RequestsBadge.tsx')).RequestsBadge,
)
const ConfirmDialog = lazilyDialog(
  async () => (await import('@portcullis/platform/console/ui/ConfirmDialog.tsx')).ConfirmDialog,
  {
    confirmation: null,
  },
)

const isMac = typeof navigator !== 'undefined' && /Mac|iPhone|iPad/.test(navigator.userAgent)

const Count = ({ count, label }: { count: number; label: (values: { count: number }) => string }) =>
  count === 0 ? null : (
    <span className={classes.count} title={label({ count })}>
      {count > 999 ? '999+' : count}
    </span>
  )

/** The navigation rail: the pages that the account may see, with counts. */
const Rail = ({ isReady }: { isReady: boolean }) => {
  const { session } = useServices()
  const { pathname } = useLocation()
  const [isOpen, setOpen] = useState(false)
  // biome-ignore lint/correctness/useExhaustiveDependencies: the menu closes when a page opens
  useEffect(() => setOpen(false), [pathname])
  const nac = useLiveNac(isReady)
  const unread = useLiveAlerts(isReady).data?.unread ?? 0
  const allowed = places.filter(
    ({ permission, isOfNac }) => (!isReady || session.may(permission)) && (isOfNac !== true || nac.isShown),
  )
  return (
    <nav
      className={classes.rail}
      aria-label={strings.sections}
      data-open={isOpen || undefined}
      onKeyDown={(event) => {
        if (event.key === 'Escape') setOpen(false)
      }}
    >
      <Link to="/" activeOptions={{ exact: true }} className={classes.brand} aria-label={strings.home}>
        <Logo size={24} />
        <span className={classes.word}>{strings.portcullis}</span>
      </Link>
      {allowed.map((place) => {
        const isHere = place.to === '/' ? pathname === '/' : pathname.startsWith(place.to)
        const link = (
          <Link
            to={place.to}
            activeOptions={{ exact: place.to === '/' }}
            className={classes.place}
            data-here={isHere || undefined}
            data-on-call={place.isOnCall}
            title={`${place.title} (g ${place.key})`}
          >
            <Icon name={place.icon} size={18} />
            <span className={place.short === undefined ? classes.word : `${classes.word} ${classes.long}`}>
              {place.title}
            </span>
            {place.short === undefined ? null : <span className={classes.short}>{place.short}</span>}
            {place.hasCount === true && isReady ? <WaitingCount /> : null}
            {place.hasUnread === true ? <Count count={unread} label={strings.unreadAlerts} /> : null}
            {place.isOfNac === true ? <Count count={nac.waiting} label={strings.quarantinesWaiting} /> : null}
          </Link>
        )
        return (
          <Fragment key={place.to}>
            {link}
            {isReady && place.to !== '/' ? <PinnedViews page={place.to} className={classes.pinned} /> : null}
          </Fragment>
        )
      })}
      <button type="button" className={classes.menu} aria-expanded={isOpen} onClick={() => setOpen(!isOpen)}>
        <Icon name={isOpen ? 'down' : 'menu'} size={18} />
        {strings.more}
      </button>
    </nav>
  )
}

/** Registers the keys that open pages, the palette and the help. */
const useFrameKeys = (openPalette: () => void, openKeys: () => void) => {
  const { session } = useServices()
  const navigate = useNavigate()
  useKeys([
    ...[...places, ...settingsPlaces].flatMap(({ key, title, to, permission }) =>
      key === undefined
        ? []
        : [
            {
              keys: `g ${key}`,
              description: strings.goTo({ title }),
              run: () => {
                if (session.may(permission)) void navigate({ to })
              },
            },
          ],
    ),
    { keys: '?', description: strings.showShortcuts, run: openKeys },
  ])
  useEffect(() => {
    const open = (event: KeyboardEvent) => {
      if (event.key.toLowerCase() !== 'k' || !(event.metaKey || event.ctrlKey) || event.altKey || event.shiftKey) return
      event.preventDefault()
      openPalette()
    }
    document.addEventListener('keydown', open)
    return () => document.removeEventListener('keydown', open)
  }, [openPalette])
}

/** Opens the guide about the current page. */
const HelpLink = () => {
  const { pathname } = useLocation()
  return (
    <a
      className={`${classes.tool} ${classes.help}`}
      href={helpAddress(pathname)}
      target="_blank"
      rel="noreferrer"
      aria-label={strings.helpOnThisPage}
      title={strings.helpOnThisPage}
    >
      ?
    </a>
  )
}

/** The top bar: search, connection status and the account. */
const Bar = ({
  isReady,
  openPalette,
  openKeys,
}: {
  isReady: boolean
  openPalette: () => void
  openKeys: () => void
}) => {
  const { session } = useServices()
  return (
    <header className={classes.bar}>
      <button type="button" className={classes.search} onClick={openPalette}>
        <Icon name="search" />
        <span>{strings.search}</span>
        <kbd>{isMac ? '⌘K' : strings.ctrlK}</kbd>
      </button>
      <div className={classes.tools}>
        {isReady && session.may('fleet:write') ? <RequestsBadge /> : null}
        <LiveDot />
        {isReady && session.may('notices:read') ? <Bell /> : null}
        <HelpLink />
        <UserMenu openKeys={openKeys} />
      </div>
    </header>
  )
}

/**
 * The frame of the console: navigation rail, top bar with search and connection status, and the current page. Shows
 * `children` instead of the page until the session is ready.
 */
export const Frame = ({ isReady, children }: { isReady: boolean; children?: ReactNode }) => {
  const { session } = useServices()
  const [palette, setPalette] = useState<boolean>()
  const [keys, setKeys] = useState<boolean>()
  const [question, setQuestion] = useState<Confirmation | null>()
  useEffect(() => answerConfirms(setQuestion), [])
  const [query, setQuery] = useState('')
  const openPalette = useCallback(() => setPalette(true), [])
  useEarlyKeys(palette === true, setQuery)
  useIdlePreload(Palette)
  const openKeys = useCallback(() => setKeys(true), [])
  useFrameKeys(openPalette, openKeys)
  return (
    <div className={classes.frame}>
      <a className={classes.skip} href="#content">
        {strings.skipToContent}
      </a>
      <Rail isReady={isReady} />
      <Bar isReady={isReady} openPalette={openPalette} openKeys={openKeys} />
      <main className={classes.content} id="content" tabIndex={-1}>
        <ConnectionBanner />
        <UpdateBanner />
        <SecondFactorBanner />
        {isReady ? <LiftBanner /> : null}
        {isReady ? (
          <SavedViews value={savedViews}>
            <OpenPlace among={places} />
          </SavedViews>
        ) : (
          children
        )}
      </main>
      <div className={classes.foot}>{isReady && session.may('fleet:read') ? <JobTray /> : null}</div>
      {palette === undefined ? null : (
        <Palette {...{ query, setQuery }} opened={palette} close={() => setPalette(false)} />
      )}
      {keys === undefined ? null : <KeysHelp opened={keys} close={() => setKeys(false)} />}
      {question === undefined ? null : <ConfirmDialog confirmation={question} close={() => setQuestion(null)} />}
    </div>
  )
}
