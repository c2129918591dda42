import { AppError } from '@portcullis/platform/server/app-error.ts'
import type { Tx } from '@portcullis/platform/server/db/db.ts'
import type { AuthenticationResponseJSON, RegistrationResponseJSON, WebAuthnCredential } from '@simplewebauthn/server'
import type { AccountRow } from './accounts.store.ts'
import type { AccountsContext } from './context.ts'
import { createMfaStore, type PasskeyRow } from './mfa.store.ts'

/** Loaded on first use: its 290 files are a fifth of all files that a server or a command would open at its start. */
const webauthn = () => import('@simplewebauthn/server')

/** Passkeys by WebAuthn: requests to browsers, and checks of what they answer. */
export const createPasskeys = ({ clock, baseUrl }: AccountsContext) => {
  const store = createMfaStore()
  /** Returns the name that passkeys are bound to. Null for an IP address, which WebAuthn 5.1.2 does not allow. */
  async function party(): Promise<{ id: string; origin: string } | null> {
    const url = new URL(await baseUrl())
    return /^[0-9.]+$|^\[/.test(url.hostname) ? null : { id: url.hostname, origin: url.origin }
  }
  async function requireParty() {
    const found = await party()
    if (found === null)
      throw new AppError('unprocessable', {
        detail: 'Passkeys need a domain name. Set the domain name of the server first.',
      })
    return found
  }
  const descriptorOf = (key: PasskeyRow) => ({ id: key.credential_id, transports: key.transports as never })

  return {
    canBeUsed: async (): Promise<boolean> => (await party()) !== null,

    /** Returns the request to create a passkey that the account does not have. */
    registrationOptions: async (account: AccountRow, known: readonly PasskeyRow[]) => {
      const { id } = await requireParty()
      return (await webauthn()).generateRegistrationOptions({
        rpName: 'Portcullis',
        rpID: id,
        userName: account.user_name,
        userID: new Uint8Array(Buffer.from(account.account_id)),
        attestationType: 'none',
        excludeCredentials: known.map(descriptorOf),
        authenticatorSelection: { residentKey: 'discouraged', userVerification: 'preferred' },
      })
    },

    /** Returns the created passkey. Null: the answer does not match the challenge. */
    verified: async (challenge: string, response: Record<string, unknown>): Promise<WebAuthnCredential | null> => {
      const bound = await requireParty()
      const { verifyRegistrationResponse } = await webauthn()
      const { verified, registrationInfo } = await verifyRegistrationResponse({
        response: response as unknown as RegistrationResponseJSON,
        expectedChallenge: challenge,
        expectedOrigin: bound.origin,
        expectedRPID: bound.id,
        requireUserVerification: false,
      }).catch(() => ({ verified: false as const, registrationInfo: undefined }))
      return verified && registrationInfo !== undefined ? registrationInfo.credential : null
    },

    /** Returns the request to prove one of these passkeys. */
    proofOptions: async (keys: readonly PasskeyRow[]) => {
      const { id } = await requireParty()
      return (await webauthn()).generateAuthenticationOptions({
        rpID: id,
        allowCredentials: keys.map(descriptorOf),
        userVerification: 'preferred',
      })
    },

    /** Uses a passkey of the account. Returns false if the answer does not match the challenge. */
    take: async (
      tx: Tx,
      account: AccountRow,
      challenge: string | null,
      response: Record<string, unknown>,
    ): Promise<boolean> => {
      const bound = await party()
      const key = (await store.passkeys(tx, account.account_id)).find((one) => one.credential_id === response.id)
      if (bound === null || key === undefined || challenge === null) return false
      const { verifyAuthenticationResponse } = await webauthn()
      const verified = await verifyAuthenticationResponse({
        response: response as unknown as AuthenticationResponseJSON,
        expectedChallenge: challenge,
        expectedOrigin: bound.origin,
        expectedRPID: bound.id,
        credential: {
          id: key.credential_id,
          publicKey: new Uint8Array(key.public_key),
          counter: Number(key.counter),
          transports: key.transports as never,
        },
        requireUserVerification: false,
      }).catch(() => ({ verified: false as const, authenticationInfo: undefined }))
      if (!verified.verified || verified.authenticationInfo === undefined) return false
      await store.usePasskey(tx, key.credential_id, verified.authenticationInfo.newCounter, new Date(clock.now()))
      return true
    },
  }
}
