import { closed, nullable, operation, typedText, utcTime } from '@portcullis/platform/contract/operation.ts'
import { type Permission, permissionTable, profiles } from '@portcullis/platform/contract/permissions.ts'
import { type Static, Type } from 'typebox'

/** Days for which an API token is valid when the request has no expiry date. The maximum is one year. */
export const tokenDays = 90
/** Days before a token expires on which the server sends a notification. */
export const tokenNoticeDays = [14, 3] as const

export const tokenStates = ['Active', 'ExpiresSoon', 'Expired', 'NeedsReplacement', 'Suspended'] as const

const Scope = Type.Enum(Object.keys(permissionTable) as Permission[])

export const ApiTokenView = closed({
  id: Type.String({ description: 'ID of the token. This is not the token itself.' }),
  name: Type.String({ description: 'Purpose of the token.' }),
  userName: Type.String({ description: 'Account that the token acts for.' }),
  userProfile: Type.Enum([profiles.administrator, profiles.manager, profiles.user], {
    description: 'Maximum profile of the token. The profile of the account applies if it is lower.',
  }),
  createdAt: utcTime('Time at which the token was created.'),
  expiresAt: nullable(utcTime('Expiry of the token.'), {
    description: 'Expiry of the token. Never `null`; the type includes it for older clients.',
  }),
  lastUsedAt: nullable(utcTime('Last call with the token.'), {
    description: 'Last call with the token, at most one minute behind. `null`: never used.',
  }),
  lastUsedAddress: nullable(Type.String(), {
    description: 'Address of the last call. `null`: never used, or unknown.',
  }),
  createdBy: Type.String({ description: 'Account that created the token.' }),
  scopes: nullable(Type.Array(Scope), {
    description:
      'Permissions that the token can use, if its profile has them. `null`: the token was created before scopes existed and can use every permission of its profile.',
  }),
  isLegacy: Type.Boolean({
    description:
      'True if the token was created before scopes existed. Replace it: it expires 90 days after the upgrade.',
  }),
  state: Type.Enum([...tokenStates], {
    description:
      '`NeedsReplacement`: created before scopes existed. `ExpiresSoon`: expires within 14 days. `Suspended`: the account is suspended.',
  }),
})
export type ApiTokenView = Static<typeof ApiTokenView>

const tokenExample = {
  id: '01936f2a-7c11-7abc-8def-0123456789ab',
  name: 'SIEM',
  userName: 'admin',
  userProfile: 30,
  createdAt: '2031-05-04T10:11:12.345Z',
  expiresAt: '2031-08-02T10:11:12.345Z',
  lastUsedAt: null,
  lastUsedAddress: null,
  createdBy: 'admin',
  scopes: ['fleet:read', 'self:read'],
  isLegacy: false,
  state: 'Active',
} as const

export const listApiTokens = operation({
  id: 'listApiTokens',
  method: 'GET',
  path: '/prime/webui/admin/apiTokens',
  tag: 'Admin',
  summary: 'Lists your API tokens, or all for Administrators',
  permission: 'tokens:own',
  response: Type.Array(ApiTokenView),
  examples: { response: [tokenExample] },
})

export const createApiToken = operation({
  id: 'createApiToken',
  method: 'POST',
  path: '/prime/webui/admin/apiTokens',
  tag: 'Admin',
  summary: 'Creates an API token for a script or connector',
  fresh: 'the token is above the profile User',
  description:
    'The token is returned only once and stored as a hash. `userProfile` is its maximum profile, at most your own (the default). `scopes` limits it further. Without `scopes`, the token can only read: it gets every permission of its profile that ends in `:read`. It expires after 90 days unless `expiresAt` sets another time, at most one year ahead. A token cannot create tokens.',
  permission: 'tokens:own',
  body: closed({
    name: typedText({
      minLength: 1,
      maxLength: 120,
      pattern: '^[^\\u0000-\\u001f\\u007f-\\u009f]+$',
      description: 'Purpose of the token.',
    }),
    expiresAt: Type.Optional(
      nullable(Type.String({ maxLength: 64 }), {
        description:
          'A time in the future, at most one year ahead. Absent or `null`: 90 days from now. A token that never expires cannot be created.',
      }),
    ),
    userProfile: Type.Optional(
      nullable(Type.Enum([profiles.administrator, profiles.manager, profiles.user]), {
        description: 'Maximum profile: 10 Administrator, 20 Manager, 30 User.',
      }),
    ),
    scopes: Type.Optional(
      nullable(Type.Array(Scope, { minItems: 1, maxItems: 32, uniqueItems: true }), {
        description:
          'Permissions that the token can use. Both `userProfile` and your account must have each of them. Absent or `null`: all of these permissions that end in `:read`.',
      }),
    ),
  }),
  response: closed({
    ...ApiTokenView.properties,
    token: Type.String({ description: 'The token. It is not returned again.' }),
  }),
  errors: ['forbidden_object'],
  examples: {
    request: { name: 'SIEM', userProfile: 30, scopes: ['fleet:read', 'self:read'] },
    response: { ...tokenExample, token: 'pct_3q2-7wAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAA' },
  },
})

export const deleteApiToken = operation({
  id: 'deleteApiToken',
  method: 'DELETE',
  path: '/prime/webui/admin/apiTokens/{id}',
  tag: 'Admin',
  summary: 'Revokes an API token',
  fresh: 'the token belongs to another account above the profile User',
  description:
    'You can revoke your own tokens. An Administrator can revoke any token. The token stops working within a second.',
  permission: 'tokens:own',
  params: closed({ id: Type.String({ description: 'ID of the token.' }) }),
  response: closed({ revoked: Type.Boolean() }),
  errors: ['not_found'],
  examples: { response: { revoked: true } },
})

export const deleteApiTokenByQuery = operation({
  ...deleteApiToken,
  id: 'deleteApiTokenByQuery',
  path: '/prime/webui/admin/apiTokens',
  replacedBy: '`DELETE admin/apiTokens/{id}`',
  params: closed({}),
  query: closed({ id: Type.String({ minLength: 1, maxLength: 64, description: 'ID of the token.' }) }),
})
