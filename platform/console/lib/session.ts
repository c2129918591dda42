import {
  type authProviders,
  consoleHeader,
  finishSignIn,
  getProfile,
  localLogin,
  logout,
  type MfaRequired,
  refreshToken,
} from '@portcullis/contract'
import type { BodyOf, ResponseOf } from '../../contract/operation.ts'
import type { Permission } from '../../contract/permissions.ts'
import type { Api, TokenAnswer } from './api.ts'
import { CallFailure } from './problem.ts'

export type Profile = ResponseOf<typeof getProfile>
export type Providers = ResponseOf<typeof authProviders>

/** One proof of identity after the password. */
export type SecondFactor = Omit<BodyOf<typeof finishSignIn>, 'mfaToken'>

export type SessionState =
  /** The console asks the server whether the cookie has a session. */
  | { phase: 'starting' }
  | { phase: 'out'; why: 'never in' | 'ended' | 'signed out' }
  | { phase: 'in'; profile: Profile }
  /** The server did not respond. */
  | { phase: 'failed'; failure: unknown }

/** Requests a new access token with the HttpOnly cookie of the console. */
export const refreshByCookie = async (send: Api['send']): Promise<TokenAnswer> => {
  const response = await send(refreshToken, { body: {} }, { [consoleHeader]: '1' })
  return (await response.json()) as TokenAnswer
}

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
 */
export const createSession = (api: Pick<Api, 'call' | 'send' | 'setToken' | 'renew'>, mark: SessionMark) => {
  let state: SessionState = { phase: 'starting' }
  const watchers = new Set<() => void>()
  const set = (next: SessionState) => {
    state = next
    if (next.phase === 'in' || next.phase === 'out') mark.set(next.phase === 'in')
    for (const watcher of watchers) watcher()
  }
  const reload = async () => set({ phase: 'in', profile: await api.call(getProfile) })

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
        if (await api.renew()) await reload()
        else set({ phase: 'out', why: 'ended' })
      } catch (failure) {
        set({ phase: 'failed', failure })
      }
    },
    /** Signs in with the password. Returns the required second factor, or null. */
    signIn: async (username: string, password: string): Promise<MfaRequired | null> => {
      api.setToken(null)
      const response = await api.send(localLogin, { body: { username, password } }, { [consoleHeader]: '1' })
      const answer = (await response.json()) as ResponseOf<typeof localLogin>
      if ('mfaRequired' in answer) return answer
      api.setToken(answer.token)
      await reload()
      return null
    },
    /** Completes a sign-in with the second factor. */
    finishSignIn: async ({ mfaToken }: Pick<MfaRequired, 'mfaToken'>, factor: SecondFactor): Promise<void> => {
      const response = await api.send(finishSignIn, { body: { mfaToken, ...factor } }, { [consoleHeader]: '1' })
      api.setToken(((await response.json()) as TokenAnswer).token)
      await reload()
    },
    /** Reads the own account and permissions again after a change. */
    reload,
    signOut: async () => {
      try {
        await api.call(logout)
      } catch (failure) {
        // The session has already ended.
        if (!(failure instanceof CallFailure) || failure.status !== 401) throw failure
      } finally {
        api.setToken(null)
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
