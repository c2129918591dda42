import {
  browserSupportsWebAuthn,
  type PublicKeyCredentialCreationOptionsJSON,
  type PublicKeyCredentialRequestOptionsJSON,
  startAuthentication,
  startRegistration,
  WebAuthnAbortService,
  WebAuthnError,
} from '@simplewebauthn/browser'
import { CallFailure, messageOf } from './problem.ts'
import { strings } from './strings.ts'

/** Options and answers of WebAuthn as they travel: the browser and the server's library know their shape, nobody between. */
type WebAuthnJson = Record<string, unknown>

/** Whether this page can use passkeys: browsers offer them over HTTPS, and on the machine itself. */
export const passkeysWork = (): boolean => window.isSecureContext && browserSupportsWebAuthn()

/** Lets the browser make a passkey. */
export const makePasskey = async (options: WebAuthnJson): Promise<WebAuthnJson> => ({
  ...(await startRegistration({ optionsJSON: options as unknown as PublicKeyCredentialCreationOptionsJSON })),
})

/** Lets the browser prove that a passkey is at hand. */
export const provePasskey = async (options: WebAuthnJson): Promise<WebAuthnJson> => ({
  ...(await startAuthentication({ optionsJSON: options as unknown as PublicKeyCredentialRequestOptionsJSON })),
})

/** Ends a question of the browser that is still open. */
export const endPasskeyQuestion = (): void => WebAuthnAbortService.cancelCeremony()

/** Words for a passkey that did not work; null when it was this console that ended the question. */
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
  // The browser does not tell which: somebody cancelled, nobody answered in time, or no passkey fits.
  if (name === 'NotAllowedError' || name === 'AbortError') return strings.passkeyMissing
  return strings.passkeyFailed({ error: failure instanceof Error ? failure.message : String(failure) })
}
