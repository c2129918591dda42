import { CallFailure, messageOf } from '@portcullis/platform/console/lib/problem.ts'
import { strings } from '@portcullis/platform/console/lib/strings.ts'
import {
  browserSupportsWebAuthn,
  type PublicKeyCredentialCreationOptionsJSON,
  type PublicKeyCredentialRequestOptionsJSON,
  startAuthentication,
  startRegistration,
  WebAuthnAbortService,
  WebAuthnError,
} from '@simplewebauthn/browser'

/** Options and responses of WebAuthn as JSON. Only the browser and the server's library know their structure. */
type WebAuthnJson = Record<string, unknown>

/** Returns whether this page can use passkeys: browsers offer them over HTTPS and on localhost. */
export const passkeysWork = (): boolean => window.isSecureContext && browserSupportsWebAuthn()

/** Creates a passkey in the browser. */
export const makePasskey = async (options: WebAuthnJson): Promise<WebAuthnJson> => ({
  ...(await startRegistration({ optionsJSON: options as unknown as PublicKeyCredentialCreationOptionsJSON })),
})

/** Asks the browser to use a passkey. */
export const provePasskey = async (options: WebAuthnJson): Promise<WebAuthnJson> => ({
  ...(await startAuthentication({ optionsJSON: options as unknown as PublicKeyCredentialRequestOptionsJSON })),
})

/** Cancels an open request of the browser. */
export const endPasskeyQuestion = (): void => WebAuthnAbortService.cancelCeremony()

/** Returns the message for a failed passkey, or null if the console cancelled the request. */
export const passkeyRefusal = (failure: unknown): string | null => {
  if (failure instanceof CallFailure) {
    if (failure.code === 'mfa_code_wrong') return strings.passkeyRefused
    const { detail, cure } = messageOf(failure)
    return `${detail} ${cure}`
  }
  const code = failure instanceof WebAuthnError ? failure.code : undefined
  const name = failure instanceof Error ? failure.name : ''
  if (code === 'ERROR_CEREMONY_ABORTED') return null
  if (code === 'ERROR_AUTHENTICATOR_PREVIOUSLY_REGISTERED') return strings.passkeyExists
  if (code === 'ERROR_INVALID_DOMAIN' || code === 'ERROR_INVALID_RP_ID') return strings.passkeyDomain
  // The browser does not say whether the person cancelled, the time ran out or no passkey matches.
  if (name === 'NotAllowedError' || name === 'AbortError') return strings.passkeyMissing
  return strings.passkeyFailed
}
