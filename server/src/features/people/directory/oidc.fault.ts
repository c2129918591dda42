import { AppError } from '#platform/app-error.ts'
import { DestinationError } from '#platform/destinations.ts'
import { certificateFault } from './certificate-labels.ts'

/** Codes of the library for answers that were read and found wrong, in contrast to those that never came. */
const wrongAnswer: ReadonlySet<string> = new Set([
  'OAUTH_INVALID_RESPONSE',
  'OAUTH_JWT_CLAIM_COMPARISON_FAILED',
  'OAUTH_JWT_TIMESTAMP_CHECK_FAILED',
  'OAUTH_JSON_ATTRIBUTE_COMPARISON_FAILED',
  'OAUTH_MISSING_SERVER_METADATA',
  'OAUTH_KEY_SELECTION_FAILED',
  'OAUTH_UNSUPPORTED_OPERATION',
  'OAUTH_PARSE_ERROR',
])

/** An error with all that lies behind it. */
const chain = function* (error: unknown): Generator<Error & { code?: unknown }> {
  let one: unknown = error
  for (let depth = 0; one instanceof Error && depth < 8; depth++) {
    yield one
    one = one.cause
  }
}

const codeOf = (error: unknown): string =>
  [...chain(error)].map(({ code }) => code).find((code): code is string => typeof code === 'string') ?? ''

/** Why a provider was of no use, in words that help; nothing that it said is in them. */
export const oidcWords = (error: unknown): string => {
  for (const one of chain(error)) {
    if (one instanceof DestinationError)
      return one.fault === 'unresolved'
        ? `${one.host} cannot be resolved: check the name, and the DNS of this server.`
        : `${one.host} leads to an address this server does not connect to.`
    const certificate = certificateFault(one)
    if (certificate !== undefined) return `The certificate of the provider ${certificate}.`
  }
  const code = codeOf(error)
  if (code === 'ECONNREFUSED') return 'Nothing listens there: check the address, and whether the provider runs.'
  if (code === 'ETIMEDOUT' || code === 'OAUTH_TIMEOUT' || code === 'OAUTH_ABORT')
    return 'The provider did not answer in time.'
  if (code === 'OAUTH_JSON_ATTRIBUTE_COMPARISON_FAILED')
    return 'The document there is of another issuer: enter the issuer exactly as the provider names itself.'
  if (code === 'OAUTH_RESPONSE_IS_NOT_CONFORM')
    return 'There is no document of a provider: the issuer is the address before /.well-known/openid-configuration.'
  if (code === 'OAUTH_RESPONSE_IS_NOT_JSON' || code === 'OAUTH_PARSE_ERROR')
    return 'What answers there is no identity provider: check the issuer.'
  return 'The provider could not be asked: check the issuer, and the log of this server.'
}

/** A failed exchange as the problem it is to the person who signs in. */
export const oidcProblem = (error: unknown): AppError => {
  if (error instanceof AppError) return error
  const [first] = chain(error)
  // The provider refused the code (used, too late), or this server as its client.
  if (first?.name === 'ResponseBodyError')
    return (first as { error?: unknown }).error === 'invalid_grant'
      ? new AppError('oidc_answer_refused', {}, { cause: error })
      : new AppError('oidc_unavailable', {}, { cause: error })
  if (first?.name === 'AuthorizationResponseError') return new AppError('oidc_denied', {}, { cause: error })
  return new AppError(wrongAnswer.has(codeOf(error)) ? 'oidc_answer_refused' : 'oidc_unavailable', {}, { cause: error })
}
