import { type Static, Type } from 'typebox'
import { AccountView, LicenseSummary, passwordLimits, userNameLimits } from './accounts.ts'
import { closed, nullable, operation, utcTime } from './operation.ts'

/** Seconds an access token is good for. */
export const accessTokenSeconds = 15 * 60
/** Seconds for which a session stays fresh after its user enters a password or second factor. */
export const freshSeconds = 5 * 60
/** Milliseconds after which a session that nobody uses ends. */
export const sessionIdleMs = 30 * 60_000
/** Milliseconds after which a session ends whatever happens. */
export const sessionLifeMs = 12 * 3_600_000
/** Newest sessions an account keeps. */
export const sessionsKept = 200
/** Header by which the console asks for its refresh token as a cookie. */
export const consoleHeader = 'x-portcullis-console'
/** Path of the refresh cookie: the browser sends it nowhere else. */
export const refreshCookiePath = '/prime/webui/Auth'

export const Credentials = closed({
  username: Type.String({ minLength: 1, maxLength: userNameLimits.max, description: 'Name of the account, any case.' }),
  // Longer than any password can be: a wrong one is refused as wrong, not as too long.
  password: Type.String({ maxLength: 1024, description: 'Its password.' }),
})

export const SignInAnswer = closed({
  token: Type.String({ description: 'Access token, good for 15 minutes: `Authorization: Bearer <token>`.' }),
  user: AccountView,
  navigation: closed({ startPage: Type.String({ description: 'Where the console opens.' }) }),
  license: LicenseSummary,
})
export type SignInAnswer = Static<typeof SignInAnswer>

export const LocalLoginAnswer = closed({
  token: Type.String({ description: 'Access token: `Authorization: Bearer <token>`.' }),
  expiresAt: Type.String({
    pattern: '^\\d{4}-\\d{2}-\\d{2}T\\d{2}:\\d{2}:\\d{2}\\.\\d{1,6}Z$',
    description: 'When the access token ends; the fraction is always there and has 1 to 6 digits.',
  }),
  refreshToken: nullable(Type.String(), {
    description: 'Gives the next access token, once. `null` when it went into the cookie of the console.',
  }),
  user: AccountView,
  license: LicenseSummary,
})
export type LocalLoginAnswer = Static<typeof LocalLoginAnswer>

/** The password was right, and the account has a second factor. */
export const MfaRequired = closed({
  mfaRequired: Type.Literal(true),
  mfaToken: Type.String({ description: 'For `Auth/Mfa/signin`, for five minutes.' }),
  methods: Type.Array(Type.Enum(['totp', 'passkey', 'recovery']), { description: 'Ways this account has.' }),
})
export type MfaRequired = Static<typeof MfaRequired>

export const SessionView = closed({
  id: Type.String({ description: 'Id of the session.' }),
  createdAt: utcTime('When it was opened.'),
  lastUsedAt: utcTime('Last call with it, at most one minute behind.'),
  expiresAt: utcTime('When it ends even if it is used; it ends earlier after 30 minutes without a call.'),
  ipAddress: Type.String({ description: 'Address it was opened from.' }),
  userAgent: Type.String({ description: 'Program it was opened with, as that program says; at most 256 characters.' }),
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
  summary: 'Signs in, for SOAR-style clients',
  description:
    'Every refusal is 400 with a short text: wrong credentials, disabled accounts, too many attempts. Only failed sign-ins are throttled.',
  permission: 'public',
  body: Credentials,
  response: SignInAnswer,
  errors: ['signin_refused'],
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
  summary: 'Signs in with a local account, or one of the directory',
  description:
    'Wrong credentials are 401. Names that are not local are asked of the directory when one is in use; the account is made at the first sign-in. Per account ten failed sign-ins in 15 minutes from addresses it has not signed in from, per address a hundred; then 429. With the header `X-Portcullis-Console: 1` the refresh token is set as an HttpOnly cookie and is `null` in the body.',
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
  summary: 'Exchanges a refresh token for the next pair of tokens',
  description:
    'Refresh tokens rotate; one that was used before ends its session. Without `refreshToken` in the body the cookie of the console is read, and the next one is set as a cookie.',
  permission: 'public',
  body: closed({ refreshToken: Type.Optional(nullable(Type.String({ minLength: 1, maxLength: 4096 }))) }),
  bodyOptional: true,
  response: LocalLoginAnswer,
  errors: ['session_ended'],
  examples: { request: { refreshToken: loginExample.refreshToken }, response: loginExample },
})

export const reauthenticate = operation({
  id: 'reauthenticate',
  method: 'POST',
  path: '/prime/webui/auth/reauthenticate',
  tag: 'Auth',
  summary: 'Confirms the identity of the person behind this session',
  description:
    'Makes the session of this call fresh for five minutes, as some operations require. Send exactly one of `password`, `code`, `recoveryCode` and `response`. Local accounts send their password or one of their second factors. Directory accounts send their directory password. Accounts of an identity provider get 422: they use `Auth/Oidc/reauthenticate`. API tokens get 403. Ten wrong answers within 15 minutes lead to 429. Refreshing tokens never makes a session fresh.',
  permission: 'self:write',
  body: closed({
    password: Type.Optional(
      nullable(Type.String({ minLength: 1, maxLength: 1024, description: 'Current password of the account.' })),
    ),
    code: Type.Optional(
      nullable(Type.String({ minLength: 6, maxLength: 16, description: 'Six digits of the authenticator app.' })),
    ),
    recoveryCode: Type.Optional(
      nullable(Type.String({ minLength: 1, maxLength: 64, description: 'A recovery code; works once.' })),
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
  response: closed({ freshUntil: utcTime('When the five minutes end.') }),
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
  description: 'Its access and refresh tokens stop working at once. An API token has no session: 422.',
  permission: 'self:read',
  response: closed({ ended: Type.Boolean({ description: 'True when the session was still open.' }) }),
  errors: ['unprocessable'],
  examples: { response: { ended: true } },
})

export const listSessions = operation({
  id: 'listSessions',
  method: 'GET',
  path: '/prime/webui/Auth/Sessions',
  tag: 'Auth',
  summary: 'Lists the own sessions',
  description: 'Newest first; an account keeps its newest 200.',
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
  summary: 'Ends one of the own sessions',
  permission: 'self:write',
  params: closed({ id: Type.String({ description: 'Id of the session.' }) }),
  response: closed({ ended: Type.Boolean() }),
  errors: ['not_found'],
  examples: { response: { ended: true } },
})

export const setPassword = operation({
  id: 'setPassword',
  method: 'POST',
  path: '/prime/webui/Auth/SetPassword',
  tag: 'Auth',
  summary: 'Sets a password by a one-time link',
  description:
    'The link dies with its use, with its expiry and with any other change of the password. A refused password does not use it up.',
  permission: 'public',
  body: closed({
    token: Type.String({ minLength: 1, maxLength: 256, description: 'What stands behind `#token=` in the link.' }),
    newPassword: Type.String({ maxLength: 1024, description: passwordLimits.description }),
  }),
  response: closed({ userName: Type.String({ description: 'Account whose password was set.' }) }),
  errors: ['link_invalid', 'password_rejected'],
  examples: {
    request: { token: 'pl_8Zl0m2Yb3x6oRkqv1nB4cQ', newPassword: 'correct horse battery' },
    response: { userName: 'ada' },
  },
})

/** The login page's own items; `""` where nothing is set. */
export const CustomLogin = closed({
  CUSTOM_LOGIN_TITLE: Type.String({ description: 'Heading.' }),
  CUSTOM_LOGIN_MESSAGE: Type.String({ description: 'Text under the heading.' }),
  CUSTOM_LOGIN_BANNER: Type.String({ description: 'Must be accepted before signing in; `""` = none.' }),
  CUSTOM_LOGIN_LOGO: Type.String({ description: 'PNG data URI.' }),
  CUSTOM_LOGIN_BACKGROUND: Type.String({ description: 'Background.' }),
  CUSTOM_LOGIN_COLOR: Type.String({ description: 'Accent colour.' }),
})
export type CustomLogin = Static<typeof CustomLogin>

export const authProviders = operation({
  id: 'authProviders',
  method: 'GET',
  path: '/prime/webui/Auth/Providers',
  tag: 'Auth',
  summary: 'Tells which sign-ins are on, and how the login page looks',
  permission: 'public',
  response: closed({
    local: Type.Boolean({ description: 'Local accounts.' }),
    ldap: Type.Boolean({ description: 'A directory.' }),
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
  summary: 'Makes a ticket for one download',
  description: 'Good for one GET within 60 seconds, as `?_ticket=<ticket>`, with the rights of the caller.',
  permission: 'self:read',
  response: closed({
    ticket: Type.String({ description: 'Shown once.' }),
    expiresAt: utcTime('When it ends if it is not used.'),
  }),
  examples: { response: { ticket: 'pt_8Zl0m2Yb3x6oRkqv1nB4cQ', expiresAt: '2031-05-04T10:12:12.345Z' } },
})
