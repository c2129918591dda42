import { cleanText } from '@portcullis/domain'
import { AppError } from '@portcullis/platform/server/app-error.ts'
import type { Actor } from '@portcullis/platform/server/http/actor.ts'
import type { FastifyReply, FastifyRequest } from 'fastify'
import type { Configuration } from 'openid-client'
import {
  freshSeconds,
  identityConfirmedPage,
  oidcCallbackPath,
  signedInFragment,
  signInPage,
} from '#features/contract.ts'
import type { AccountsApi, ExternalVerdict, NotAdmitted } from '../accounts/index.ts'
import type { IdentityContext } from '../context.ts'
import { claimOf, type GroupsFault, personOf } from './oidc.claims.ts'
import { type OidcConfig, oidcConfigOf } from './oidc.config.ts'
import { type OidcCause, OidcFault, oidcFaultOf, oidcProblem } from './oidc.fault.ts'
import { authorizationUrl, discoverProvider, type Identity, identify } from './oidc.provider.ts'
import { type ConfirmedSession, createSigninStates, signinMs } from './oidc.state.ts'
import { createOidcStore } from './oidc.store.ts'

const cookieName = 'portcullis_oidc'
const cookiePath = '/prime/webui/Auth/Oidc'
/** How long the documents of a provider are cached. */
const freshMs = 10 * 60_000
/** How long a failed provider is not asked again. */
const pauseMs = 10_000

const refusalCodes: Readonly<Record<NotAdmitted, 'oidc_name_taken' | 'oidc_not_entitled'>> = {
  nameTaken: 'oidc_name_taken',
  disabled: 'oidc_not_entitled',
  unusableName: 'oidc_not_entitled',
}

/** Failures that only a change of the configuration ends. */
const concernsAdministrators: ReadonlySet<string> = new Set([
  'oidc_answer_invalid',
  'oidc_groups_unknown',
  'oidc_unavailable',
])

const cookieOf = (request: FastifyRequest): string => {
  for (const part of (request.headers.cookie ?? '').split(';')) {
    const at = part.indexOf('=')
    if (at > 0 && part.slice(0, at).trim() === cookieName) return part.slice(at + 1).trim()
  }
  return ''
}

/** Sign-in with an identity provider: authorisation code with PKCE, bound to one browser and used once. */
export const createOidc = ({ db, clock, keys, log, resolve, settings }: IdentityContext, accounts: AccountsApi) => {
  const states = createSigninStates(keys.derive('oidc-signin').reveal())
  const store = createOidcStore(db)
  const read = async (): Promise<OidcConfig> => oidcConfigOf(await settings.values(db, 'oidc'), resolve)
  let known: { source: string; at: number; provider: Promise<Configuration>; failed: boolean } | null = null

  /** Returns the provider's documents. Caches them, and pauses after a failure. */
  function providerOf(config: OidcConfig): Promise<Configuration> {
    const source = JSON.stringify([config.issuer, config.clientId, config.ca])
    const isGood =
      known !== null && known.source === source && clock.now() - known.at < (known.failed ? pauseMs : freshMs)
    if (known === null || !isGood) {
      const one = { source, at: clock.now(), provider: discoverProvider(config), failed: false }
      one.provider.catch((error: unknown) => {
        one.failed = true
        const { kind, message } = oidcFaultOf(error)
        log.warn({ cause: kind, reason: message }, 'could not reach the identity provider')
      })
      known = one
    }
    return known.provider
  }

  async function setCookie(request: FastifyRequest, reply: FastifyReply, value: string): Promise<void> {
    const isSecure = request.protocol === 'https' || (await accounts.baseUrl()).startsWith('https:')
    const seconds = value === '' ? 0 : signinMs / 1000
    // Lax: the provider sends the browser back from another site.
    reply.header(
      'set-cookie',
      `${cookieName}=${value}; Path=${cookiePath}; Max-Age=${seconds}; HttpOnly; SameSite=Lax${isSecure ? '; Secure' : ''}`,
    )
  }

  async function problem(reply: FastifyReply, error: AppError, page: string): Promise<void> {
    const { cause } = error
    // A browser can change the parameters of a response.
    if (cause instanceof OidcFault && concernsAdministrators.has(cause.code) && cause.kind !== 'answer')
      await settings.noteUse('oidc', cause.message)
    log.warn(
      cause instanceof OidcFault
        ? { code: error.code, cause: cause.kind, reason: cause.message }
        : { code: error.code, reason: error.message },
      'a sign-in failed',
    )
    reply.redirect(`${page}?problem=${error.code}`, 302)
  }

  const redirectUri = async (): Promise<string> => `${await accounts.baseUrl()}${oidcCallbackPath}`

  /**
   * Returns the identity of a response, and the session that it confirms (null for a sign-in). Refuses a response that
   * was not requested here, is late, was already used, or was requested for the other purpose.
   */
  async function identityBehind(
    config: OidcConfig,
    request: FastifyRequest,
    state: string,
  ): Promise<{ confirms: ConfirmedSession | null; identify: () => Promise<Identity> }> {
    const begun = states.resume(config, cookieOf(request), state, clock.now())
    if (begun === null) throw new AppError('oidc_answer_refused')
    if (!(await store.takeOnce(state, new Date(clock.now() + signinMs)))) throw new AppError('oidc_answer_refused')
    const answer = new URL(await redirectUri())
    answer.search = new URL(request.raw.url ?? '', 'http://local').search
    return {
      confirms: begun.confirms,
      identify: async () => identify(await providerOf(config), config, answer, begun.secrets),
    }
  }

  /**
   * Returns the person of an identity, or why the person cannot sign in. Withdraws the account only if the provider
   * said that the person is in no configured group.
   */
  async function personBehind(
    config: OidcConfig,
    identity: Identity,
  ): Promise<{ verdict: ExternalVerdict; fault: OidcFault | null }> {
    const { issuer, subject, claims, authenticatedAt } = identity
    const { userName, profile, fault, ...person } = personOf(config, claims)
    function lost(kind: OidcCause, code: OidcFault['code'], why: string) {
      const name = userName ?? `subject ${cleanText(subject, 200)}`
      return {
        verdict: { person: null, lost: { userName: name, why, isProven: true } },
        fault: new OidcFault(kind, code, `The sign-in of ${name} was refused: ${why}.`),
      }
    }
    if (profile === null) {
      const { kind, message, isLost } = fault as GroupsFault
      if (isLost) await accounts.withdrawSubject(issuer, subject, message)
      return isLost
        ? lost(kind, 'oidc_not_entitled', message)
        : lost(kind, 'oidc_groups_unknown', `${message}. The account was not changed`)
    }
    if (userName === null)
      return lost(
        'name',
        'oidc_not_entitled',
        claimOf(claims, config.nameClaim) === undefined
          ? `the claim ${config.nameClaim} is missing`
          : `the claim ${config.nameClaim} contains no usable name`,
      )
    return {
      verdict: { person: { ...person, issuer, id: subject, userName, profile, authenticatedAt } },
      fault: null,
    }
  }

  return {
    /**
     * Returns the buttons of the sign-in page. Absolute URLs: the cookie must belong to the provider's redirect host.
     */
    buttons: async (startPath: string): Promise<{ name: string; url: string }[]> => {
      const { isOn, name } = await read()
      return isOn ? [{ name, url: `${await accounts.baseUrl()}${startPath}` }] : []
    },

    start: async (request: FastifyRequest, reply: FastifyReply): Promise<void> => {
      try {
        const config = await read()
        if (!config.isOn) throw new AppError('oidc_unavailable')
        const { cookie, secrets } = states.begin(config, clock.now())
        const provider = await providerOf(config)
        const url = await authorizationUrl(provider, config, await redirectUri(), secrets)
        await setCookie(request, reply, cookie)
        reply.redirect(url.href, 302)
      } catch (error) {
        await problem(reply, oidcProblem(error), signInPage)
      }
    },

    /** Starts to confirm the caller's identity. Returns the address of the provider. */
    startConfirmation: async (actor: Actor, request: FastifyRequest, reply: FastifyReply): Promise<{ url: string }> => {
      const session = await accounts.confirmable(actor)
      const config = await read()
      if (!config.isOn) throw new AppError('oidc_unavailable')
      const { cookie, secrets } = states.begin(config, clock.now(), session)
      try {
        const again = { prompt: 'login', max_age: String(freshSeconds) }
        const url = await authorizationUrl(await providerOf(config), config, await redirectUri(), secrets, again)
        await setCookie(request, reply, cookie)
        return { url: url.href }
      } catch (error) {
        throw oidcProblem(error)
      }
    },

    finish: async (request: FastifyRequest, reply: FastifyReply, state: string): Promise<void> => {
      const page = states.isConfirmation(cookieOf(request)) ? identityConfirmedPage : signInPage
      function asProblem(error: unknown): never {
        throw oidcProblem(error)
      }
      try {
        const config = await read()
        if (!config.isOn) throw new AppError('oidc_unavailable')
        await setCookie(request, reply, '')
        const answer = await identityBehind(config, request, state).catch(asProblem)
        if (answer.confirms !== null) {
          await accounts.confirmIdentity(answer.confirms, request.ip, () => answer.identify().catch(asProblem))
          reply.redirect(identityConfirmedPage, 302)
          return
        }
        let fault: OidcFault | null = null
        const refused = await accounts.signInAs(
          async () => {
            const found = await answer
              .identify()
              .then((identity) => personBehind(config, identity))
              .catch(asProblem)
            fault = found.fault
            return found.verdict
          },
          request,
          reply,
        )
        if (refused === 'lost') throw oidcProblem(fault)
        if (refused !== null) throw new AppError(refusalCodes[refused])
        await settings.noteUse('oidc', null)
        reply.redirect(`/${signedInFragment}`, 302)
      } catch (error) {
        if (!(error instanceof AppError)) throw error
        await problem(reply, error, page)
      }
    },

    /** Drops the documents because the configuration changed. */
    forget: (): void => {
      known = null
    },

    maintain: (): Promise<unknown> => store.deleteEnded(new Date(clock.now())),
  }
}
