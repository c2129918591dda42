import { type Static, Type } from 'typebox'
import { LocalLoginAnswer } from './auth.ts'
import { closed, nullable, operation, utcTime } from './operation.ts'

const base = '/prime/webui/Auth/Mfa'
const tag = 'Auth'

/** Ways to prove oneself besides the password. */
export const mfaMethods = ['totp', 'passkey', 'recovery'] as const
export type MfaMethod = (typeof mfaMethods)[number]

const password = Type.String({ minLength: 1, maxLength: 1_024, description: 'Present password of the account.' })
const code = Type.String({
  minLength: 6,
  maxLength: 16,
  description: 'Six digits of the authenticator app; blanks do not count.',
})
/** As the browser gives and takes it (WebAuthn Level 3, JSON forms); judged whole by the library that reads it. */
const webAuthn = (description: string) => Type.Record(Type.String(), Type.Unknown(), { description, maxProperties: 32 })

export const Passkey = closed({
  id: Type.String(),
  name: Type.String({ description: 'As its owner named it.' }),
  createdAt: utcTime('When it was added.'),
  lastUsedAt: nullable(utcTime('Last sign-in with it.')),
})

/** Second factors of an account. */
export const MfaState = closed({
  totp: Type.Boolean({ description: 'An authenticator app is set up.' }),
  passkeys: Type.Array(Passkey),
  recoveryCodesLeft: Type.Integer({ minimum: 0 }),
  canUsePasskeys: Type.Boolean({ description: 'False while people reach the server by an address and not by a name.' }),
})
export type MfaState = Static<typeof MfaState>

export const getMfa = operation({
  id: 'getMfa',
  method: 'GET',
  path: base,
  tag,
  summary: 'Says which second factors the own account has',
  permission: 'self:read',
  response: MfaState,
})

export const startTotp = operation({
  id: 'startTotp',
  method: 'POST',
  path: `${base}/totp/start`,
  tag,
  summary: 'Makes a secret for an authenticator app',
  description: 'It counts once a code of it was confirmed. Directory accounts have their second factor there: 422.',
  permission: 'self:write',
  body: closed({ password }),
  response: closed({
    secret: Type.String({ description: 'Base32, for typing; shown once.' }),
    uri: Type.String({ description: '`otpauth://totp/...` for a QR code.' }),
  }),
  errors: ['old_password_wrong', 'unprocessable', 'too_many_requests'],
})

export const confirmTotp = operation({
  id: 'confirmTotp',
  method: 'POST',
  path: `${base}/totp/confirm`,
  tag,
  summary: 'Puts the authenticator app into use',
  permission: 'self:write',
  body: closed({ code }),
  response: closed({
    recoveryCodes: Type.Array(Type.String(), {
      description: 'Ten codes that serve once each; shown once. Empty: there are some already.',
    }),
  }),
  errors: ['mfa_code_wrong', 'unprocessable', 'too_many_requests'],
})

export const removeTotp = operation({
  id: 'removeTotp',
  method: 'POST',
  path: `${base}/totp/remove`,
  tag,
  summary: 'Takes the authenticator app away',
  permission: 'self:write',
  body: closed({ password }),
  response: MfaState,
  errors: ['old_password_wrong', 'too_many_requests'],
})

export const renewRecoveryCodes = operation({
  id: 'renewRecoveryCodes',
  method: 'POST',
  path: `${base}/recoverycodes`,
  tag,
  summary: 'Makes ten new recovery codes; older ones count no more',
  permission: 'self:write',
  body: closed({ password }),
  response: closed({ recoveryCodes: Type.Array(Type.String()) }),
  errors: ['old_password_wrong', 'unprocessable', 'too_many_requests'],
})

export const startPasskey = operation({
  id: 'startPasskey',
  method: 'POST',
  path: `${base}/passkeys/start`,
  tag,
  summary: 'Begins adding a passkey',
  permission: 'self:write',
  body: closed({ password }),
  response: closed({ options: webAuthn('For `navigator.credentials.create`.') }),
  errors: ['old_password_wrong', 'unprocessable', 'too_many_requests'],
})

export const finishPasskey = operation({
  id: 'finishPasskey',
  method: 'POST',
  path: `${base}/passkeys/finish`,
  tag,
  summary: 'Adds the passkey that the browser made',
  permission: 'self:write',
  body: closed({
    name: Type.String({ minLength: 1, maxLength: 64, description: 'What its owner calls it.' }),
    response: webAuthn('What the browser answered.'),
  }),
  response: closed({ recoveryCodes: Type.Array(Type.String()) }),
  errors: ['mfa_code_wrong', 'conflict', 'unprocessable'],
})

export const removePasskey = operation({
  id: 'removePasskey',
  method: 'POST',
  path: `${base}/passkeys/remove`,
  tag,
  summary: 'Takes a passkey away',
  permission: 'self:write',
  body: closed({ password, id: Type.String({ minLength: 1, maxLength: 1_400 }) }),
  response: MfaState,
  errors: ['old_password_wrong', 'not_found', 'too_many_requests'],
})

export const startPasskeySignIn = operation({
  id: 'startPasskeySignIn',
  method: 'POST',
  path: `${base}/signin/passkey`,
  tag,
  summary: 'Begins proving oneself by a passkey, after the password',
  permission: 'public',
  body: closed({ mfaToken: Type.String({ minLength: 1, maxLength: 512 }) }),
  response: closed({ options: webAuthn('For `navigator.credentials.get`.') }),
  errors: ['session_ended', 'unprocessable'],
})

export const finishSignIn = operation({
  id: 'finishSignIn',
  method: 'POST',
  path: `${base}/signin`,
  tag,
  summary: 'Signs in by the second factor, after the password',
  description: 'Exactly one of code, recoveryCode and response. After five wrong ones the password is asked for again.',
  permission: 'public',
  body: closed({
    mfaToken: Type.String({ minLength: 1, maxLength: 512 }),
    code: Type.Optional(nullable(code)),
    recoveryCode: Type.Optional(nullable(Type.String({ minLength: 1, maxLength: 64 }))),
    response: Type.Optional(nullable(webAuthn('What the browser answered.'))),
  }),
  response: LocalLoginAnswer,
  errors: ['mfa_code_wrong', 'session_ended', 'account_suspended', 'too_many_requests'],
})

export const resetMfa = operation({
  id: 'resetMfa',
  method: 'POST',
  path: '/prime/webui/admin/resetmfa',
  tag: 'Admin',
  summary: 'Takes all second factors of an account away, for somebody who lost them',
  description: 'Ends its sessions. Nobody does it for himself.',
  permission: 'config:write',
  fresh: true,
  body: closed({ userName: Type.String({ minLength: 1, maxLength: 254 }) }),
  response: closed({ reset: Type.Boolean({ description: 'True when there were any.' }) }),
  errors: ['not_found', 'forbidden_object'],
})
