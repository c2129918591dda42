import { type Static, Type } from 'typebox'
import { closed, nullable, operation, utcTime } from './operation.ts'
import { profiles } from './permissions.ts'

export const ApiTokenView = closed({
  id: Type.String({ description: 'Id of the token; not the token.' }),
  name: Type.String({ description: 'What it is for.' }),
  userName: Type.String({ description: 'Account it acts for.' }),
  userProfile: Type.Enum([profiles.administrator, profiles.manager, profiles.user], {
    description: "Its ceiling; the account's own profile applies when that is lower.",
  }),
  createdAt: utcTime('When it was made.'),
  expiresAt: nullable(utcTime('When it ends.'), { description: 'When it ends; `null` = never.' }),
  lastUsedAt: nullable(utcTime('Last call with it.'), { description: 'Last call with it, at most one minute behind.' }),
})
export type ApiTokenView = Static<typeof ApiTokenView>

const tokenExample = {
  id: '01936f2a-7c11-7abc-8def-0123456789ab',
  name: 'SIEM',
  userName: 'admin',
  userProfile: 30,
  createdAt: '2031-05-04T10:11:12.345Z',
  expiresAt: null,
  lastUsedAt: null,
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
  summary: 'Makes a long-lived token for a script or connector',
  description:
    'The token is shown once and stored hashed. `userProfile` is its ceiling, at most the own profile (the default). A token can not make tokens.',
  permission: 'tokens:own',
  body: closed({
    name: Type.String({ minLength: 1, maxLength: 120, pattern: '^[^\\p{Cc}]+$', description: 'What it is for.' }),
    expiresAt: Type.Optional(
      nullable(Type.String({ maxLength: 64 }), { description: 'A time in the future; absent or `null` = never.' }),
    ),
    userProfile: Type.Optional(
      nullable(Type.Enum([profiles.administrator, profiles.manager, profiles.user]), {
        description: 'Ceiling: 10 Administrator, 20 Manager, 30 User.',
      }),
    ),
  }),
  response: closed({
    ...ApiTokenView.properties,
    token: Type.String({ description: 'The token; never shown again.' }),
  }),
  errors: ['forbidden_object'],
  examples: {
    request: { name: 'SIEM', userProfile: 30 },
    response: { ...tokenExample, token: 'pct_3q2-7wAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAA' },
  },
})

export const deleteApiToken = operation({
  id: 'deleteApiToken',
  method: 'DELETE',
  path: '/prime/webui/admin/apiTokens/{id}',
  tag: 'Admin',
  summary: 'Revokes an API token',
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
  permission: 'tokens:own',
  query: closed({ id: Type.String({ minLength: 1, maxLength: 64, description: 'Id of the token.' }) }),
  response: closed({ revoked: Type.Boolean() }),
  errors: ['not_found'],
  examples: { response: { revoked: true } },
})
