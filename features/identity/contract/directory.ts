import { closed, nullable, operation } from '@portcullis/platform/contract/operation.ts'
import { Type } from 'typebox'
import { testOperation } from '#features/settings/contract/general-config.ts'

const forTest = (max: number, description: string) =>
  Type.Optional(nullable(Type.String({ maxLength: max }), { description }))

export const testLdap = testOperation('testLdap', 'TestLDAP', 'ldap', 'Tests the connection to the directory', {
  LDAP_TEST_USER: forTest(254, 'User to look up with their groups. Absent: no user.'),
  LDAP_TEST_PASSWORD: forTest(1_024, 'Password of the user, for a test sign-in. It is never stored.'),
})

export const testOidc = testOperation('testOidc', 'TestOIDC', 'oidc', 'Tests the connection to the identity provider')

/** Path of the redirect URI. Register `<address of this server><path>` at the provider. */
export const oidcCallbackPath = '/prime/webui/Auth/Oidc/callback'

/** Fragment of the address to which a browser returns with a session. */
export const signedInFragment = '#signed-in'

/** Sign-in page of the console. Its parameter `problem` is an error code that says why the sign-in failed. */
export const signInPage = '/sign-in'

export const startOidc = operation({
  id: 'startOidc',
  method: 'GET',
  path: '/prime/webui/Auth/Oidc/start',
  tag: 'Auth',
  summary: 'Sends the browser to the identity provider',
  description: `For browsers. Redirects to the provider and sets a cookie that binds the sign-in to this browser for ten minutes. If the provider is unavailable, redirects to \`${signInPage}?problem=oidc_unavailable\`.`,
  permission: 'public',
  response: Type.String(),
  responseKind: 'redirect',
})

/** Console page to which the provider returns the browser, with `?problem=<code>` if the confirmation failed. */
export const identityConfirmedPage = '/identity-confirmed'

export const startOidcReauthentication = operation({
  id: 'startOidcReauthentication',
  method: 'POST',
  path: '/prime/webui/Auth/Oidc/reauthenticate',
  tag: 'Auth',
  summary: 'Starts an identity confirmation at the identity provider',
  description: `For accounts of an identity provider. Open \`url\` in the same browser. The provider asks the user to sign in again (\`prompt=login\`). Its response must be for the same user, with an \`auth_time\` at most five minutes old. The session of this call is then fresh, counted from \`auth_time\`. The browser returns to \`${identityConfirmedPage}\`, with \`?problem=<code>\` on failure. The response of this call sets a cookie that binds the confirmation to this browser for ten minutes.`,
  permission: 'self:write',
  response: closed({ url: Type.String({ description: 'Address of the identity provider.' }) }),
  errors: ['session_required', 'session_ended', 'unprocessable', 'oidc_unavailable'],
})

export const finishOidc = operation({
  id: 'finishOidc',
  method: 'GET',
  path: oidcCallbackPath,
  tag: 'Auth',
  summary: 'Handles the response of the identity provider',
  description: `For browsers. Exchanges the code, opens a session with the refresh cookie of the console and redirects to \`/${signedInFragment}\`. On failure, redirects to \`${signInPage}?problem=<code>\` with one of the codes below. For an identity confirmation, opens no session and redirects to \`${identityConfirmedPage}\`.`,
  permission: 'public',
  query: Type.Object(
    {
      code: Type.Optional(Type.String({ maxLength: 8_192, description: 'One-time code of the provider.' })),
      state: Type.Optional(
        Type.String({ maxLength: 512, description: 'Value of `state` that this server sent to the provider.' }),
      ),
      iss: Type.Optional(Type.String({ maxLength: 2_048, description: 'Issuer of the response (RFC 9207).' })),
      error: Type.Optional(Type.String({ maxLength: 256, description: 'Error code of the provider.' })),
    },
    // Providers add their own parameters. OAuth requires clients to ignore them.
    { additionalProperties: true },
  ),
  response: Type.String(),
  responseKind: 'redirect',
  errors: [
    'oidc_unavailable',
    'oidc_answer_refused',
    'oidc_answer_invalid',
    'oidc_denied',
    'oidc_not_entitled',
    'oidc_groups_unknown',
    'account_suspended',
    'oidc_name_taken',
    'oidc_not_fresh',
    'oidc_other_person',
    'session_ended',
    'too_many_requests',
  ],
})
