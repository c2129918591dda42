import { type Static, Type } from 'typebox'
import { closed, nullable, operation, utcTime } from './operation.ts'
import { type Permission, permissionTable, profiles } from './permissions.ts'

/** Days for which an API token is valid when the request has no expiry date. The maximum is one year. */
export const tokenDays = 90
/** Days before a token expires on which the server sends a notification. */
export const tokenNoticeDays = [14, 3] as const

export const tokenStates = ['Active', 'ExpiresSoon', 'Expired', 'NeedsReplacement', 'Suspended'] as const

const Scope = Type.Enum(Object.keys(permissionTable) as Permission[])

export const ApiTokenView = closed({
  id: Type.String({ description: 'Id of the token; not the token.' }),
  name: Type.String({ description: 'What it is for.' }),
  userName: Type.String({ description: 'Account it acts for.' }),
  userProfile: Type.Enum([profiles.administrator, profiles.manager, profiles.user], {
    description: "Its ceiling; the account's own profile applies when that is lower.",
  }),
  createdAt: utcTime('When it was made.'),
  expiresAt: nullable(utcTime('When it expires.'), {
    description: 'When it expires. Every token has a date; the type still includes `null` for older clients.',
  }),
  lastUsedAt: nullable(utcTime('Last call with it.'), { description: 'Last call with it, at most one minute behind.' }),
  lastUsedAddress: nullable(Type.String(), {
    description: 'Address of the last call; `null` = never used, or unknown.',
  }),
  createdBy: Type.String({ description: 'Who created it.' }),
  scopes: nullable(Type.Array(Scope), {
    description:
      'Permissions the token may use, if its profile has them. `null`: created before scopes existed; the token may use every permission of its profile.',
  }),
  isLegacy: Type.Boolean({
    description: 'True for a token created before scopes existed. Replace it; it expires 90 days after the upgrade.',
  }),
  state: Type.Enum([...tokenStates], {
    description:
      '`NeedsReplacement`: created before scopes existed. `ExpiresSoon`: within 14 days. `Suspended`: its account is suspended.',
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
  summary: 'Lists the own API tokens; an Administrator sees all',
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
  fresh: 'the token is above profile User',
  description:
    'The token is shown once and stored as a hash. `userProfile` is its highest profile, at most your own (the default). `scopes` limits it further. Without `scopes` it can only read: it gets every permission of its profile that ends in `:read`. It expires after 90 days unless `expiresAt` sets another date, at most one year ahead. A token cannot create tokens.',
  permission: 'tokens:own',
  body: closed({
    name: Type.String({ minLength: 1, maxLength: 120, pattern: '^[^\\p{Cc}]+$', description: 'What it is for.' }),
    expiresAt: Type.Optional(
      nullable(Type.String({ maxLength: 64 }), {
        description:
          'A time in the future, at most one year ahead. Absent or `null`: 90 days from now. A token that never expires cannot be created.',
      }),
    ),
    userProfile: Type.Optional(
      nullable(Type.Enum([profiles.administrator, profiles.manager, profiles.user]), {
        description: 'Ceiling: 10 Administrator, 20 Manager, 30 User.',
      }),
    ),
    scopes: Type.Optional(
      nullable(Type.Array(Scope, { minItems: 1, maxItems: 32, uniqueItems: true }), {
        description:
          'Permissions the token may use. Both `userProfile` and your account must have each of them. Absent or `null`: every such permission that ends in `:read`.',
      }),
    ),
  }),
  response: closed({
    ...ApiTokenView.properties,
    token: Type.String({ description: 'The token; never shown again.' }),
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
  fresh: 'the token belongs to another account above profile User',
  description: 'Own tokens; an Administrator revokes any. It stops working within a second.',
  permission: 'tokens:own',
  params: closed({ id: Type.String({ description: 'Id of the token.' }) }),
  response: closed({ revoked: Type.Boolean() }),
  errors: ['not_found'],
  examples: { response: { revoked: true } },
})

export const deleteApiTokenByQuery = operation({
  id: 'deleteApiTokenByQuery',
  method: 'DELETE',
  path: '/prime/webui/admin/apiTokens',
  tag: 'Admin',
  summary: 'Revokes an API token, its id in the query',
  fresh: 'the token belongs to another account above profile User',
  permission: 'tokens:own',
  query: closed({ id: Type.String({ minLength: 1, maxLength: 64, description: 'Id of the token.' }) }),
  response: closed({ revoked: Type.Boolean() }),
  errors: ['not_found'],
  examples: { response: { revoked: true } },
})
