import { Type } from 'typebox'
import { testOperation } from './general-config.ts'
import { closed, nullable, operation } from './operation.ts'

const forTest = (max: number, description: string) =>
  Type.Optional(nullable(Type.String({ maxLength: max }), { description }))

export const testLdap = testOperation('testLdap', 'TestLDAP', 'ldap', 'Tries the directory', {
  LDAP_TEST_USER: forTest(254, 'Somebody to look up, with his groups; absent: nobody.'),
  LDAP_TEST_PASSWORD: forTest(1_024, 'His password, to sign him in with; used once, never stored.'),
})

export const testOidc = testOperation('testOidc', 'TestOIDC', 'oidc', 'Tries the identity provider')

/** Where a provider sends people back to; registered there as `<address of this server><path>`. */
export const oidcCallbackPath = '/prime/webui/Auth/Oidc/callback'

/** Fragment of the address a browser comes back to with a session: it may have been here for the first time. */
export const signedInFragment = '#signed-in'

/** The console's page that says by `problem` why nobody is signed in: a code of the error table. */
export const signInPage = '/sign-in'

export const startOidc = operation({
  id: 'startOidc',
  method: 'GET',
  path: '/prime/webui/Auth/Oidc/start',
  tag: 'Auth',
  summary: 'Sends the browser to the identity provider',
  description: `For browsers: answers a redirect, and a cookie that binds the sign-in to this browser for ten minutes. When the provider cannot be asked, the redirect leads to \`${signInPage}?problem=oidc_unavailable\`.`,
  permission: 'public',
  response: Type.String(),
  responseKind: 'redirect',
})

/** Console page to which the provider returns the browser; with `?problem=<code>` when the confirmation failed. */
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
  summary: 'Takes the answer of the identity provider',
  description: `For browsers. Exchanges the code, opens a session with the refresh cookie of the console and redirects to \`/${signedInFragment}\`. On failure, redirects to \`${signInPage}?problem=<code>\` with one of the codes below. For an identity confirmation, opens no session and redirects to \`${identityConfirmedPage}\`.`,
  permission: 'public',
  query: Type.Object(
    {
      code: Type.Optional(Type.String({ maxLength: 8_192, description: 'One-use code of the provider.' })),
      state: Type.Optional(Type.String({ maxLength: 512, description: 'As it was sent there.' })),
      iss: Type.Optional(Type.String({ maxLength: 2_048, description: 'Issuer of the answer (RFC 9207).' })),
      error: Type.Optional(Type.String({ maxLength: 256, description: 'Why the provider refused.' })),
    },
    // Providers add parameters of their own, which OAuth wants ignored.
    { additionalProperties: true },
  ),
  response: Type.String(),
  responseKind: 'redirect',
  errors: [
    'oidc_unavailable',
    'oidc_answer_refused',
    'oidc_denied',
    'oidc_not_entitled',
    'account_suspended',
    'oidc_name_taken',
    'oidc_not_fresh',
    'oidc_other_person',
    'session_ended',
    'too_many_requests',
  ],
})
