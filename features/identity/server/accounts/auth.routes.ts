import { AppError, invalid } from '@portcullis/platform/server/app-error.ts'
import type { HttpApp } from '@portcullis/platform/server/http/http-app.ts'
import type { FastifyReply, FastifyRequest } from 'fastify'
import {
  authProviders,
  type CustomLogin,
  confirmTotp,
  consoleHeader,
  createTicket,
  deleteSession,
  finishPasskey,
  finishSignIn,
  getMfa,
  type LocalLoginAnswer,
  listSessions,
  localLogin,
  logout,
  type MfaRequired,
  reauthenticate,
  refreshCookiePath,
  refreshToken,
  removePasskey,
  removeTotp,
  renewRecoveryCodes,
  resetMfa,
  setPassword,
  signIn,
  startPasskey,
  startPasskeySignIn,
  startReauthentication,
  startTotp,
} from '#features/contract.ts'
import { createAccountsRead } from './accounts.read.ts'
import { createAccountsStore } from './accounts.store.ts'
import type { AccountsContext } from './context.ts'
import type { Mfa } from './mfa.service.ts'
import type { PasswordLinks } from './password-links.service.ts'
import type { ReauthenticationService } from './reauthentication.service.ts'
import type { Opened, SessionsService } from './sessions.service.ts'
import type { SigninFrom, SigninService } from './signin.service.ts'
import { loginAnswer, signInAnswer } from './view.ts'

const cookieName = 'portcullis_refresh'

const cookieOf = (request: FastifyRequest): string | null => {
  for (const part of (request.headers.cookie ?? '').split(';')) {
    const at = part.indexOf('=')
    if (at > 0 && part.slice(0, at).trim() === cookieName) return part.slice(at + 1).trim()
  }
  return null
}

const setCookie = (request: FastifyRequest, reply: FastifyReply, value: string, seconds: number): void => {
  const secure = request.protocol === 'https' ? '; Secure' : ''
  reply.header(
    'set-cookie',
    `${cookieName}=${value}; Path=${refreshCookiePath}; Max-Age=${seconds}; HttpOnly; SameSite=Strict${secure}`,
  )
}

/** Returns the client address and browser of a sign-in. */
export const fromOf = (request: FastifyRequest, wantsRefresh: boolean): SigninFrom => ({
  ip: request.ip,
  userAgent: String(request.headers['user-agent'] ?? '')
    .replace(/\p{Cc}/gu, ' ')
    .toWellFormed()
    .slice(0, 256),
  wantsRefresh,
})

/** Sets the console's cookie with the refresh token. */
export const setRefreshCookie = (request: FastifyRequest, reply: FastifyReply, opened: Opened, now: number): void => {
  if (opened.refreshToken !== null)
    setCookie(request, reply, opened.refreshToken, Math.floor((opened.sessionEnds - now) / 1000))
}

const isConsole = (request: FastifyRequest): boolean => request.headers[consoleHeader] === '1'

/** Refuses a body unless exactly one of its members has a value. */
const assertOne = (given: Readonly<Record<string, unknown>>, names: string): void => {
  const count = Object.values(given).filter((value) => value !== null && value !== undefined).length
  if (count !== 1) throw invalid('body', `must contain exactly one of ${names}`)
}

/** A reload takes a second or two. A thief who can use the cookie within five seconds already controls the browser. */
const cookieGraceMs = 5_000

export const registerAuthRoutes = (
  app: HttpApp,
  context: AccountsContext,
  services: {
    signin: SigninService
    mfa: Mfa
    reauthentication: ReauthenticationService
    sessions: SessionsService
    links: PasswordLinks
  },
): void => {
  const { db, clock, licence, directory } = context
  const { signin, sessions, links, mfa, reauthentication } = services

  async function accountOf(opened: Opened) {
    const account = await createAccountsStore(db).byId(opened.accountId)
    if (account === undefined) throw new AppError('session_ended')
    return account
  }

  /** Answers with the session. For the console, the refresh token goes into a cookie. */
  async function answer(
    opened: Opened,
    request: FastifyRequest,
    reply: FastifyReply,
    byCookie: boolean,
  ): Promise<LocalLoginAnswer> {
    const body = loginAnswer(opened, await accountOf(opened), await licence.summary())
    if (!byCookie || opened.refreshToken === null) return body
    setRefreshCookie(request, reply, opened, clock.now())
    return { ...body, refreshToken: null }
  }

  app.register(signIn, async ({ body, request }) => {
    const opened = await signin.signIn(body, fromOf(request, false), false).catch((error: unknown) => {
      if (error instanceof AppError && ['credentials_wrong', 'account_suspended'].includes(error.code))
        throw new AppError('signin_refused')
      throw error
    })
    if ('secondFactorOf' in opened) throw new AppError('signin_refused')
    return signInAnswer(opened, await accountOf(opened), await licence.summary())
  })

  app.register(localLogin, async ({ body, request, reply }): Promise<LocalLoginAnswer | MfaRequired> => {
    const opened = await signin.signIn(body, fromOf(request, true), true)
    if (!('secondFactorOf' in opened)) return answer(opened, request, reply, isConsole(request))
    const account = opened.secondFactorOf
    return {
      mfaRequired: true,
      mfaToken: await mfa.begin(account),
      methods: await mfa.methodsOf(db, account.account_id),
    }
  })

  app.register(startPasskeySignIn, ({ body }) => mfa.startPasskeySignIn(body.mfaToken))
  app.register(finishSignIn, async ({ body, request, reply }) => {
    const { mfaToken, ...given } = body
    assertOne(given, 'code, recoveryCode and response')
    const account = await mfa.finish(mfaToken, given, request.ip)
    return answer(await signin.open(account, fromOf(request, true)), request, reply, isConsole(request))
  })
  app.register(reauthenticate, async ({ actor, body }) => {
    assertOne(body, 'password, code, recoveryCode and response')
    return reauthentication.reauthenticate(actor, body)
  })
  app.register(startReauthentication, ({ actor }) => reauthentication.startPasskey(actor))
  app.register(getMfa, ({ actor }) => mfa.state(actor))
  app.register(startTotp, ({ actor, body }) => mfa.startTotp(actor, body.password))
  app.register(confirmTotp, ({ actor, body }) => mfa.confirmTotp(actor, body.code))
  app.register(removeTotp, ({ actor, body }) => mfa.removeTotp(actor, body.password))
  app.register(renewRecoveryCodes, ({ actor, body }) => mfa.renewCodes(actor, body.password))
  app.register(startPasskey, ({ actor, body }) => mfa.startPasskey(actor, body.password))
  app.register(finishPasskey, ({ actor, body }) => mfa.finishPasskey(actor, body.name, body.response))
  app.register(removePasskey, ({ actor, body }) => mfa.removePasskey(actor, body.password, body.id))
  app.register(resetMfa, ({ actor, body }) => mfa.reset(actor, body.userName))

  app.register(refreshToken, async ({ body, request, reply }) => {
    const given = body?.refreshToken ?? null
    const token = given ?? cookieOf(request)
    if (token === null) throw new AppError('session_ended')
    const byCookie = given === null || isConsole(request)
    try {
      return await answer(
        await sessions.refresh(token, request.ip, given === null ? cookieGraceMs : 0),
        request,
        reply,
        byCookie,
      )
    } catch (error) {
      if (byCookie && error instanceof AppError && error.status === 401) setCookie(request, reply, '', 0)
      throw error
    }
  })

  app.register(logout, async ({ actor, request, reply }) => {
    const ended = await sessions.logout(actor)
    if (cookieOf(request) !== null) setCookie(request, reply, '', 0)
    return { ended }
  })

  app.register(listSessions, ({ actor }) => sessions.list(actor))

  app.register(deleteSession, async ({ actor, params }) => {
    await sessions.endOne(actor, params.id)
    return { ended: true }
  })

  app.register(setPassword, ({ body, request }) => links.consume(body, request.ip))

  app.register(createTicket, ({ actor }) => sessions.createTicket(actor))

  app.register(authProviders, async () => {
    const defaults: CustomLogin = {
      CUSTOM_LOGIN_TITLE: 'Portcullis',
      CUSTOM_LOGIN_MESSAGE: '',
      CUSTOM_LOGIN_BANNER: '',
      CUSTOM_LOGIN_LOGO: '',
      CUSTOM_LOGIN_BACKGROUND: '',
      CUSTOM_LOGIN_COLOR: '',
    }
    const [items, others] = await Promise.all([
      createAccountsRead(db).configItems(Object.keys(defaults)),
      directory.providers(),
    ])
    return {
      local: true,
      ...others,
      customLogin: { ...defaults, ...Object.fromEntries(items) } as CustomLogin,
    }
  })
}
