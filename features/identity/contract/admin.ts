import { BulkResult, closed, nullable, operation, utcTime } from '@portcullis/platform/contract/operation.ts'
import { type Static, Type } from 'typebox'
import { AccountView, imageLimit, LicenseSummary, ProfileNumber, userNameLimits } from './accounts.ts'
import { SessionView } from './auth.ts'

const text = (maxLength: number, description: string) =>
  Type.Optional(nullable(Type.String({ maxLength, pattern: '^[^\\u0000-\\u001f\\u007f-\\u009f]*$' }), { description }))

const personal = {
  firstName: text(254, 'Absent: unchanged. `null`: set to an empty string.'),
  lastName: text(254, 'Absent: unchanged. `null`: set to an empty string.'),
  email: Type.Optional(
    nullable(
      Type.String({
        maxLength: 254,
        pattern:
          '^$|^[^\\s\\u0000-\\u001f\\u007f-\\u009f@<>(),;:"\\\\\\[\\]]+@[^\\s\\u0000-\\u001f\\u007f-\\u009f@<>(),;:"\\\\]+$',
      }),
      { description: 'One email address, or an empty string.' },
    ),
  ),
  phone: text(64, 'Absent: unchanged.'),
  image: Type.Optional(
    nullable(Type.String({ maxLength: imageLimit }), {
      description:
        'Data URI of a PNG, JPEG or WebP picture, at most 256 KiB. An empty string or `null` removes the picture.',
    }),
  ),
}

/** Read-only fields. The server ignores them, so that a client can send back an object that it read. */
const ignored = Type.Optional(
  Type.Union([Type.String({ maxLength: 1024 }), Type.Boolean(), Type.Number(), Type.Null()], {
    description: 'Read-only. Ignored in requests.',
  }),
)
const readOnly = {
  authSource: ignored,
  mfaEnabled: ignored,
  lastSignIn: ignored,
  createdAt: ignored,
  suspendedUntil: ignored,
  suspendedBy: ignored,
}

const userName = Type.String({
  minLength: userNameLimits.min,
  maxLength: userNameLimits.max,
  // No control characters, no spaces at either end.
  pattern:
    '^[^\\s\\u0000-\\u001f\\u007f-\\u009f](?:[^\\u0000-\\u001f\\u007f-\\u009f]*[^\\s\\u0000-\\u001f\\u007f-\\u009f])?$',
  description: '1 to 254 characters. No control characters, and no spaces at either end. Comparison ignores case.',
})

const changeable = {
  password: Type.Optional(
    nullable(Type.String({ maxLength: 1024 }), {
      description: '12 to 128 characters. Absent or `null`: no password is set or changed.',
    }),
  ),
  ...personal,
  isEnabled: Type.Optional(nullable(Type.Boolean(), { description: 'Default for a new account: true.' })),
  mustChangePassword: Type.Optional(nullable(Type.Boolean(), { description: 'Default for a new account: false.' })),
  ...readOnly,
}

const revokeApiTokens = Type.Optional(
  nullable(Type.Boolean(), {
    description:
      'True: all API tokens of the account stop working with the new password. Allowed only with a new password. Default: false, so that scripts and integrations keep working.',
  }),
)

/** AccountViewResource in requests to adduser. */
export const NewAccount = closed({ userName, userProfile: ProfileNumber, ...changeable })
export type NewAccount = Static<typeof NewAccount>

/** AccountViewResource in requests to updateuser. Absent fields keep their values. */
export const AccountChange = closed({
  userName,
  userProfile: Type.Optional(nullable(ProfileNumber, { description: 'Absent or `null`: unchanged.' })),
  ...changeable,
  revokeApiTokens,
})
export type AccountChange = Static<typeof AccountChange>

/** MyAccountUpdateResource. */
export const MyAccountUpdate = closed({
  ...personal,
  oldPassword: Type.Optional(
    nullable(Type.String({ maxLength: 1024 }), { description: 'Current password. Required with `newPassword`.' }),
  ),
  newPassword: Type.Optional(
    nullable(Type.String({ maxLength: 1024 }), { description: 'New password. Absent or `null`: unchanged.' }),
  ),
  revokeApiTokens,
})
export type MyAccountUpdate = Static<typeof MyAccountUpdate>

const accountExample = {
  userName: 'ada',
  password: null,
  userProfile: 30,
  firstName: 'Ada',
  lastName: 'Keller',
  email: 'ada@example.org',
  phone: null,
  image: '',
  authSource: 'Local',
  isEnabled: true,
  mfaEnabled: false,
  mustChangePassword: false,
  lastSignIn: null,
  createdAt: '2031-05-04T10:11:12.345Z',
  suspendedUntil: null,
  suspendedBy: null,
} as const

export const getAllUsers = operation({
  id: 'getAllUsers',
  method: 'GET',
  path: '/prime/webui/admin/all',
  tag: 'Admin',
  summary: 'Lists all accounts, sorted by user name',
  permission: 'accounts:read',
  response: Type.Array(AccountView),
  examples: { response: [accountExample] },
})

export const getUserDetails = operation({
  id: 'getUserDetails',
  method: 'GET',
  path: '/prime/webui/admin/getuserdetails',
  tag: 'Admin',
  summary: 'Returns your account',
  permission: 'self:read',
  response: AccountView,
  examples: { response: accountExample },
})

export const getProfile = operation({
  id: 'getProfile',
  method: 'GET',
  path: '/prime/webui/admin/profile',
  tag: 'Admin',
  summary: 'Returns your account, permissions, sessions and licence',
  permission: 'self:read',
  response: closed({
    account: AccountView,
    permissions: Type.Array(Type.String(), {
      description: 'Names of the permissions of the caller.',
    }),
    navigation: closed({ startPage: Type.String({ description: 'First page of the console.' }) }),
    license: LicenseSummary,
    sessions: Type.Array(SessionView, { description: 'Your sessions, newest first.' }),
    secondFactorDueAt: nullable(utcTime('Deadline for setting up a second factor.'), {
      description:
        'After this time, the session can reach only its own account until a second factor is set up. `null`: no second factor is required, or the account has one.',
    }),
  }),
  examples: {
    response: {
      account: accountExample,
      permissions: ['fleet:read', 'self:read', 'self:write'],
      navigation: { startPage: '/' },
      license: { primeAccountName: 'Community', licenseStatus: 'Activated' },
      sessions: [],
      secondFactorDueAt: null,
    },
  },
})

export const addUser = operation({
  id: 'addUser',
  method: 'POST',
  path: '/prime/webui/admin/adduser',
  tag: 'Admin',
  summary: 'Creates an account',
  fresh: 'the account is above the profile User',
  description:
    'Requires `userName` and `userProfile`. A Manager can create only accounts with the profile User. Without a password, the response contains a one-time link for setting one. The server also emails the link if a mail server is configured and the account has an email address.',
  permission: 'accounts:write',
  body: NewAccount,
  response: closed({
    ...AccountView.properties,
    setPasswordUrl: nullable(Type.String(), {
      description: 'One-time link, returned only once. `null` if the request has a password.',
    }),
    setPasswordExpiresAt: nullable(utcTime('Expiry of the link.'), { description: 'Expiry of the link.' }),
    isMailed: Type.Boolean({ description: 'True if the server also emails the link to the account.' }),
  }),
  errors: ['forbidden_object', 'conflict', 'password_rejected'],
  examples: {
    request: { userName: 'ada', userProfile: 30, firstName: 'Ada', lastName: 'Keller', email: 'ada@example.org' },
    response: {
      ...accountExample,
      setPasswordUrl: 'https://portcullis.example.org/set-password#token=pl_8Zl0m2Yb3x6oRkqv1nB4cQ',
      setPasswordExpiresAt: '2031-05-06T10:11:12.345Z',
      isMailed: true,
    },
  },
})

export const updateUser = operation({
  id: 'updateUser',
  method: 'POST',
  path: '/prime/webui/admin/updateuser',
  tag: 'Admin',
  summary: 'Changes an account',
  fresh:
    'it changes the profile, password, email address or state of an account above the profile User, or raises an account above User',
  description:
    'Absent fields keep their values, read-only fields are ignored, and `password: null` keeps the password. Disabling an account ends its sessions. A new profile or password ends its access tokens within a second. API tokens keep working after a new password, unless `revokeApiTokens` is true. You cannot disable or demote your own account or the last Administrator.',
  permission: 'accounts:write',
  body: AccountChange,
  response: AccountView,
  errors: ['forbidden_object', 'not_found', 'conflict', 'unprocessable', 'password_rejected', 'second_person_required'],
  examples: { request: { userName: 'ada', userProfile: 20 }, response: { ...accountExample, userProfile: 20 } },
})

export const updateUserDetails = operation({
  id: 'updateUserDetails',
  method: 'POST',
  path: '/prime/webui/admin/updateuserdetails',
  tag: 'Admin',
  summary: 'Changes your account',
  fresh: 'it changes the email address of an account above the profile User',
  description:
    'A new password requires the current one. It ends your other sessions and all access tokens. Continue this session with its refresh token. Your API tokens keep working, unless `revokeApiTokens` is true.',
  permission: 'self:write',
  body: MyAccountUpdate,
  response: AccountView,
  errors: ['old_password_wrong', 'password_rejected', 'unprocessable', 'too_many_requests'],
  examples: { request: { phone: '+49 30 1234567' }, response: { ...accountExample, phone: '+49 30 1234567' } },
})

export const deleteUsers = operation({
  id: 'deleteUsers',
  method: 'POST',
  path: '/prime/webui/admin/deleteUsers',
  tag: 'Admin',
  summary: 'Deletes accounts',
  fresh: 'one of the accounts is above the profile User',
  description:
    'The sessions and tokens of the accounts end within a second. If you may not delete one of them, none is deleted. Unknown names are returned in `notFound`. You cannot delete your own account or the last Administrator (409).',
  permission: 'accounts:write',
  body: nullable(Type.Array(Type.String({ maxLength: 1024 }), { maxItems: 100_000 })),
  bodyOptional: true,
  response: BulkResult,
  errors: ['forbidden_object', 'conflict', 'second_person_required'],
  examples: { request: ['ada', 'nobody'], response: { accepted: ['ada'], notFound: ['nobody'] } },
})
