import { randomBytes } from 'node:crypto'
import { cleanText } from '@portcullis/domain'
import { systemClock } from '@portcullis/platform/server/clock.ts'
import type { Configuration } from 'openid-client'
import type { ConfigTested } from '#features/contract.ts'
import { isAccepted, isKnown, keyTypeOf, preferredAlgorithms } from './oidc.algorithms.ts'
import type { OidcConfig } from './oidc.config.ts'
import { named, oidcFaultOf, oidcTestFault } from './oidc.fault.ts'
import {
  authorizationUrl,
  discoverProvider,
  identify,
  providerFetch,
  type SigninSecrets,
  toleranceSeconds,
} from './oidc.provider.ts'
import { inSteps, StepFailure } from './test-steps.ts'

const hostOf = (address: string | undefined): string =>
  address !== undefined && URL.canParse(address) ? cleanText(new URL(address).host, 120) : ''

const endpointsOf = (provider: Configuration): string => {
  const server = provider.serverMetadata()
  const needed = {
    authorization_endpoint: 'sign people in',
    token_endpoint: 'exchange codes',
    jwks_uri: 'check tokens',
  }
  for (const [name, use] of Object.entries(needed)) {
    const address = server[name as keyof typeof needed]
    if (typeof address !== 'string' || !address.startsWith('https://'))
      throw new StepFailure(`The provider's document has no https address to ${use} (${name}).`, 'OIDC_ISSUER')
  }
  if (server.response_types_supported?.includes('code') === false)
    throw new StepFailure('The provider does not support the authorisation code.', 'OIDC_ISSUER')
  const pkce = server.code_challenge_methods_supported?.includes('S256') === true
  return `People sign in at ${hostOf(server.authorization_endpoint)}. Codes are exchanged at ${hostOf(server.token_endpoint)}. ${pkce ? 'PKCE is supported.' : 'The provider does not announce PKCE; it is used anyway.'}`
}

/** Checks that the provider can sign with an algorithm that sign-in accepts, and publishes a key for it. */
const keysOf = async (config: OidcConfig, provider: Configuration): Promise<string> => {
  const server = provider.serverMetadata()
  const answer = await providerFetch(config)(server.jwks_uri as string)
  const document: unknown = answer.status === 200 ? await answer.json().catch(() => null) : null
  const keys = (document as { keys?: unknown } | null)?.keys
  if (!Array.isArray(keys) || keys.length === 0)
    throw new StepFailure('The provider publishes no keys to verify its tokens.', 'OIDC_ISSUER')
  const announced = [server.id_token_signing_alg_values_supported ?? 'RS256'].flat()
  const usable = announced.filter(isAccepted)
  if (usable.length === 0)
    throw new StepFailure(
      `The provider announces no algorithm for ID tokens that this server accepts. Choose ${preferredAlgorithms} there.`,
    )
  const signed = usable.filter((alg) =>
    keys.some(
      (key: { kty?: unknown; alg?: unknown; use?: unknown }) =>
        key?.kty === keyTypeOf(alg) && (key.alg ?? alg) === alg && (key.use ?? 'sig') === 'sig',
    ),
  )
  if (signed.length === 0)
    throw new StepFailure(
      `The provider publishes no signing key for ${usable.join(', ')}. Add one, and choose ${preferredAlgorithms} for this client there.`,
    )
  const refused = announced.filter((alg) => isKnown(alg) && !signed.includes(alg))
  return `${keys.length === 1 ? 'One key' : `${keys.length} keys`} to verify tokens that are signed with ${signed.join(', ')}.${
    refused.length === 0
      ? ''
      : ` The provider also offers ${refused.join(', ')}, which sign-in refuses. Choose ${signed.includes('RS256') ? 'RS256' : signed[0]} for this client there.`
  }`
}

const clockOf = (skewSeconds: number | null): string => {
  if (skewSeconds === null) return 'The provider does not send its time.'
  const amount = Math.abs(skewSeconds)
  const direction = skewSeconds > 0 ? 'ahead of' : 'behind'
  if (amount > toleranceSeconds)
    throw new StepFailure(
      `The clock of the provider is ${amount} s ${direction} the clock of this server. At most ${toleranceSeconds} s are accepted. Synchronise both.`,
    )
  return amount <= 1 ? 'The clocks agree.' : `The clock of the provider is ${amount} s ${direction} this server.`
}

const claimsOf = (config: OidcConfig, provider: Configuration): string => {
  const { claims_supported: claims, scopes_supported: scopes } = provider.serverMetadata()
  const unnamed = [config.groupsClaim, config.nameClaim].filter(
    (name) => Array.isArray(claims) && !claims.some((one) => one === name || one === name.split('.')[0]),
  )
  const strange = config.scope.split(' ').filter((scope) => Array.isArray(scopes) && !scopes.includes(scope))
  const notes = [
    ...unnamed.map((name) => `The provider does not announce the claim ${name}. Without it, sign-ins are refused.`),
    ...strange.map((scope) => `The provider does not announce the scope ${scope}.`),
  ]
  return notes.length === 0
    ? `Sign-in needs the claims ${config.nameClaim} and ${config.groupsClaim}.`
    : notes.join(' ')
}

/** Errors that say only that the provider would have to ask the person. It accepted everything else. */
const accepted = new Set(['login_required', 'interaction_required', 'consent_required', 'account_selection_required'])

/** Sends the request of a sign-in, as a browser does. `prompt=none` forbids the provider to show a page. */
const requestSignin = async (
  config: OidcConfig,
  provider: Configuration,
  redirectUri: string,
  secrets: SigninSecrets,
): Promise<string> => {
  const url = await authorizationUrl(provider, config, redirectUri, secrets, { prompt: 'none' })
  const { status, headers } = await providerFetch(config)(url)
  const location = headers.get('location')
  const register = `Register ${redirectUri} for this client at the provider.`
  if (status >= 400)
    throw new StepFailure(
      `The provider refused the request of a sign-in with status ${status}. Check the client ID. ${register}`,
      'OIDC_CLIENT_ID',
    )
  if (location?.startsWith(redirectUri) !== true)
    return `Not tested: the provider responds only to a browser. ${register}`
  const error = new URL(location).searchParams.get('error')
  if (error !== null && !accepted.has(error))
    throw new StepFailure(
      `The provider refused the request of a sign-in${named(error)}. Check ${error === 'invalid_scope' ? 'the scopes' : 'this client at the provider'}.`,
      error === 'invalid_scope' ? 'OIDC_SCOPES' : 'OIDC_CLIENT_ID',
    )
  return `The provider accepts the client ID, the scopes and ${redirectUri}.`
}

/** Exchanges a code that does not exist. A provider that knows the client refuses only the code. */
const authenticateClient = async (
  config: OidcConfig,
  provider: Configuration,
  redirectUri: string,
  secrets: SigninSecrets,
): Promise<string> => {
  const answer = new URL(redirectUri)
  answer.search = new URLSearchParams({
    code: 'connection-test',
    state: secrets.state,
    iss: provider.serverMetadata().issuer,
  }).toString()
  const fault = await identify(provider, config, answer, secrets).then(() => null, oidcFaultOf)
  if (fault === null || fault.kind === 'code') return 'The provider accepts the client ID and the client secret.'
  // Some providers check the form of the code before the client.
  if (fault.kind === 'request') return 'Not tested: the provider refused the test code before it checked the client.'
  throw fault
}

/** Tests a provider by the steps of a sign-in that need no person. */
export const testOidcConnection = (config: OidcConfig, redirectUri: string): Promise<ConfigTested> =>
  inSteps(oidcTestFault, async (steps) => {
    const state = randomBytes(32).toString('base64url')
    const secrets = { state, nonce: state, verifier: state }
    let skewSeconds: number | null = null
    const fetch = providerFetch(config)
    let provider: Configuration | null = null
    await steps.run('Discovery', async () => {
      provider = await discoverProvider(config, async (address, init) => {
        const answer = await fetch(address, init)
        // The library compares tokens with the clock of this machine.
        const skew = Date.parse(answer.headers.get('date') ?? '') - systemClock.now()
        skewSeconds = Number.isNaN(skew) ? null : Math.round(skew / 1000)
        return answer
      })
      return `The provider at ${hostOf(config.issuer)} answers, its certificate is valid, and the issuer matches.`
    })
    const found = provider as Configuration | null
    if (found === null) return
    await steps.run('Endpoints', () => endpointsOf(found))
    await steps.run('Keys', () => keysOf(config, found))
    await steps.run('Clock', () => clockOf(skewSeconds))
    await steps.run('Claims', () => claimsOf(config, found))
    await steps.run('Redirect address', () => requestSignin(config, found, redirectUri, secrets))
    await steps.run('Client', () => authenticateClient(config, found, redirectUri, secrets))
  })
