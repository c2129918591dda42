import { AppError } from '@portcullis/platform/server/app-error.ts'
import { explainedFault } from '@portcullis/platform/server/connection-fault.ts'
import { DestinationError } from '@portcullis/platform/server/destinations.ts'
import type { ErrorCode } from '#features/contract.ts'
import { certificateFault } from './certificate-labels.ts'
import { isAccepted, isKnown, preferredAlgorithms } from './oidc.algorithms.ts'
import type { StepFault } from './test-steps.ts'

/** Request during which a provider failed. The error codes of the library do not name it. */
export type OidcStage = 'discovery' | 'token' | 'userinfo'

/** A failure of the library, with the request that failed. */
export class OidcStageError extends Error {
  readonly stage: OidcStage
  constructor(stage: OidcStage, cause: unknown) {
    super(`the ${stage} request failed`, { cause })
    this.stage = stage
  }
}

/** Why a sign-in or a test failed: one cause per sentence. Logs aggregate by cause, so the set is bounded. */
export type OidcCause =
  | `algorithm-${string}`
  | 'address'
  | 'certificate'
  | 'connection'
  | 'document'
  | 'key'
  | 'signature'
  | 'clock-early'
  | 'clock-late'
  | 'issuer'
  | 'audience'
  | 'audience-azp'
  | 'nonce'
  | 'claim'
  | 'token'
  | 'userinfo'
  | 'userinfo-subject'
  | 'userinfo-token'
  | 'answer'
  | 'code'
  | 'client'
  | 'denied'
  | 'request'
  | 'groups-missing'
  | 'groups-overage'
  | 'groups-joined'
  | 'groups-unreadable'
  | 'groups-none'
  | 'name'
  | 'other'

/** An explained failure. The message names the cause and the cure, and contains no text that the provider chose. */
export class OidcFault extends Error {
  readonly kind: OidcCause
  readonly code: Extract<ErrorCode, `oidc_${string}`>
  constructor(kind: OidcCause, code: OidcFault['code'], message: string, cause?: unknown) {
    super(message, cause === undefined ? {} : { cause })
    this.kind = kind
    this.code = code
  }
}

interface Link extends Error {
  code?: unknown
  error?: unknown
  status?: unknown
}

/** Yields an error and its causes. */
const chain = function* (error: unknown): Generator<Link> {
  let one: unknown = error
  for (let depth = 0; one instanceof Error && depth < 8; depth++) {
    yield one
    one = one.cause
  }
}

/** Returns a member of the details that the library attaches to the innermost error. */
const detailOf = (links: readonly Link[], ...path: readonly string[]): unknown => {
  let value: unknown = links.at(-1)?.cause
  for (const name of path) value = (value as Record<string, unknown> | null | undefined)?.[name]
  return value
}

/** Quotes a name from the provider if it is short and plain. */
export const named = (value: unknown): string =>
  typeof value === 'string' && /^[\w.-]{1,40}$/.test(value) ? ` (${value})` : ''

const algorithmFault = (alg: unknown, what: string): readonly [OidcCause, string] => [
  `algorithm-${isKnown(alg) ? alg : 'other'}`,
  isAccepted(alg)
    ? `The provider signs ${what} with an algorithm${named(alg)} that its discovery document does not announce. Correct id_token_signing_alg_values_supported there, or choose another algorithm for this client.`
    : `The provider signs ${what} with an algorithm${named(alg)} that this server does not accept. Choose ${preferredAlgorithms} for this client at the provider.`,
]

const clockFault = (claim: unknown): readonly [OidcCause, string] => {
  if (claim === 'exp')
    return [
      'clock-late',
      'The token of the provider had already expired when it arrived. Compare the clocks of both machines, and the lifetime of ID tokens at the provider.',
    ]
  return claim === 'auth_time'
    ? ['clock-late', 'The person authenticated at the provider too long ago. Configure the provider to honour max_age.']
    : [
        'clock-early',
        'The token of the provider is not valid yet: the clocks of the provider and this server differ by more than a minute. Synchronise both.',
      ]
}

/** Explains a claim with the wrong value. */
const comparisonFault = (claim: unknown): readonly [OidcCause, string] => {
  if (claim === 'iss')
    return [
      'issuer',
      'The token names another issuer (iss) than the discovery document of the provider. Both must be identical, including a trailing slash. Correct the issuer at the provider.',
    ]
  if (claim === 'aud')
    return [
      'audience',
      'The token is for another audience (aud), or for several without azp. Check the client ID here, and configure the provider to name only this client.',
    ]
  if (claim === 'azp')
    return ['audience-azp', 'The token names another client in azp. Check the client ID here and at the provider.']
  if (claim === 'nonce')
    return ['nonce', 'The token does not contain the nonce of this sign-in. The provider must return it unchanged.']
  return ['claim', `The token contains a claim${named(claim)} with an unexpected value.`]
}

const silent = new Set(['ETIMEDOUT', 'OAUTH_TIMEOUT', 'OAUTH_ABORT'])

/** Explains failures of addresses, certificates and connections. */
const connectionFault = (links: readonly Link[]): readonly [OidcCause, string] | null => {
  for (const one of links) {
    if (one instanceof DestinationError)
      return [
        'address',
        one.fault === 'unresolved'
          ? `${one.host} cannot be resolved. Check the name, and the DNS of this server.`
          : `${one.host} resolves to an address that this server never connects to.`,
      ]
    const explained = explainedFault(one, 'the provider')
    if (explained !== null) return ['certificate', explained]
    const certificate = certificateFault(one)
    if (certificate !== undefined) return ['certificate', `The certificate of the provider ${certificate}.`]
    if (one.code === 'ECONNREFUSED')
      return ['connection', 'Nothing listens at this address. Check the address, and whether the provider runs.']
    if (silent.has(String(one.code))) return ['connection', 'The provider did not answer in time.']
  }
  return null
}

/** Explains responses that the library refuses. Its code names the kind, and the innermost error has the details. */
const answerFault = (links: readonly Link[], stage: OidcStage, code: string): readonly [OidcCause, string] | null => {
  const text = links.at(-1)?.message ?? ''
  const what = stage === 'userinfo' ? 'its userinfo response' : 'ID tokens'
  if (stage === 'userinfo' && /client or server configuration to verify/.test(text))
    return [
      'userinfo-token',
      'The userinfo endpoint responds with a signed token (JWT), which the discovery document of the provider does not announce. Configure it to respond with plain JSON, or add the claims to the ID token.',
    ]
  if (/"alg" header|unsupported JWS (algorithm|"alg")/.test(text))
    return algorithmFault(detailOf(links, 'header', 'alg') ?? detailOf(links, 'alg'), what)
  switch (code) {
    case 'OAUTH_JWT_TIMESTAMP_CHECK_FAILED':
      return clockFault(detailOf(links, 'claim'))
    case 'OAUTH_JWT_CLAIM_COMPARISON_FAILED':
      return comparisonFault(detailOf(links, 'claim'))
    case 'OAUTH_JSON_ATTRIBUTE_COMPARISON_FAILED':
      return detailOf(links, 'attribute') === 'sub'
        ? [
            'userinfo-subject',
            'The userinfo response belongs to another subject (sub) than the ID token. Configure the provider to use the same subject in both.',
          ]
        : [
            'issuer',
            'The discovery document of the provider names another issuer. Enter the issuer exactly as the provider names it.',
          ]
    case 'OAUTH_KEY_SELECTION_FAILED':
      return [
        'key',
        'No published key of the provider matches the token, or several do. Publish the signing key with its kid at jwks_uri.',
      ]
    case 'OAUTH_UNSUPPORTED_OPERATION':
      return /decryption/.test(text)
        ? ['token', `The provider encrypts ${what}. Turn off encryption for this client there.`]
        : ['token', `The provider uses a form of ${what} that this server does not support.`]
    case 'OAUTH_MISSING_SERVER_METADATA':
    case 'OAUTH_INVALID_SERVER_METADATA':
      return ['document', 'The discovery document of the provider lacks a valid address that a sign-in needs.']
    case 'OAUTH_INVALID_RESPONSE':
      if (/signature verification/.test(text))
        return ['signature', 'The signature of the token is wrong: the provider did not publish its key.']
      if (/response parameter|callbackParameters|"parameters"|provided only once/.test(text))
        return [
          'answer',
          'The browser returned without a code, or with the issuer (iss) of another provider. Start again from the sign-in page.',
        ]
      if (/claim missing|claim type/.test(text))
        return [
          'claim',
          `The token lacks a claim${named(/"(\w+)"/.exec(text)?.[1])} that every ID token must have, or it has the wrong type.`,
        ]
      return stage === 'userinfo'
        ? ['userinfo', 'The userinfo response is not valid. It must be JSON with the subject (sub).']
        : ['token', 'The token response is not valid: it lacks a readable ID token or access token.']
    default:
      return null
  }
}

/** Explains responses that do not follow the protocol. */
const protocolFault = (links: readonly Link[], stage: OidcStage, code: string): readonly [OidcCause, string] | null => {
  const isUnread =
    code === 'OAUTH_RESPONSE_IS_NOT_CONFORM' || code === 'OAUTH_RESPONSE_IS_NOT_JSON' || code === 'OAUTH_PARSE_ERROR'
  if (!isUnread) return null
  if (stage === 'discovery')
    return [
      'document',
      code === 'OAUTH_RESPONSE_IS_NOT_CONFORM'
        ? 'This issuer has no discovery document. The issuer is the address before /.well-known/openid-configuration.'
        : 'The server at this address is not an identity provider. Check the issuer.',
    ]
  const status = detailOf(links, 'status')
  const got = typeof status === 'number' && status !== 200 ? `status ${status}` : 'neither JSON nor a token'
  return stage === 'userinfo'
    ? [
        'userinfo',
        `The userinfo endpoint of the provider responded with ${got}. Check it, and the scopes of this client.`,
      ]
    : [
        'token',
        `The token endpoint or key endpoint of the provider responded with ${got}. See the log of the provider.`,
      ]
}

/** Explains an error response of the provider. */
const refusalFault = (link: Link, stage: OidcStage): readonly [OidcCause, OidcFault['code'], string] | null => {
  switch (link.name) {
    case 'AuthorizationResponseError':
      return link.error === 'access_denied'
        ? ['denied', 'oidc_denied', 'The person cancelled, or the provider does not let them use this application.']
        : [
            'request',
            'oidc_denied',
            `The provider refused to sign the person in${named(link.error)}. Check the scopes here, and this client at the provider.`,
          ]
    case 'ResponseBodyError':
      if (link.error === 'invalid_grant')
        return [
          'code',
          'oidc_answer_refused',
          'The provider refused the code: it was used before, arrived too late, or belongs to another sign-in or redirect address.',
        ]
      if (link.error === 'invalid_client' || link.error === 'unauthorized_client') break
      return [
        'request',
        'oidc_unavailable',
        `The provider refused the exchange of the code${named(link.error)}. Check this client at the provider.`,
      ]
    case 'WWWAuthenticateChallengeError':
      if (stage === 'userinfo')
        return [
          'userinfo',
          'oidc_answer_invalid',
          'The userinfo endpoint of the provider refused the access token that the provider had just issued. Check the scopes of this client there.',
        ]
      break
    default:
      return null
  }
  return [
    'client',
    'oidc_unavailable',
    'The provider refused this server as a client. Check the client ID, and enter the client secret again.',
  ]
}

/** Explains a failure of the library, a socket or the resolver. */
export const oidcFaultOf = (error: unknown): OidcFault => {
  if (error instanceof OidcFault) return error
  const links = [...chain(error)]
  const stage = links.find((one) => one instanceof OidcStageError)?.stage ?? 'discovery'
  for (const link of links) {
    const refused = refusalFault(link, stage)
    if (refused !== null) return new OidcFault(...refused, error)
  }
  const lost = connectionFault(links)
  if (lost !== null) return new OidcFault(lost[0], 'oidc_unavailable', lost[1], error)
  const code = links.map((one) => one.code).find((one): one is string => typeof one === 'string') ?? ''
  const wrong = answerFault(links, stage, code) ?? protocolFault(links, stage, code)
  if (wrong !== null) {
    const isProvider = stage !== 'discovery' && wrong[0] !== 'document'
    return new OidcFault(wrong[0], isProvider ? 'oidc_answer_invalid' : 'oidc_unavailable', wrong[1], error)
  }
  return new OidcFault(
    'other',
    'oidc_unavailable',
    'The request to the provider failed for another reason. The log of this server has the details.',
    error,
  )
}

/** Returns the message of a failed test, with the setting to correct. */
export const oidcTestFault = (error: unknown): StepFault => {
  const { kind, message } = oidcFaultOf(error)
  return {
    message,
    field: kind === 'certificate' ? 'OIDC_CA' : kind === 'client' ? 'OIDC_CLIENT_SECRET' : 'OIDC_ISSUER',
  }
}

/** Converts a failed exchange to the error for the person who signs in. Its cause is the explained fault. */
export const oidcProblem = (error: unknown): AppError => {
  if (error instanceof AppError) return error
  const fault = oidcFaultOf(error)
  return new AppError(fault.code, {}, { cause: fault })
}
