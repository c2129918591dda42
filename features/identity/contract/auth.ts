import { closed, nullable, operation, utcTime } from '@portcullis/platform/contract/operation.ts'
import { type Static, Type } from 'typebox'
import { AccountView, LicenseSummary, passwordLimits, userNameLimits } from './accounts.ts'

/** Lifetime of an access token, in seconds. */
export const accessTokenSeconds = 15 * 60
/** Milliseconds without activity after which a session ends. */
export const sessionIdleMs = 30 * 60_000
/** Maximum lifetime of a session, in milliseconds. */
export const sessionLifeMs = 12 * 3_600_000
/** Maximum number of sessions per account. Older sessions end. */
export const sessionsKept = 200
/** Header with which the console requests its refresh token as a cookie. */
export const consoleHeader = 'x-portcullis-console'
/** Path of the refresh cookie. The browser sends the cookie only there. */
export const refreshCookiePath = '/prime/webui/Auth'

export const Credentials = closed({
  username: Type.String({ minLength: 1, maxLength: userNameLimits.max, description: 'User name, ignoring case.' }),
  // Longer than the longest valid password, so that an incorrect one is refused as incorrect and not as too long.
  password: Type.String({ maxLength: 1024, description: 'Password of the account.' }),
})

export const SignInAnswer = closed({
  token: Type.String({
    description: 'Access token, valid for 15 minutes. Send it as `Authorization: Bearer <token>`.',
  }),
  user: AccountView,
  navigation: closed({ startPage: Type.String({ description: 'First page of the console.' }) }),
  license: LicenseSummary,
})
export type SignInAnswer = Static<typeof SignInAnswer>

export const LocalLoginAnswer = closed({
  token: Type.String({ description: 'Access token. Send it as `Authorization: Bearer <token>`.' }),
  expiresAt: Type.String({
    pattern: '^\\d{4}-\\d{2}-\\d{2}T\\d{2}:\\d{2}:\\d{2}\\.\\d{1,6}Z$',
    description: 'Expiry of the access token. It always has a fraction of 1 to 6 digits.',
  }),
  refreshToken: nullable(Type.String(), {
    description:
      'Refresh token for the next access token. It works once. `null` if it was set as a cookie for the console.',
  }),
  user: AccountView,
  license: LicenseSummary,
})
export type LocalLoginAnswer = Static<typeof LocalLoginAnswer>

/** The response to a correct password if the account has a second factor. */
export const MfaRequired = closed({
  mfaRequired: Type.Literal(true),
  mfaToken: Type.String({ description: 'Token for `Auth/Mfa/signin`, valid for five minutes.' }),
  methods: Type.Array(Type.Enum(['totp', 'passkey', 'recovery']), {
    description: 'Methods that are set up for this account.',
  }),
})
export type MfaRequired = Static<typeof MfaRequired>

export const SessionView = closed({
  id: Type.String({ description: 'ID of the session.' }),
  createdAt: utcTime('Time of the sign-in.'),
  lastUsedAt: utcTime('Last call in the session, at most one minute behind.'),
  expiresAt: utcTime('Latest end of the session. It ends earlier after 30 minutes without a call.'),
  ipAddress: Type.String({ description: 'Address of the sign-in.' }),
  userAgent: Type.String({ description: 'User agent that the client sent at sign-in, at most 256 characters.' }),
  isCurrent: Type.Boolean({ description: 'True for the session of this call.' }),
})
export type SessionView = Static<typeof SessionView>

const userExample = {
  userName: 'admin',
  password: null,
  userProfile: 10,
  firstName: 'Ada',
  lastName: 'Keller',
  email: 'ada@example.org',
  phone: null,
  image: '',
  authSource: 'Local',
  isEnabled: true,
  mfaEnabled: false,
  mustChangePassword: false,
  lastSignIn: '2031-05-04T10:11:12.345Z',
  createdAt: '2031-01-02T08:00:00.000Z',
  suspendedUntil: null,
  suspendedBy: null,
} as const
const licenseExample = { primeAccountName: 'Community', licenseStatus: 'Activated' } as const
const credentialsExample = { username: 'admin', password: 'correct horse battery' }
const loginExample = {
  token: 'eyJhbGciOiJIUzI1NiIsInR5cCI6ImF0K2p3dCJ9.eyJzdWIiOiIwMTkzIn0.c2lnbmF0dXJl',
  expiresAt: '2031-05-04T10:26:12.000Z',
  refreshToken: 'pr_8Zl0m2Yb3x6oRkqv1nB4cQ',
  user: userExample,
  license: licenseExample,
}

export const signIn = operation({
  id: 'signIn',
  method: 'POST',
  path: '/prime/webui/auth/signin',
  tag: 'Auth',
  summary: 'Signs in, for SOAR clients',
  description:
    'All refusals get 400 with a short text: incorrect credentials, a disabled account or too many attempts. Only failed sign-ins are limited.',
  permission: 'public',
  body: Credentials,
  response: SignInAnswer,
  errors: ['signin_refused', 'too_many_requests'],
  plainErrors: true,
  examples: {
    request: credentialsExample,
    response: {
      token: loginExample.token,
      user: userExample,
      navigation: { startPage: '/' },
      license: licenseExample,
    },
  },
})

export const localLogin = operation({
  id: 'localLogin',
  method: 'POST',
  path: '/prime/webui/Auth/LocalLogin',
  tag: 'Auth',
  summary: 'Signs in with a local account or a directory account',
  description:
    'Incorrect credentials get 401. If no local account has the name and a directory is enabled, the server checks the credentials there. The first sign-in with a directory account creates the account. Within 15 minutes, ten failed sign-ins are possible per account from addresses that it has not signed in from, and 100 per address. Further attempts get 429. With the header `X-Portcullis-Console: 1`, the refresh token is set as an HttpOnly cookie and is `null` in the body.',
  permission: 'public',
  body: Credentials,
  response: Type.Union([LocalLoginAnswer, MfaRequired]),
  errors: ['credentials_wrong', 'account_suspended', 'too_many_requests', 'directory_unavailable'],
  examples: { request: credentialsExample, response: loginExample },
})

export const refreshToken = operation({
  id: 'refreshToken',
  method: 'POST',
  path: '/prime/webui/Auth/RefreshToken',
  tag: 'Auth',
  summary: 'Exchanges a refresh token for new tokens',
  description:
    'Refresh tokens rotate. Using one twice ends its session. Without `refreshToken` in the body, the server reads the cookie of the console and sets the next token as a cookie.',
  permission: 'public',
  body: closed({ refreshToken: Type.Optional(nullable(Type.String({ minLength: 1, maxLength: 4096 }))) }),
  bodyOptional: true,
  response: LocalLoginAnswer,
  errors: ['session_ended'],
  examples: { request: { refreshToken: loginExample.refreshToken }, response: loginExample },
})

/** Largest body with the answer of an authenticator, whose certificates take a few KiB. */
export const webAuthnBytes = 64 * 1024

export const reauthenticate = operation({
  id: 'reauthenticate',
  bodyLimit: webAuthnBytes,
  method: 'POST',
  path: '/prime/webui/auth/reauthenticate',
  tag: 'Auth',
  summary: 'Confirms your identity',
  description:
    'Makes the session of this call fresh for five minutes, as some operations require. Send exactly one of `password`, `code`, `recoveryCode` and `response`. Local accounts use their password or one of their second factors. Directory accounts use their directory password. Accounts of an identity provider get 422: they use `Auth/Oidc/reauthenticate`. API tokens get 403. After ten incorrect attempts within 15 minutes, the server returns 429. Refreshing tokens never makes a session fresh.',
  permission: 'self:write',
  body: closed({
    password: Type.Optional(
      nullable(Type.String({ minLength: 1, maxLength: 1024, description: 'Current password of the account.' })),
    ),
    code: Type.Optional(
      nullable(Type.String({ minLength: 6, maxLength: 16, description: 'Six-digit code of the authenticator app.' })),
    ),
    recoveryCode: Type.Optional(
      nullable(Type.String({ minLength: 1, maxLength: 64, description: 'Recovery code. It works once.' })),
    ),
    response: Type.Optional(
      nullable(
        Type.Record(Type.String(), Type.Unknown(), {
          maxProperties: 32,
          description: 'Result of `navigator.credentials.get` with the options from `auth/reauthenticate/passkey`.',
        }),
      ),
    ),
  }),
  response: closed({ freshUntil: utcTime('End of the five minutes.') }),
  errors: [
    'reauthentication_failed',
    'session_required',
    'session_ended',
    'unprocessable',
    'too_many_requests',
    'directory_unavailable',
  ],
  examples: {
    request: { password: credentialsExample.password },
    response: { freshUntil: '2031-05-04T10:16:12.345Z' },
  },
})

export const startReauthentication = operation({
  id: 'startReauthentication',
  method: 'POST',
  path: '/prime/webui/auth/reauthenticate/passkey',
  tag: 'Auth',
  summary: 'Starts an identity confirmation with a passkey',
  description: 'The challenge belongs to the session of this call, works once and expires after five minutes.',
  permission: 'self:write',
  response: closed({
    options: Type.Record(Type.String(), Type.Unknown(), { description: 'Options for `navigator.credentials.get`.' }),
  }),
  errors: ['session_required', 'session_ended', 'unprocessable'],
})

export const logout = operation({
  id: 'logout',
  method: 'POST',
  path: '/prime/webui/Auth/Logout',
  tag: 'Auth',
  summary: 'Ends the session of this call',
  description:
    'The access and refresh tokens of the session stop working at once. An API token has no session and gets 422.',
  permission: 'self:read',
  response: closed({ ended: Type.Boolean({ description: 'True if the session was still open.' }) }),
  errors: ['unprocessable'],
  examples: { response: { ended: true } },
})

export const listSessions = operation({
  id: 'listSessions',
  method: 'GET',
  path: '/prime/webui/Auth/Sessions',
  tag: 'Auth',
  summary: 'Lists your sessions',
  description: 'The newest session comes first. An account keeps its newest 200 sessions.',
  permission: 'self:read',
  response: Type.Array(SessionView),
  examples: {
    response: [
      {
        id: '01936f2a-7c11-7abc-8def-0123456789ab',
        createdAt: '2031-05-04T10:11:12.345Z',
        lastUsedAt: '2031-05-04T10:20:00.000Z',
        expiresAt: '2031-05-04T22:11:12.345Z',
        ipAddress: '198.51.100.7',
        userAgent: 'Mozilla/5.0',
        isCurrent: true,
      },
    ],
  },
})

export const deleteSession = operation({
  id: 'deleteSession',
  method: 'DELETE',
  path: '/prime/webui/Auth/Sessions/{id}',
  tag: 'Auth',
  summary: 'Ends one of your sessions',
  permission: 'self:write',
  params: closed({ id: Type.String({ description: 'ID of the session.' }) }),
  response: closed({ ended: Type.Boolean() }),
  errors: ['not_found'],
  examples: { response: { ended: true } },
})

export const setPassword = operation({
  id: 'setPassword',
  method: 'POST',
  path: '/prime/webui/Auth/SetPassword',
  tag: 'Auth',
  summary: 'Sets a password with a one-time link',
  description:
    'The link becomes invalid when it is used, when it expires and when the password changes. A refused password does not use the link. The API tokens of the account keep working, unless `revokeApiTokens` is true.',
  permission: 'public',
  body: closed({
    token: Type.String({ minLength: 1, maxLength: 256, description: 'Text after `#token=` in the link.' }),
    newPassword: Type.String({ maxLength: 1024, description: passwordLimits.description }),
    revokeApiTokens: Type.Optional(
      Type.Boolean({ description: 'True: all API tokens of the account stop working. Default: false.' }),
    ),
  }),
  response: closed({
    userName: Type.String({ description: 'Account whose password was set.' }),
    apiTokensLeft: Type.Integer({ minimum: 0, description: 'Number of API tokens of the account that still work.' }),
  }),
  errors: ['link_invalid', 'password_rejected'],
  examples: {
    request: { token: 'pl_8Zl0m2Yb3x6oRkqv1nB4cQ', newPassword: 'correct horse battery' },
    response: { userName: 'ada', apiTokensLeft: 0 },
  },
})

/** Custom texts and colours of the sign-in page. Empty if not set. */
export const CustomLogin = closed({
  CUSTOM_LOGIN_TITLE: Type.String({ description: 'Heading of the sign-in page.' }),
  CUSTOM_LOGIN_MESSAGE: Type.String({ description: 'Text under the heading.' }),
  CUSTOM_LOGIN_BANNER: Type.String({ description: 'Text that users must accept before they sign in. Empty: none.' }),
  CUSTOM_LOGIN_LOGO: Type.String({ description: 'Logo as a PNG data URI.' }),
  CUSTOM_LOGIN_BACKGROUND: Type.String({ description: 'Background colour.' }),
  CUSTOM_LOGIN_COLOR: Type.String({ description: 'Accent colour.' }),
})
export type CustomLogin = Static<typeof CustomLogin>

export const authProviders = operation({
  id: 'authProviders',
  method: 'GET',
  path: '/prime/webui/Auth/Providers',
  tag: 'Auth',
  summary: 'Lists the enabled sign-in methods and the design of the sign-in page',
  permission: 'public',
  response: closed({
    local: Type.Boolean({ description: 'True if local accounts can sign in.' }),
    ldap: Type.Boolean({ description: 'True if directory accounts can sign in.' }),
    oidc: Type.Array(closed({ name: Type.String(), url: Type.String() }), { description: 'Identity providers.' }),
    customLogin: CustomLogin,
  }),
  examples: {
    response: {
      local: true,
      ldap: false,
      oidc: [],
      customLogin: {
        CUSTOM_LOGIN_TITLE: 'Portcullis',
        CUSTOM_LOGIN_MESSAGE: '',
        CUSTOM_LOGIN_BANNER: '',
        CUSTOM_LOGIN_LOGO: '',
        CUSTOM_LOGIN_BACKGROUND: '',
        CUSTOM_LOGIN_COLOR: '',
      },
    },
  },
})

export const createTicket = operation({
  id: 'createTicket',
  method: 'POST',
  path: '/prime/webui/Auth/Ticket',
  tag: 'Auth',
  summary: 'Creates a ticket for one download',
  description:
    'The ticket allows one GET request within 60 seconds, as `?_ticket=<ticket>`, with the permissions of the caller.',
  permission: 'self:read',
  response: closed({
    ticket: Type.String({ description: 'The ticket. It is returned only once.' }),
    expiresAt: utcTime('Expiry of the ticket.'),
  }),
  examples: { response: { ticket: 'pt_8Zl0m2Yb3x6oRkqv1nB4cQ', expiresAt: '2031-05-04T10:12:12.345Z' } },
})
