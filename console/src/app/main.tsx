import './styles.ts'
import { localStorageColorSchemeManager, MantineProvider } from '@mantine/core'
import { Notifications } from '@mantine/notifications'
import { ConfirmIdentity } from '@portcullis/features/identity/console/sign-in/ConfirmIdentity.tsx'
import { systemClock } from '@portcullis/platform/console/lib/clock.ts'
import { createKeys, domFocus } from '@portcullis/platform/console/lib/keys.ts'
import { createLive } from '@portcullis/platform/console/lib/live.ts'
import { CallFailure } from '@portcullis/platform/console/lib/problem.ts'
import { ServicesProvider } from '@portcullis/platform/console/lib/services.tsx'
import { isFactorDue } from '@portcullis/platform/console/lib/session.ts'
import { createWork } from '@portcullis/platform/console/lib/work.ts'
import { reach, release } from '@portcullis/platform/console/ui/code.ts'
import { saveFile } from '@portcullis/platform/console/ui/download.ts'
import { cssVariables, theme } from '@portcullis/platform/console/ui/theme/theme.ts'
import { QueryClient, QueryClientProvider } from '@tanstack/react-query'
import { RouterProvider } from '@tanstack/react-router'
import { StrictMode } from 'react'
import { createRoot } from 'react-dom/client'
import { createFilterValues } from './filter-values.ts'
import { createAppRouter } from './router.tsx'
import { api, identity, session, sessionMark } from './session.ts'
import { signInFor } from './sign-in-address.ts'
import { allowPlainHtmlOnly, type TrustedTypesHost } from './trusted-types.ts'

const nonce = document.querySelector<HTMLMetaElement>('meta[name="csp-nonce"]')?.content ?? ''
allowPlainHtmlOnly(window as TrustedTypesHost)

const queries = new QueryClient({
  defaultOptions: {
    queries: {
      staleTime: 5_000,
      refetchOnWindowFocus: true,
      // Retry only if the server cannot be reached: a refusal does not change.
      retry: (count, failure) =>
        count < 2 && failure instanceof CallFailure && (failure.code === 'network' || failure.status === 503),
    },
  },
})

const live = createLive({
  api,
  clock: systemClock,
  random: Math.random,
  pause: (milliseconds, signal) =>
    new Promise((resolve) => {
      const end = () => {
        clearTimeout(timer)
        stop()
        resolve()
      }
      const timer = setTimeout(end, milliseconds)
      // An outage may end long before the pause does.
      const stop = reach.watch(() => {
        if (!reach.isLost()) end()
      })
      signal.addEventListener('abort', end)
    }),
})
// Registered first: otherwise Escape would also close the form below the dialog and lose its input.
window.addEventListener(
  'keydown',
  (event) => {
    if (event.key !== 'Escape' || event.isComposing || !identity.isAsked()) return
    event.stopImmediatePropagation()
    event.preventDefault()
    identity.settle(false)
  },
  true,
)
const work = createWork({ clock: systemClock, save: saveFile })
const keys = createKeys(systemClock, domFocus)
document.addEventListener('keydown', (event) => keys.press(event))

// Data of one account is never shown to the next, and the live channel belongs to the session.
const followSession = () => {
  const state = session.state()
  if (state.phase === 'in' && !state.profile.account.mustChangePassword && !isFactorDue(state.profile, Date.now()))
    live.start()
  if (state.phase === 'out') {
    identity.settle(false)
    live.stop()
    queries.clear()
    work.clear()
  }
}
session.watch(followSession)
// The sign-in page may have signed in before the application was loaded.
if (session.state().phase === 'starting') void session.start()
else followSession()

// Queries that failed during an outage are repeated after it.
let before = live.status().state
live.watch(() => {
  const { state } = live.status()
  if (state === 'live' && before !== 'live')
    void queries.refetchQueries({ predicate: (query) => query.state.status === 'error' })
  // An upgrade causes an outage.
  if (state === 'live' && before === 'lost') void release.check()
  if (state === 'lost') void reach.untilReachable()
  before = state
})

const filterValues = createFilterValues(api)
const services = { api, live, session, identity, clock: systemClock, keys, queries, work, filterValues }
// Without a session, the page at this address would only delay the sign-in page.
const signInAddress = sessionMark.isSet() ? null : signInFor(window.location.pathname, window.location.search)
if (signInAddress !== null) window.history.replaceState(null, '', signInAddress)
const router = createAppRouter()
// The page changes anyway, and nothing typed is lost: the moment to load a newer console.
router.subscribe('onBeforeNavigate', ({ pathChanged, toLocation }) => {
  if (!pathChanged || !release.isDue()) return
  release.noteReload()
  window.location.assign(toLocation.href)
})

createRoot(document.getElementById('root')!).render(
  <StrictMode>
    <MantineProvider
      theme={theme}
      cssVariablesResolver={cssVariables}
      defaultColorScheme="auto"
      colorSchemeManager={localStorageColorSchemeManager({ key: 'portcullis-color-scheme' })}
      getStyleNonce={() => nonce}
    >
      <QueryClientProvider client={queries}>
        <ServicesProvider services={services}>
          <Notifications position="bottom-right" limit={4} />
          <RouterProvider router={router} />
          <ConfirmIdentity />
        </ServicesProvider>
      </QueryClientProvider>
    </MantineProvider>
  </StrictMode>,
)
