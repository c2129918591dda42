import { signedInFragment } from '@portcullis/features/contract.ts'
import { refreshByCookie, sessionCalls } from '@portcullis/features/identity/console/shared/session.ts'
import { createApi } from '@portcullis/platform/console/lib/api.ts'
import { createIdentity } from '@portcullis/platform/console/lib/identity.ts'
import { forgetKept } from '@portcullis/platform/console/lib/kept.ts'
import { createSession, type Session, type SessionMark } from '@portcullis/platform/console/lib/session.ts'
import { reach } from '@portcullis/platform/console/ui/code.ts'
import { shell } from './shell.ts'

// The mark is not a secret: the session is a cookie that scripts cannot read.
const markKey = 'portcullis-has-session'
export const sessionMark: SessionMark = {
  isSet: () => {
    try {
      return window.localStorage.getItem(markKey) === '1'
    } catch {
      return true
    }
  },
  set: (has) => {
    try {
      if (has) window.localStorage.setItem(markKey, '1')
      else window.localStorage.removeItem(markKey)
    } catch {
      // Without storage, the console asks the server each time.
    }
  },
}

let created: Session | null = null
export const identity = createIdentity()
export const api = createApi({
  fetch: async (...input) => {
    const response = await (shell.takeEarly(String(input[0])) ?? window.fetch(...input))
    if (response.ok) reach.noteSuccess()
    return response
  },
  refresh: refreshByCookie,
  onSignedOut: () => created?.ended(),
  confirmIdentity: identity.ask,
  exclusively: (work) =>
    navigator.locks === undefined
      ? work()
      : (navigator.locks.request('portcullis-refresh', work) as ReturnType<typeof work>),
})
// After a redirect from an identity provider, a session exists that this page did not start.
if (window.location.hash === signedInFragment) {
  sessionMark.set(true)
  window.history.replaceState(null, '', window.location.pathname)
}

/** The session, shared by the sign-in page and the application. */
export const session = createSession(sessionCalls(api), sessionMark, (account) =>
  forgetKept(window.localStorage, account),
)
created = session
