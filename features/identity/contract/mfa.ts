import { closed, nullable, operation, typedText, utcTime } from '@portcullis/platform/contract/operation.ts'
import { type Static, Type } from 'typebox'
import { LocalLoginAnswer, webAuthnBytes } from './auth.ts'

const base = '/prime/webui/Auth/Mfa'
const tag = 'Auth'

/** The methods of a second factor. */
export const mfaMethods = ['totp', 'passkey', 'recovery'] as const
export type MfaMethod = (typeof mfaMethods)[number]

const password = Type.String({ minLength: 1, maxLength: 1_024, description: 'Current password of the account.' })
const code = Type.String({
  minLength: 6,
  maxLength: 16,
  description: 'Six-digit code of the authenticator app. Spaces are ignored.',
})
/** A WebAuthn Level 3 object in JSON form. The WebAuthn library validates its content. */
const webAuthn = (description: string) => Type.Record(Type.String(), Type.Unknown(), { description, maxProperties: 32 })

export const Passkey = closed({
  id: Type.String(),
  name: Type.String({ description: 'Name that the owner chose.' }),
  createdAt: utcTime('Time at which the passkey was added.'),
  lastUsedAt: nullable(utcTime('Time of the last sign-in with this passkey.')),
})

/** The second factors of an account. */
export const MfaState = closed({
  totp: Type.Boolean({ description: 'True if an authenticator app is set up.' }),
  passkeys: Type.Array(Passkey),
  recoveryCodesLeft: Type.Integer({ minimum: 0 }),
  canUsePasskeys: Type.Boolean({
    description: 'False if the server is reached by an IP address. Passkeys need a domain name.',
  }),
})
export type MfaState = Static<typeof MfaState>

export const getMfa = operation({
  id: 'getMfa',
  method: 'GET',
  path: base,
  tag,
  summary: 'Returns the second factors of your account',
  permission: 'self:read',
  response: MfaState,
})

export const startTotp = operation({
  id: 'startTotp',
  method: 'POST',
  path: `${base}/totp/start`,
  tag,
  summary: 'Creates a secret for an authenticator app',
  description:
    'The authenticator app is required at sign-in after you confirm a code. An account of a directory gets 422, because the directory manages its second factor.',
  permission: 'self:write',
  body: closed({ password }),
  response: closed({
    secret: Type.String({ description: 'The secret in Base32, for manual entry. It is returned only once.' }),
    uri: Type.String({ description: 'The `otpauth://totp/...` address for a QR code.' }),
  }),
  errors: ['old_password_wrong', 'unprocessable', 'too_many_requests', 'forbidden_object'],
})

export const confirmTotp = operation({
  id: 'confirmTotp',
  method: 'POST',
  path: `${base}/totp/confirm`,
  tag,
  summary: 'Activates the authenticator app',
  permission: 'self:write',
  body: closed({ code }),
  response: closed({
    recoveryCodes: Type.Array(Type.String(), {
      description:
        'Ten recovery codes, each valid once. They are returned only once. Empty if the account already has recovery codes.',
    }),
  }),
  errors: ['mfa_code_wrong', 'unprocessable', 'too_many_requests', 'forbidden_object'],
})

export const removeTotp = operation({
  id: 'removeTotp',
  method: 'POST',
  path: `${base}/totp/remove`,
  tag,
  summary: 'Removes the authenticator app',
  permission: 'self:write',
  body: closed({ password }),
  response: MfaState,
  errors: ['old_password_wrong', 'too_many_requests', 'forbidden_object'],
})

export const renewRecoveryCodes = operation({
  id: 'renewRecoveryCodes',
  method: 'POST',
  path: `${base}/recoverycodes`,
  tag,
  summary: 'Replaces all recovery codes with ten new ones',
  permission: 'self:write',
  body: closed({ password }),
  response: closed({ recoveryCodes: Type.Array(Type.String()) }),
  errors: ['old_password_wrong', 'unprocessable', 'too_many_requests', 'forbidden_object'],
})

export const startPasskey = operation({
  id: 'startPasskey',
  method: 'POST',
  path: `${base}/passkeys/start`,
  tag,
  summary: 'Starts the registration of a passkey',
  permission: 'self:write',
  body: closed({ password }),
  response: closed({ options: webAuthn('Options for `navigator.credentials.create`.') }),
  errors: ['old_password_wrong', 'unprocessable', 'too_many_requests', 'forbidden_object'],
})

export const finishPasskey = operation({
  id: 'finishPasskey',
  method: 'POST',
  path: `${base}/passkeys/finish`,
  tag,
  summary: 'Completes the registration of a passkey',
  permission: 'self:write',
  bodyLimit: webAuthnBytes,
  body: closed({
    name: typedText({ minLength: 1, maxLength: 64, description: 'Name for the passkey.' }),
    response: webAuthn('Response of the browser.'),
  }),
  response: closed({ recoveryCodes: Type.Array(Type.String()) }),
  errors: ['mfa_code_wrong', 'conflict', 'unprocessable', 'forbidden_object'],
})

export const removePasskey = operation({
  id: 'removePasskey',
  method: 'POST',
  path: `${base}/passkeys/remove`,
  tag,
  summary: 'Removes a passkey',
  permission: 'self:write',
  body: closed({ password, id: Type.String({ minLength: 1, maxLength: 1_400 }) }),
  response: MfaState,
  errors: ['old_password_wrong', 'not_found', 'too_many_requests', 'forbidden_object'],
})

export const startPasskeySignIn = operation({
  id: 'startPasskeySignIn',
  method: 'POST',
  path: `${base}/signin/passkey`,
  tag,
  summary: 'Starts the passkey step of a sign-in',
  permission: 'public',
  body: closed({ mfaToken: Type.String({ minLength: 1, maxLength: 512 }) }),
  response: closed({ options: webAuthn('Options for `navigator.credentials.get`.') }),
  errors: ['session_ended', 'unprocessable'],
})

export const finishSignIn = operation({
  id: 'finishSignIn',
  method: 'POST',
  path: `${base}/signin`,
  tag,
  summary: 'Completes a sign-in with the second factor',
  description:
    'Send exactly one of `code`, `recoveryCode` and `response`. After five incorrect attempts, sign in with the password again.',
  permission: 'public',
  body: closed({
    mfaToken: Type.String({ minLength: 1, maxLength: 512 }),
    code: Type.Optional(nullable(code)),
    recoveryCode: Type.Optional(nullable(Type.String({ minLength: 1, maxLength: 64 }))),
    response: Type.Optional(nullable(webAuthn('Response of the browser.'))),
  }),
  response: LocalLoginAnswer,
  errors: ['mfa_code_wrong', 'session_ended', 'account_suspended', 'too_many_requests'],
})

export const resetMfa = operation({
  id: 'resetMfa',
  method: 'POST',
  path: '/prime/webui/admin/resetmfa',
  tag: 'Admin',
  summary: 'Removes all second factors of an account',
  description:
    'For users who lost their second factor. Ends the sessions of the account. You cannot reset your own account.',
  permission: 'config:write',
  fresh: true,
  body: closed({ userName: Type.String({ minLength: 1, maxLength: 254 }) }),
  response: closed({ reset: Type.Boolean({ description: 'True if the account had a second factor.' }) }),
  errors: ['not_found', 'forbidden_object', 'second_person_required'],
})
