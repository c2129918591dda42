import type { Permission, UserProfile } from '../../contract/permissions.ts'
import { CallFailure } from './problem.ts'

/** What screens read of the signed-in account. */
export interface Profile {
  account: {
    userName: string
    userProfile: UserProfile
    firstName: string
    lastName: string
    email: string
    phone: string | null
    image: string
    authSource: 'Local' | 'LDAP' | 'OIDC'
    mfaEnabled: boolean
    mustChangePassword: boolean
  }
  permissions: readonly string[]
  secondFactorDueAt: string | null
}

/** The calls of a session, which the capability `identity` defines. */
export interface SessionCalls {
  /** Requests a new access token with the cookie. Returns false if there is no session. */
  renew: () => Promise<boolean>
  profile: () => Promise<Profile>
  signOut: () => Promise<unknown>
  /** Forgets the access token. */
  forget: () => void
}

export type SessionState =
  /** The console asks the server whether the cookie has a session. */
  | { phase: 'starting' }
  | { phase: 'out'; why: 'never in' | 'ended' | 'signed out' }
  | { phase: 'in'; profile: Profile }
  /** The server did not respond. */
  | { phase: 'failed'; failure: unknown }

/** Remembers that this browser had a session, so that a first visit sends no refresh request. */
export interface SessionMark {
  isSet: () => boolean
  set: (has: boolean) => void
}

/** Returns whether the account must set up a second factor before anything else. */
export const isFactorDue = ({ secondFactorDueAt }: Profile, now: number): boolean =>
  secondFactorDueAt !== null && Date.parse(secondFactorDueAt) <= now

/**
 * The session. It holds only the access token, in memory; the refresh token is in a cookie that scripts cannot read.
 * `onSignOut` deletes what the account left in the browser.
 */
export const createSession = (
  calls: SessionCalls,
  mark: SessionMark,
  onSignOut: (account: string) => void = () => {},
) => {
  let state: SessionState = { phase: 'starting' }
  const watchers = new Set<() => void>()
  const set = (next: SessionState) => {
    state = next
    if (next.phase === 'in' || next.phase === 'out') mark.set(next.phase === 'in')
    for (const watcher of watchers) watcher()
  }
  const reload = async () => set({ phase: 'in', profile: await calls.profile() })

  return {
    state: () => state,
    watch: (watcher: () => void): (() => void) => {
      watchers.add(watcher)
      return () => watchers.delete(watcher)
    },
    /** Resumes the session of the cookie when the console starts. */
    start: async () => {
      if (!mark.isSet()) return set({ phase: 'out', why: 'never in' })
      set({ phase: 'starting' })
      try {
        if (await calls.renew()) await reload()
        else set({ phase: 'out', why: 'ended' })
      } catch (failure) {
        set({ phase: 'failed', failure })
      }
    },
    /** Reads the own account and permissions again after a change. */
    reload,
    signOut: async () => {
      try {
        await calls.signOut()
      } catch (failure) {
        // The session has already ended.
        if (!(failure instanceof CallFailure) || failure.status !== 401) throw failure
      } finally {
        calls.forget()
        if (state.phase === 'in') onSignOut(state.profile.account.userName)
        set({ phase: 'out', why: 'signed out' })
      }
    },
    /** The server no longer knows the session. */
    ended: () => {
      if (state.phase === 'in') set({ phase: 'out', why: 'ended' })
    },
    may: (permission: Permission): boolean => state.phase === 'in' && state.profile.permissions.includes(permission),
  }
}

export type Session = ReturnType<typeof createSession>
