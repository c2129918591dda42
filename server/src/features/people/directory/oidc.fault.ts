import { AppError } from '#platform/app-error.ts'
import { explainedFault } from '#platform/connection-fault.ts'
import { DestinationError } from '#platform/destinations.ts'
import { certificateFault } from './certificate-labels.ts'
import type { StepFault } from './test-steps.ts'

/** The library's codes for answers that arrived and were wrong. */
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

/** Yields an error and its causes. */
const chain = function* (error: unknown): Generator<Error & { code?: unknown }> {
  let one: unknown = error
  for (let depth = 0; one instanceof Error && depth < 8; depth++) {
    yield one
    one = one.cause
  }
}

const codeOf = (error: unknown): string =>
  [...chain(error)].map(({ code }) => code).find((code): code is string => typeof code === 'string') ?? ''

/** Returns why a provider could not be used, and what to do. Contains nothing that the provider sent. */
export const oidcFaultMessage = (error: unknown): string => {
  for (const one of chain(error)) {
    if (one instanceof DestinationError)
      return one.fault === 'unresolved'
        ? `${one.host} cannot be resolved. Check the name, and the DNS of this server.`
        : `${one.host} resolves to an address that this server never connects to.`
    const explained = explainedFault(one, 'the provider')
    if (explained !== null) return explained
    const certificate = certificateFault(one)
    if (certificate !== undefined) return `The certificate of the provider ${certificate}.`
  }
  const code = codeOf(error)
  if (code === 'ECONNREFUSED')
    return 'Nothing listens at this address. Check the address, and whether the provider runs.'
  if (code === 'ETIMEDOUT' || code === 'OAUTH_TIMEOUT' || code === 'OAUTH_ABORT')
    return 'The provider did not answer in time.'
  if (code === 'OAUTH_JSON_ATTRIBUTE_COMPARISON_FAILED')
    return 'The document of the provider names another issuer. Enter the issuer exactly as the provider names it.'
  if (code === 'OAUTH_RESPONSE_IS_NOT_CONFORM')
    return 'No provider document was found. The issuer is the address before /.well-known/openid-configuration.'
  if (code === 'OAUTH_RESPONSE_IS_NOT_JSON' || code === 'OAUTH_PARSE_ERROR')
    return 'The server at this address is not an identity provider. Check the issuer.'
  return 'The request to the provider failed. Check the issuer, and the log of this server.'
}

/** Returns the message of a failed test, with the setting to correct. */
export const oidcFault = (error: unknown): StepFault => ({
  message: oidcFaultMessage(error),
  field: [...chain(error)].some((one) => certificateFault(one) !== undefined) ? 'OIDC_CA' : 'OIDC_ISSUER',
})

/** Converts a failed exchange to the error for the person who signs in. */
export const oidcProblem = (error: unknown): AppError => {
  if (error instanceof AppError) return error
  const [first] = chain(error)
  // The provider refused the code (already used or too late), or refused this server as its client.
  if (first?.name === 'ResponseBodyError')
    return (first as { error?: unknown }).error === 'invalid_grant'
      ? new AppError('oidc_answer_refused', {}, { cause: error })
      : new AppError('oidc_unavailable', {}, { cause: error })
  if (first?.name === 'AuthorizationResponseError') return new AppError('oidc_denied', {}, { cause: error })
  return new AppError(wrongAnswer.has(codeOf(error)) ? 'oidc_answer_refused' : 'oidc_unavailable', {}, { cause: error })
}
