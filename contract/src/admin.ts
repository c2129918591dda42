import { type Static, Type } from 'typebox'
import { AccountView, imageLimit, LicenseSummary, ProfileNumber, userNameLimits } from './accounts.ts'
import { SessionView } from './auth.ts'
import { BulkResult, closed, nullable, operation, utcTime } from './operation.ts'

const text = (maxLength: number, description: string) =>
  Type.Optional(nullable(Type.String({ maxLength, pattern: '^[^\\p{Cc}]*$' }), { description }))

const personal = {
  firstName: text(254, 'Absent = unchanged; `null` = `""`.'),
  lastName: text(254, 'Absent = unchanged; `null` = `""`.'),
  email: Type.Optional(
    nullable(
      Type.String({ maxLength: 254, pattern: '^$|^[^\\s\\p{Cc}@<>(),;:"\\\\\\[\\]]+@[^\\s\\p{Cc}@<>(),;:"\\\\]+$' }),
      { description: 'One address, or `""`.' },
    ),
  ),
  phone: text(64, 'Absent = unchanged.'),
  image: Type.Optional(
    nullable(Type.String({ maxLength: imageLimit }), {
      description: 'Data URI of a png, jpeg or webp picture, at most 256 KiB; `""` or `null` removes it.',
    }),
  ),
}

/** Read-only members: accepted and ignored, so that an object that was read can be sent back. */
const readOnly = {
  authSource: Type.Optional(Type.Unknown({ description: 'Read-only: ignored.' })),
  mfaEnabled: Type.Optional(Type.Unknown({ description: 'Read-only: ignored.' })),
  lastSignIn: Type.Optional(Type.Unknown({ description: 'Read-only: ignored.' })),
  createdAt: Type.Optional(Type.Unknown({ description: 'Read-only: ignored.' })),
  suspendedUntil: Type.Optional(Type.Unknown({ description: 'Read-only: ignored.' })),
  suspendedBy: Type.Optional(Type.Unknown({ description: 'Read-only: ignored.' })),
}

const userName = Type.String({
  minLength: userNameLimits.min,
  maxLength: userNameLimits.max,
  // No control characters, no blanks at the ends.
  pattern: '^[^\\s\\p{Cc}](?:[^\\p{Cc}]*[^\\s\\p{Cc}])?$',
  description: '1 to 254 characters, no control characters, no blanks at its ends; compared without case.',
})

const changeable = {
  password: Type.Optional(
    nullable(Type.String({ maxLength: 1024 }), { description: '12 to 128 characters; absent or `null` = none given.' }),
  ),
  ...personal,
  isEnabled: Type.Optional(nullable(Type.Boolean(), { description: 'Default true.' })),
  mustChangePassword: Type.Optional(nullable(Type.Boolean(), { description: 'Default false.' })),
  ...readOnly,
}

/** AccountViewResource as adduser takes it. */
export const NewAccount = closed({ userName, userProfile: ProfileNumber, ...changeable })
export type NewAccount = Static<typeof NewAccount>

/** AccountViewResource as updateuser takes it: an absent member is unchanged. */
export const AccountChange = closed({
  userName,
  userProfile: Type.Optional(nullable(ProfileNumber, { description: 'Absent or `null` = unchanged.' })),
  ...changeable,
})
export type AccountChange = Static<typeof AccountChange>

/** MyAccountUpdateResource. */
export const MyAccountUpdate = closed({
  ...personal,
  oldPassword: Type.Optional(nullable(Type.String({ maxLength: 1024 }), { description: 'Needed with newPassword.' })),
  newPassword: Type.Optional(nullable(Type.String({ maxLength: 1024 }), { description: 'Absent or `null` = keep.' })),
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
  summary: 'Lists all accounts, sorted by userName',
  permission: 'accounts:read',
  response: Type.Array(AccountView),
  examples: { response: [accountExample] },
})

export const getUserDetails = operation({
  id: 'getUserDetails',
  method: 'GET',
  path: '/prime/webui/admin/getuserdetails',
  tag: 'Admin',
  summary: 'Reads the own account',
  permission: 'self:read',
  response: AccountView,
  examples: { response: accountExample },
})

export const getProfile = operation({
  id: 'getProfile',
  method: 'GET',
  path: '/prime/webui/admin/profile',
  tag: 'Admin',
  summary: 'Tells a console what it needs to draw itself',
  permission: 'self:read',
  response: closed({
    account: AccountView,
    permissions: Type.Array(Type.String(), {
      description: 'What the caller may do, by the names of the permission table.',
    }),
    navigation: closed({ startPage: Type.String({ description: 'Where the console opens.' }) }),
    license: LicenseSummary,
    sessions: Type.Array(SessionView, { description: 'The own sessions, newest first.' }),
    secondFactorDueAt: nullable(utcTime('Deadline for setting up a second factor.'), {
      description:
        'After this time the session can reach only its own account until a second factor is set up. `null`: none is required, or the account has one.',
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
  summary: 'Makes an account',
  fresh: 'the account is above profile User',
  description:
    'Needs userName and userProfile. A Manager makes accounts of profile User only. Without a password the answer has a one-time link by which its owner sets one; with a mail server and an address of the account it is mailed.',
  permission: 'accounts:write',
  body: NewAccount,
  response: closed({
    ...AccountView.properties,
    setPasswordUrl: nullable(Type.String(), {
      description: 'One-time link, shown once; `null` when a password was given.',
    }),
    setPasswordExpiresAt: nullable(utcTime('When the link ends.'), { description: 'When the link ends.' }),
    isMailed: Type.Boolean({ description: 'The link goes to the address of the account by mail, too.' }),
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
    'it changes the profile, password, e-mail address or state of an account above profile User, or raises an account above User',
  description:
    'Absent members are unchanged, read-only ones ignored, `password: null` keeps. Disabling ends its sessions; a new profile or password ends its access tokens within a second. Nobody disables or demotes himself or the last Administrator.',
  permission: 'accounts:write',
  body: AccountChange,
  response: AccountView,
  errors: ['forbidden_object', 'not_found', 'conflict', 'unprocessable', 'password_rejected'],
  examples: { request: { userName: 'ada', userProfile: 20 }, response: { ...accountExample, userProfile: 20 } },
})

export const updateUserDetails = operation({
  id: 'updateUserDetails',
  method: 'POST',
  path: '/prime/webui/admin/updateuserdetails',
  tag: 'Admin',
  summary: 'Changes the own account',
  fresh: 'it changes the e-mail address of an account above profile User',
  description:
    'A new password needs the old one. It ends the other sessions and every access token; this session goes on by its refresh token.',
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
  fresh: 'one of them is above profile User',
  description:
    'Their sessions and tokens end within a second. All or nothing where a right is lacking; unknown names are reported. Deleting yourself or the last Administrator: 409.',
  permission: 'accounts:write',
  body: nullable(Type.Array(Type.String({ maxLength: 1024 }), { maxItems: 100_000 })),
  bodyOptional: true,
  response: BulkResult,
  errors: ['forbidden_object', 'conflict'],
  examples: { request: ['ada', 'nobody'], response: { accepted: ['ada'], notFound: ['nobody'] } },
})
