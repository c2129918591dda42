import type { ConfigTested } from '@portcullis/contract'
import { cleanText } from '@portcullis/domain'
import type { Configuration } from 'openid-client'
import type { OidcConfig } from './oidc.config.ts'
import { oidcTestFault } from './oidc.fault.ts'
import { discoverProvider, providerFetch } from './oidc.provider.ts'
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

const keysOf = async (config: OidcConfig, provider: Configuration): Promise<string> => {
  const answer = await providerFetch(config)(provider.serverMetadata().jwks_uri as string)
  const document: unknown = answer.status === 200 ? await answer.json().catch(() => null) : null
  const keys = (document as { keys?: unknown } | null)?.keys
  if (!Array.isArray(keys) || keys.length === 0)
    throw new StepFailure('The provider publishes no keys to verify its tokens.', 'OIDC_ISSUER')
  return `${keys.length === 1 ? 'One key' : `${keys.length} keys`} to verify tokens.`
}

/** Tests a provider as far as possible without a person. */
export const testOidcConnection = (config: OidcConfig, redirectUri: string): Promise<ConfigTested> =>
  inSteps(oidcTestFault, async (steps) => {
    let provider: Configuration | null = null
    await steps.run('Discovery', async () => {
      provider = await discoverProvider(config)
      return `The provider at ${hostOf(config.issuer)} answers, its certificate is valid, and the issuer matches.`
    })
    const found = provider as Configuration | null
    if (found === null) return
    await steps.run('Endpoints', () => endpointsOf(found))
    await steps.run('Keys', () => keysOf(config, found))
    steps.done('Redirect address', `Register ${redirectUri} for this client at the provider.`)
  })
