import { createOutboundFetch } from '@portcullis/platform/server/outbound-fetch.ts'
import {
  authorizationCodeGrant,
  buildAuthorizationUrl,
  ClientSecretBasic,
  ClientSecretPost,
  type Configuration,
  calculatePKCECodeChallenge,
  clockTolerance,
  customFetch,
  discovery,
  enableNonRepudiationChecks,
  fetchUserInfo,
  None,
} from 'openid-client'
import { type Claims, claimOf } from './oidc.claims.ts'
import type { OidcConfig } from './oidc.config.ts'
import { type OidcStage, OidcStageError } from './oidc.fault.ts'

/** Time limit of one exchange with a provider in milliseconds. */
const exchangeMs = 8_000
/** Documents and tokens of providers have about 10 KB, and the keys of large ones 100 KB. */
const mostBytes = 1024 * 1024
/** Allowed difference between the clocks in seconds. */
export const toleranceSeconds = 60

/** Secrets of a sign-in that only the browser that started it can return. */
export interface SigninSecrets {
  state: string
  nonce: string
  verifier: string
}

/** An identity confirmed by a provider. */
export interface Identity {
  issuer: string
  subject: string
  claims: Claims
  /** When the person authenticated at the provider, from the signed ID token, in milliseconds. Null if missing. */
  authenticatedAt: number | null
}

export const providerFetch = (config: OidcConfig) =>
  createOutboundFetch({ ca: config.ca, timeoutMs: exchangeMs, mostBytes, resolve: config.resolve })

/** Reads the documents of a provider, against which its responses are checked. */
export const discoverProvider = async (config: OidcConfig, fetch = providerFetch(config)): Promise<Configuration> => {
  const secret = config.clientSecret()?.reveal()
  const configuration = await discovery(
    new URL(config.issuer),
    config.clientId,
    { [clockTolerance]: toleranceSeconds },
    // The document says how the provider accepts the client secret.
    (server, client, body, headers) => {
      const methods = server.token_endpoint_auth_methods_supported
      const apply =
        secret === undefined
          ? None()
          : methods?.includes('client_secret_post') === true
            ? ClientSecretPost(secret)
            : ClientSecretBasic(secret)
      return apply(server, client, body, headers)
    },
    {
      // Check signatures even though the tokens come from the provider over TLS.
      execute: [enableNonRepudiationChecks],
      timeout: exchangeMs / 1000,
      [customFetch]: (url, init) => fetch(url, init),
    },
  )
  return configuration
}

export const authorizationUrl = async (
  provider: Configuration,
  config: OidcConfig,
  redirectUri: string,
  { state, nonce, verifier }: SigninSecrets,
  more: Readonly<Record<string, string>> = {},
): Promise<URL> =>
  buildAuthorizationUrl(provider, {
    ...more,
    redirect_uri: redirectUri,
    scope: config.scope,
    state,
    nonce,
    code_challenge: await calculatePKCECodeChallenge(verifier),
    code_challenge_method: 'S256',
  })

const during =
  (stage: OidcStage) =>
  (error: unknown): never => {
    throw new OidcStageError(stage, error)
  }

/** Exchanges the code of a response for an identity. Checks state, nonce, issuer, audience, times and signature. */
export const identify = async (
  provider: Configuration,
  config: OidcConfig,
  answer: URL,
  { state, nonce, verifier }: SigninSecrets,
): Promise<Identity> => {
  const tokens = await authorizationCodeGrant(provider, answer, {
    expectedState: state,
    expectedNonce: nonce,
    pkceCodeVerifier: verifier,
    idTokenExpected: true,
  }).catch(during('token'))
  const own = tokens.claims()
  if (own === undefined) throw new Error('the provider sent no ID token')
  const isComplete = [config.nameClaim, config.groupsClaim].every((name) => claimOf(own, name) !== undefined)
  const more =
    isComplete || provider.serverMetadata().userinfo_endpoint === undefined
      ? {}
      : await fetchUserInfo(provider, tokens.access_token, own.sub).catch(during('userinfo'))
  const at = own.auth_time
  return {
    issuer: own.iss,
    subject: own.sub,
    claims: { ...more, ...own },
    authenticatedAt: typeof at === 'number' && Number.isFinite(at) ? at * 1000 : null,
  }
}
