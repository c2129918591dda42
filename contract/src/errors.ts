/**
 * Every problem the server can answer, with its status, cause and cure. The console and connectors switch on `code`;
 * texts may change. `docs/reference/errors.md` is generated from this table, OpenAPI lists the codes per status.
 */

import type { AgentRevocation, CommandKeyRotation } from './command-keys.ts'

/** One entry of the error table. */
export interface ErrorDefinition {
  /** HTTP status of the answer. */
  status: 400 | 401 | 403 | 404 | 405 | 409 | 413 | 415 | 422 | 429 | 500 | 503
  /** Short, stable sentence: the RFC 9457 `title`. */
  title: string
  /** The RFC 9457 `detail`; `{name}` is replaced by the parameter of that name. */
  detail: string
  /** Why this happens, for the reference. */
  cause: string
  /** What to do about it, for the reference. */
  cure: string
}

const define = <const T extends Record<string, ErrorDefinition>>(table: T): T => table

/** The whole table. Keys are the `code` of the problem. */
export const errorTable = define({
  validation_failed: {
    status: 400,
    title: 'The request is not valid',
    detail: '{detail}',
    cause:
      'A member, parameter or part of the request breaks its documented shape or bound. `errors[]` names each one.',
    cure: 'Correct what `errors[]` names and send the request again; nothing was changed.',
  },
  signin_refused: {
    status: 400,
    title: 'Sign-in refused',
    detail: 'User name or password is wrong, or this account cannot sign in here.',
    cause: 'auth/signin answers 400 for every refusal: wrong name or password, disabled, federated or MFA account.',
    cure: 'Check name and password; accounts with a second factor or from a directory sign in at Auth/LocalLogin.',
  },
  old_password_wrong: {
    status: 400,
    title: 'The old password is wrong',
    detail: 'The old password is not the current one.',
    cause: 'A password change must prove the current password.',
    cure: 'Enter the current password; an Administrator can set a new one for you.',
  },
  password_rejected: {
    status: 400,
    title: 'The password is not acceptable',
    detail: '{detail}',
    cause: 'Passwords have 12 to 128 characters, are not on the list of common ones and are not the user name.',
    cure: 'Choose a longer or less common password.',
  },
  mfa_code_wrong: {
    status: 401,
    title: 'The second factor does not fit',
    detail: 'The code or passkey is not accepted.',
    cause:
      'A code is wrong, over (30 seconds) or was used before; or the passkey is another one, or was made for another name of this server.',
    cure: 'Wait for the next code. Check the clock of the device. With no factor left, use a recovery code or ask an Administrator.',
  },
  link_invalid: {
    status: 400,
    title: 'The link does not work',
    detail: 'The link is unknown, expired or was used before.',
    cause: 'Set-password links work once, for two days, and die with any change of the password.',
    cure: 'Ask an Administrator for a new link.',
  },
  unauthorized: {
    status: 401,
    title: 'Authentication is needed',
    detail: 'A valid bearer token is needed.',
    cause: 'The Authorization header is missing, or its token is malformed, expired or revoked.',
    cure: 'Sign in again and send `Authorization: Bearer <token>`.',
  },
  credentials_wrong: {
    status: 401,
    title: 'Sign-in refused',
    detail: 'User name or password is wrong.',
    cause: 'Name and password do not belong to an enabled account.',
    cure: 'Check both; an Administrator can reset the password.',
  },
  session_ended: {
    status: 401,
    title: 'The session is over',
    detail: 'The refresh token is unknown, expired or was used before. Sign in again.',
    cause:
      'Sessions end after 30 idle minutes, after 12 hours, by sign-out, by a change of the account, and when a refresh token is used twice.',
    cure: 'Sign in again; keep only the newest refresh token of a session.',
  },
  reauthentication_required: {
    status: 401,
    title: 'Confirm your identity',
    detail: 'This operation needs a password or second factor entered within the last 5 minutes.',
    cause:
      'The operation changes the fleet or its secrets, and the person behind this session last proved their identity more than 5 minutes ago. Renewing tokens does not count. Nothing was changed.',
    cure: 'In the console, enter your password or second factor when asked. Other clients send it to auth/reauthenticate with the same session, then repeat the request.',
  },
  reauthentication_failed: {
    status: 400,
    title: 'Identity not confirmed',
    detail: 'The password or code is incorrect, or was already used.',
    cause: 'The password, code or passkey does not belong to the account of this session, or the code was used before.',
    cure: 'Check it and try again. After ten wrong answers in 15 minutes, wait as long as Retry-After says, or sign out and sign in again.',
  },
  session_required: {
    status: 403,
    title: 'A signed-in session is required',
    detail: 'API tokens cannot perform this operation. Sign in and confirm your identity.',
    cause: 'The operation needs fresh authentication, which an API token cannot have. Nothing was changed.',
    cure: 'Perform the operation in the console, or run `portcullis` with `--user <name>`.',
  },
  forbidden: {
    status: 403,
    title: 'The profile is too low',
    detail: 'This needs profile {profile}.',
    cause: 'The account or token has a lower profile than the operation needs.',
    cure: 'Ask an Administrator for the profile named, or use another account.',
  },
  scope_missing: {
    status: 403,
    title: 'The token lacks a scope',
    detail: 'This API token lacks the scope `{scope}`.',
    cause:
      'The profile of the token is high enough, but its scopes do not include the permission this operation needs.',
    cure: 'Create a token that has this scope, and replace the old one. The scopes of a token cannot be changed.',
  },
  forbidden_object: {
    status: 403,
    title: 'Not allowed for this object',
    detail: '{detail}',
    cause:
      'The operation is allowed, but not on this object: a Manager changes accounts of profile User only, nobody grants more than his own profile.',
    cure: 'Ask an Administrator.',
  },
  keys_command_line_only: {
    status: 403,
    title: 'Keys are exported on the command line only',
    detail:
      'The key file of the server is never sent over HTTP. On the server, as its account, run: npm run cli -- backup make --with-keys --out FILE --passphrase-file FILE.',
    cause: 'The request asked for a backup that contains the key file. No session or API token can read that file.',
    cure: 'Omit `withKeys`. To include the key file, run `npm run cli -- backup make --with-keys` on the server.',
  },
  password_change_required: {
    status: 403,
    title: 'The password must be changed first',
    detail: 'Change the password first (updateuserdetails); until then only the own profile is reachable.',
    cause: 'The account has mustChangePassword set.',
    cure: 'POST admin/updateuserdetails with oldPassword and newPassword.',
  },
  second_factor_required: {
    status: 403,
    title: 'Set up a second factor first',
    detail: 'This account needs a second factor. Until you set one up, you can reach only your own account.',
    cause: 'A second factor is required for the profile of this account, and the grace period is over.',
    cure: 'Open the console and set up an authenticator app or a passkey, or use Auth/Mfa/totp. If you cannot, ask the operator of the server to run `npm run cli -- admin exempt-second-factor`.',
  },
  second_person_required: {
    status: 403,
    title: 'This needs a second approver',
    detail: '{detail}',
    cause:
      'One person cannot do this alone. It frees, deletes or opens more hosts than the limit in the policy settings, changes another Administrator, installs agent builds, or weakens sign-in or approval settings. Nothing was changed.',
    cure: 'Ask a second approver to approve the request at policy/changerequests, or choose fewer hosts.',
  },
  approval_queue_full: {
    status: 409,
    title: 'Too many requests wait for a second approver',
    detail: '{detail}',
    cause:
      'One account may have 10 waiting requests, and the server keeps 50. The last 10 places are reserved for Administrators. Nothing was changed.',
    cure: 'Withdraw requests at policy/changerequests, or ask a second approver to decide them. Requests expire after 24 hours.',
  },
  account_suspended: {
    status: 403,
    title: 'The account is suspended',
    detail: 'This account is suspended until {until}.',
    cause: 'An Administrator suspended the sessions, API tokens and approvals of this account for 24 hours.',
    cure: 'Wait until then, ask another Administrator to lift the suspension, or run `npm run cli -- admin lift-suspension` on the server. The server can keep running.',
  },
  origin_refused: {
    status: 403,
    title: 'Foreign origin',
    detail: 'The request comes from an origin that is not this server.',
    cause: 'A browser sent an Origin header that is neither this server nor SERVER_DOMAIN_NAME.',
    cure: 'Open the console under the configured name, or set SERVER_DOMAIN_NAME.',
  },
  not_found: {
    status: 404,
    title: 'Not found',
    detail: '{detail}',
    cause: 'The path or the object it names does not exist.',
    cure: 'Check spelling and case of the identifier.',
  },
  method_not_allowed: {
    status: 405,
    title: 'Method not allowed',
    detail: 'This path takes {allow}.',
    cause: 'The path exists, but not with this method.',
    cure: 'Use a method named in the Allow header.',
  },
  conflict: {
    status: 409,
    title: 'Conflict',
    detail: '{detail}',
    cause: 'The change contradicts the present state: a duplicate name, the last Administrator, the own account.',
    cure: 'Read the present state and decide anew; nothing was changed.',
  },
  payload_too_large: {
    status: 413,
    title: 'The body is too large',
    detail: 'The body is larger than {limit} bytes.',
    cause: 'JSON bodies hold at most 8 MiB, uploads 32 MiB, agent packages 128 MiB, agent reports 4 MiB.',
    cure: 'Split the request.',
  },
  unsupported_media_type: {
    status: 415,
    title: 'Unsupported media type',
    detail: 'Send {expected}.',
    cause: 'The Content-Type or charset of the body is not one this operation reads.',
    cure: 'Send `Content-Type: application/json`, or `multipart/form-data` where the operation takes a file.',
  },
  licence_invalid: {
    status: 422,
    title: 'The licence is not accepted',
    detail: '{detail}',
    cause: 'The text is no licence of this product, or no key that this server trusts has signed it.',
    cure: 'Enter the whole text as it was issued. The public key of the issuer stands in the file that PORTCULLIS_LICENSE_KEYS names, by default licence-keys.pem in the data folder.',
  },
  unprocessable: {
    status: 422,
    title: 'Understood, but impossible',
    detail: '{detail}',
    cause: 'The request is well-formed, but cannot be carried out as asked.',
    cure: 'See the detail.',
  },
  too_many_requests: {
    status: 429,
    title: 'Too many requests',
    detail: 'Too many attempts; try again in {seconds} seconds.',
    cause:
      'Failed sign-ins, a source over its budget, or an account with too many previews, exports or live streams at once.',
    cure: 'Wait for Retry-After.',
  },
  internal_error: {
    status: 500,
    title: 'Internal error',
    detail: 'The server failed; the incident is logged under this trace id.',
    cause: 'A defect or a failed part of the server.',
    cure: 'Retry; if it stays, look up the traceId in the server log.',
  },
  unavailable: {
    status: 503,
    title: 'Temporarily unavailable',
    detail: 'The server cannot do this now; try again shortly.',
    cause: 'The database is away, the server is starting, stopping or shedding load.',
    cure: 'Retry after Retry-After seconds; nothing was changed.',
  },
  directory_unavailable: {
    status: 503,
    title: 'The directory cannot be asked',
    detail:
      'User name and password could not be checked, because the directory cannot be asked now. Local accounts still sign in.',
    cause:
      'The directory is down, does not answer in time, shows a bad certificate, or refuses the account that looks people up.',
    cure: 'Sign in with a local account and run the test of the directory in the settings: it names the step that fails.',
  },
  oidc_unavailable: {
    status: 503,
    title: 'The identity provider cannot be asked',
    detail: 'The identity provider cannot be asked now. Local accounts still sign in.',
    cause:
      'It is not in use, is down, does not answer in time, shows a bad certificate, or refuses this server as client.',
    cure: 'Try again; run the test of the identity provider in the settings: it names the step that fails.',
  },
  oidc_answer_refused: {
    status: 400,
    title: 'The answer of the identity provider is not accepted',
    detail: 'The sign-in was not begun in this browser, took longer than ten minutes, or was used before.',
    cause:
      'The answer belongs to another browser or provider, came twice or too late, or its signature, issuer, audience or times are wrong.',
    cure: 'Begin again on the login page, opened under the domain name of the server. If it stays, compare clocks, issuer and client id.',
  },
  oidc_denied: {
    status: 403,
    title: 'The identity provider refused',
    detail: 'The identity provider did not sign you in.',
    cause: 'You declined there, or the provider does not let you use this application.',
    cure: 'Try again; the administrator of the provider can assign the application to you.',
  },
  oidc_not_entitled: {
    status: 403,
    title: 'No account here',
    detail: 'The identity provider knows you, but gives you none of the groups that may use this server.',
    cause:
      'None of the values of the groups claim is configured, the account was disabled here, or the name claim holds no usable name.',
    cure: 'Ask an Administrator for a group; the audit trail says which of these it is.',
  },
  oidc_not_fresh: {
    status: 403,
    title: 'The identity provider did not ask for your password',
    detail: 'The identity provider did not confirm that you signed in there within the last 5 minutes.',
    cause:
      'The ID token has no auth_time claim, or one that is more than 5 minutes old: the provider used an existing sign-in although prompt=login asked for a new one.',
    cure: 'Sign out at the provider and try again. If the problem persists, ask its administrator to honour prompt=login and max_age and to include auth_time in ID tokens.',
  },
  oidc_other_person: {
    status: 403,
    title: 'Another person signed in',
    detail: 'The identity provider confirmed another user than the one signed in here.',
    cause: 'The user who signed in at the provider does not own this session.',
    cure: 'Try again and sign in at the provider with the account you use here.',
  },
  oidc_name_taken: {
    status: 409,
    title: 'The name belongs to another account',
    detail: 'Another account has your name here; it is not taken over.',
    cause: 'A local or directory account, or one of another subject at the provider, has the name of the name claim.',
    cure: 'An Administrator deletes or renames the other account, or chooses another name claim.',
  },
  destination_refused: {
    status: 422,
    title: 'The server does not connect there',
    detail: '{host} leads to an address this server does not connect to.',
    cause:
      'The server never connects to link-local, metadata, multicast or broadcast addresses. It connects to loopback addresses, including `localhost`, only if PORTCULLIS_OUTBOUND_ALLOW contains the address.',
    cure: 'Enter the correct name or address. For a service on this machine, add its address to PORTCULLIS_OUTBOUND_ALLOW and restart the server.',
  },
  enrolment_refused: {
    status: 403,
    title: 'Enrolment refused',
    detail: '{detail}',
    cause: 'The enrolment token is unknown, expired, revoked or used up, or the key proof does not verify.',
    cure: 'Make a fresh token in the console (Agents, Add a host).',
  },
  agent_session_expired: {
    status: 401,
    title: 'The agent session is over',
    detail: 'The session token is missing, malformed or expired.',
    cause: 'Session tokens are short-lived, or the server key changed.',
    cure: 'The agent opens a new session by itself.',
  },
  agent_session_superseded: {
    status: 409,
    title: 'Another start of this agent took over',
    detail: 'A newer start of this agent has opened a session.',
    cause: 'The agent was restarted, or its key was copied to another host.',
    cure: 'The agent opens a new session by itself; a copied key raises a risk notice.',
  },
  agent_revoked: {
    status: 403,
    title: 'The agent was removed',
    detail: 'This agent was removed from the server.',
    cause:
      'An operator deleted the agent, which revoked its key. `revocation` is the signed statement. Agents deleted by a release that did not sign revocations have none.',
    cure: 'Enrol the host anew with a fresh token if it is to come back.',
  },
  agent_unknown: {
    status: 403,
    title: 'Unknown agent',
    detail: 'The server does not know this agent, or the proof of possession does not verify.',
    cause: 'The agent id or its signature is wrong, or the server data was reset.',
    cure: 'Enrol the host anew with a fresh token.',
  },
  release_key_not_over_http: {
    status: 403,
    title: 'A release key cannot be set over HTTP',
    detail:
      'The `trust` parameter is no longer accepted. The release key is part of the agent build and is configured on the server.',
    cause: 'Otherwise, anyone who may publish packages could choose the key that hosts trust.',
    cure: 'Name the public key file in PORTCULLIS_RELEASE_KEY_FILE, or put it in the checkout as release-key.pub, and restart the server. Then publish without `trust`.',
  },
  package_key_unknown: {
    status: 409,
    title: 'This server has no release key',
    detail: 'This server has no release key, so it accepts no packages. This package is signed by {fingerprint}.',
    cause: 'No public release key was configured when the server started.',
    cure: 'Run `npm run cli -- release-key new` on the build machine. Name the public key file in PORTCULLIS_RELEASE_KEY_FILE, or put it in the checkout as release-key.pub, and restart the server.',
  },
  package_key_refused: {
    status: 403,
    title: 'Signed by another release key',
    detail:
      'The package is signed by {fingerprint}. The release key of this server is {pinned}, configured in {where}.',
    cause: 'Agents install builds of one release key only: the one that was built into them, or its signed successor.',
    cure: 'Sign the build with the release key. If the key was rotated, put the new public key file where the key is configured and restart the server. If nobody in your organisation signed the package, find out who did.',
  },
  package_signature_wrong: {
    status: 422,
    title: 'The signature does not verify',
    detail: 'The signature of the package does not fit its version, architecture, digest and size.',
    cause: 'The header was changed after it was signed.',
    cure: 'Sign the executable again.',
  },
  package_damaged: {
    status: 422,
    title: 'The package is damaged',
    detail: '{detail}',
    cause: 'The executable inside is not the one that was signed: bytes are missing, added or changed.',
    cure: 'Transfer the package again, or sign the executable again.',
  },
  package_not_newer: {
    status: 409,
    title: 'The package is older than the newest one',
    detail: 'Version {version} for {architecture} is older than {newest}, which is published.',
    cause: 'Agents never go back to an older version.',
    cure: 'Give the build a higher version, or withdraw the newer package first if its version is wrong.',
  },
  package_version_taken: {
    status: 409,
    title: 'The version is taken by another build',
    detail: 'Version {version} for {architecture} was published with other content.',
    cause: 'A version names one build for ever, a withdrawn one too.',
    cure: 'Give the build a version of its own.',
  },
  knowledge_key_unknown: {
    status: 409,
    title: 'No key for knowledge is trusted yet',
    detail:
      'No key for knowledge is trusted yet. The file is signed by {fingerprint}: send it with trust={fingerprint} to pin that key.',
    cause: 'The first knowledge file pins its key, and its fingerprint was not confirmed, or another one was.',
    cure: 'Compare the fingerprint with what `npm run cli -- knowledge keys` printed, then name it as `trust`.',
  },
  knowledge_key_refused: {
    status: 403,
    title: 'Signed by another key',
    detail: 'The file is signed by {fingerprint}, which is not the trusted key.',
    cause: 'Knowledge is taken from the key that was pinned first.',
    cure: 'Sign the file with the trusted key. If nobody of yours signed it, find out who did.',
  },
  knowledge_signature_wrong: {
    status: 422,
    title: 'The signature does not verify',
    detail: 'The signature does not fit the content of the file.',
    cause: 'The file was changed after it was signed, or cut off.',
    cure: 'Transfer the file again, or sign it again.',
  },
  knowledge_invalid: {
    status: 422,
    title: 'The knowledge is not usable',
    detail: '{detail}',
    cause:
      'A member has another shape than documented, or a pattern is none or could take too long. Nothing was stored.',
    cure: 'Correct what `errors[]` names, raise the version, sign and send the file again.',
  },
  agent_report_invalid: {
    status: 400,
    title: 'The report is not valid',
    detail: '{detail}',
    cause: 'A check-in breaks the agent protocol; nothing of it was stored.',
    cure: 'Update the agent; it drops the report and sends its full inventory next.',
  },
})

/** The `code` of a problem. */
export type ErrorCode = keyof typeof errorTable

/** One named fault inside a problem. */
export interface FieldError {
  /** Where: `query.pageSize`, `body.items[3].uuid`, `line 7`. */
  field: string
  /** What is wrong and what would be right. */
  message: string
}

/** The body of every answer that is not a success (RFC 9457). */
export interface Problem {
  type: string
  title: string
  status: number
  detail: string
  instance: string
  code: ErrorCode
  errors: FieldError[]
  traceId: string
  /** With `agent_revoked`: the signed statement that lets an agent free its host. */
  revocation?: AgentRevocation
  /** With `agent_revoked`: all rotations of the command key, oldest first, to verify the statement. */
  commandKeys?: CommandKeyRotation[]
}

/** Fills the `{name}` places of a detail text. */
export const problemDetail = (code: ErrorCode, params: Readonly<Record<string, string | number>>): string =>
  errorTable[code].detail.replace(/\{(\w+)\}/g, (whole, name: string) => String(params[name] ?? whole))
