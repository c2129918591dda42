import { define } from './error-definition.ts'
import { providerErrors } from './provider-errors.ts'

/**
 * Lists every problem the server can return, with its status, cause and cure. The console and connectors switch on `code`;
 * the texts may change. `docs/reference/errors.md` is generated from this table.
 */
export const errorTable = define({
  validation_failed: {
    status: 400,
    title: 'The request is not valid',
    detail: '{detail}',
    cause:
      'A field, parameter or part of the request does not match its documented type or limit. `errors[]` names each one.',
    cure: 'Nothing was changed. Correct the named values and try again.',
  },
  signin_refused: {
    status: 400,
    title: 'Sign-in refused',
    detail: 'The user name or password is incorrect, or this account cannot sign in here.',
    cause:
      'The operation auth/signin returns 400 for every refusal. The name or password is incorrect, or the account is disabled. Or the account has a second factor, or comes from a directory or identity provider.',
    cure: 'Check the name and password. Accounts with a second factor or from a directory sign in at Auth/LocalLogin.',
  },
  old_password_wrong: {
    status: 400,
    title: 'Incorrect current password',
    detail: 'The current password is incorrect.',
    cause: 'A change of password needs the current password, and the one in the request does not match.',
    cure: 'Enter the current password. If you have forgotten it, ask an Administrator to set a new one.',
  },
  password_rejected: {
    status: 400,
    title: 'The password does not meet the requirements',
    detail: '{detail}',
    cause:
      'A password has 12 to 128 characters, is not on the list of common passwords and differs from the user name.',
    cure: 'Choose a longer or less common password.',
  },
  mfa_code_wrong: {
    status: 401,
    title: 'Incorrect verification code',
    detail: 'The verification code or passkey was not accepted.',
    cause:
      'The code is incorrect, expired (codes are valid for 30 seconds) or already used. Or the passkey is not registered for this account, or was created for another domain name of this server.',
    cure: 'Wait for the next code and check the clock of your device. If you have lost the second factor, use a recovery code or ask an Administrator.',
  },
  link_invalid: {
    status: 400,
    title: 'The link is not valid',
    detail: 'The link is unknown, expired or already used.',
    cause: 'A set-password link works once. It expires after two days or when the password changes.',
    cure: 'Ask an Administrator for a new link.',
  },
  unauthorized: {
    status: 401,
    title: 'Authentication required',
    detail: 'This operation requires a valid bearer token.',
    cause: 'The Authorization header is missing, or the token is malformed, expired or revoked.',
    cure: 'Sign in again and send `Authorization: Bearer <token>`.',
  },
  credentials_wrong: {
    status: 401,
    title: 'Sign-in refused',
    detail: 'The user name or password is incorrect.',
    cause: 'No enabled account has this user name and password.',
    cure: 'Check the user name and password. An Administrator can reset the password.',
  },
  session_ended: {
    status: 401,
    title: 'The session has ended',
    detail: 'The refresh token is unknown, expired or already used. Sign in again.',
    cause:
      'A session ends after 30 minutes without activity, after 12 hours, at sign-out, when the account changes, or when a refresh token is used twice.',
    cure: 'Sign in again. Keep only the newest refresh token of a session.',
  },
  reauthentication_required: {
    status: 401,
    title: 'Confirm your identity',
    detail: 'This operation requires a password or second factor entered within the last 5 minutes.',
    cause:
      'The operation changes the fleet or its secrets, and needs a password or second factor entered in this session within the last 5 minutes. Refreshing tokens does not count. Nothing was changed.',
    cure: 'In the console, enter your password or second factor when prompted. Other clients send it to auth/reauthenticate in the same session and then repeat the request.',
  },
  reauthentication_failed: {
    status: 400,
    title: 'Identity not confirmed',
    detail: 'The password or code is incorrect, or was already used.',
    cause:
      'The password, code or passkey does not belong to the account of this session, or the code was already used.',
    cure: 'Check your entry and try again. After ten incorrect attempts in 15 minutes, wait for the time in Retry-After, or sign out and sign in again.',
  },
  session_required: {
    status: 403,
    title: 'A signed-in session is required',
    detail: 'API tokens cannot perform this operation. Sign in and confirm your identity.',
    cause: 'The operation requires fresh authentication, which an API token cannot provide. Nothing was changed.',
    cure: 'Perform the operation in the console, or run `portcullis` with `--user <name>`.',
  },
  forbidden: {
    status: 403,
    title: 'Insufficient profile',
    detail: 'This operation requires the profile {profile}.',
    cause: 'The account or token has a lower profile than the operation requires.',
    cure: 'Ask an Administrator for this profile, or use another account.',
  },
  scope_missing: {
    status: 403,
    title: 'Missing scope',
    detail: 'This API token does not have the scope `{scope}`.',
    cause: 'The profile of the token allows the operation, but its scopes do not include the required permission.',
    cure: 'The scopes of a token cannot be changed. Create a token with this scope and replace the old one.',
  },
  forbidden_object: {
    status: 403,
    title: 'Not allowed for this object',
    detail: '{detail}',
    cause:
      'You may perform the operation, but not on this object. A Manager changes only accounts with the profile User, and nobody can grant a higher profile than their own.',
    cure: 'Ask an Administrator to perform the operation.',
  },
  keys_command_line_only: {
    status: 403,
    title: 'Keys can be exported only on the command line',
    detail:
      'The server never sends its key file over HTTP. On the server, as the account that runs it, run: portcullis backup make --with-keys --out FILE --passphrase-file FILE.',
    cause: 'The request asks for a backup with the key file. No session or API token can read that file.',
    cure: 'Omit `withKeys`. To include the key file, run `portcullis backup make --with-keys` on the server.',
  },
  password_change_required: {
    status: 403,
    title: 'Change your password first',
    detail: 'Sign in to the console and change your password. Until then, you can reach only your own profile.',
    cause: 'The field `mustChangePassword` of the account is true.',
    cure: 'Call POST admin/updateuserdetails with `oldPassword` and `newPassword`.',
  },
  second_factor_required: {
    status: 403,
    title: 'Set up a second factor first',
    detail: 'This account needs a second factor. Until you set one up, you can reach only your own account.',
    cause: 'The profile of this account requires a second factor, and the grace period has ended.',
    cure: 'Open the console and set up an authenticator app or a passkey, or use Auth/Mfa/totp. If you cannot, ask the operator of the server to run `portcullis admin exempt-second-factor`.',
  },
  second_person_required: {
    status: 403,
    title: 'A second approver is required',
    detail: '{detail}',
    cause:
      'One person cannot do this alone. The operation affects more hosts than the limit in the policy settings, changes another Administrator, installs agent builds, or weakens sign-in or approval settings. Nothing was changed.',
    cure: 'Ask a second approver to approve the change request, or choose fewer hosts.',
  },
  approval_queue_full: {
    status: 409,
    title: 'Too many pending change requests',
    detail: '{detail}',
    cause:
      'An account can have 10 pending change requests, and the server can have 50. The last 10 are reserved for Administrators. Nothing was changed.',
    cure: 'Withdraw change requests, or ask a second approver to decide on them. Change requests expire after 24 hours.',
  },
  rules_not_authentic: {
    status: 503,
    title: 'The rules were changed in the database',
    detail: 'The stored rules are not those that the server sealed. It signs no policies.',
    cause:
      'Rules were changed, deleted, restored or inserted in the database, or their seal was removed, not by the server. Armed hosts keep their last policy and ask again.',
    cure: 'Run `portcullis doctor` on the server. It names what differs and says how to restore the set.',
  },
  named_hosts_required: {
    status: 403,
    title: 'An API token must name the hosts',
    detail: 'This change allows devices on hosts that no rule names. An API token cannot make it. Nothing was changed.',
    cause:
      'A device can claim any vendor ID, product ID and descriptors. An allow without a host and a serial number therefore opens every host in its scope, also to devices that no host has seen. Deleting a deny can open hosts in the same way.',
    cure: 'Name a host in each allow rule, or a serial number. Or make the change in the console, signed in as a person.',
  },
  change_not_shown: {
    status: 422,
    title: 'The change cannot be shown in full',
    detail: '{detail}',
    cause: 'The change needs a second approver, who must see every value of it. Nothing was changed.',
    cure: 'Shorten the value, or make the change in smaller parts.',
  },
  change_differs: {
    status: 409,
    title: 'The approval is for another change',
    detail: 'The digest does not match the stored change. Nothing was changed.',
    cause:
      'The approval names the digest of what the approver read. The stored change has another digest, so the approver did not read it. `GET policy/changerequests/{id}/details` returns the current digest.',
    cure: 'Open the change request again, read it and approve it.',
  },
  account_suspended: {
    status: 403,
    title: 'The account is suspended',
    detail: 'This account is suspended until {until}.',
    cause: 'An Administrator suspended this account for 24 hours. Its sessions, API tokens and approvals do not work.',
    cure: 'Wait until the suspension ends, ask another Administrator to lift it, or run `portcullis admin lift-suspension` on the server. You do not need to stop the server.',
  },
  origin_refused: {
    status: 403,
    title: 'Origin not allowed',
    detail: 'The request comes from a web page of another origin.',
    cause: 'A browser sent an Origin header that matches neither the address of this server nor SERVER_DOMAIN_NAME.',
    cure: 'Open the console under the configured domain name, or set SERVER_DOMAIN_NAME.',
  },
  not_found: {
    status: 404,
    title: 'Not found',
    detail: '{detail}',
    cause: 'The path does not exist, or it names an object that does not exist.',
    cure: 'The object may have been deleted. If you typed its address or ID, check the spelling and case.',
  },
  method_not_allowed: {
    status: 405,
    title: 'Method not allowed',
    detail: 'This path accepts {allow}.',
    cause: 'The path exists but does not accept this method.',
    cure: 'Use a method that the Allow header lists.',
  },
  conflict: {
    status: 409,
    title: 'Conflict',
    detail: '{detail}',
    cause:
      'The change conflicts with the current state: for example, the name already exists, or you would delete the last Administrator or your own account.',
    cure: 'Nothing was changed. Check the current state, correct the change and try again.',
  },
  finding_confirmed: {
    status: 409,
    title: 'The finding is confirmed',
    detail:
      '{device} is a confirmed attack tool: {finding}. Only an Administrator can allow it, with a second approver.',
    cause:
      'A person can accept a suspected finding, but not a confirmed one. To allow the device, a rule or approval needs `overrideAttackTool`. Nothing was changed.',
    cure: 'Ask an Administrator to allow the attack tool, with a reason. Above the limit of hosts, a second approver must confirm it.',
  },
  policy_tests_failed: {
    status: 409,
    title: 'The change breaks rule tests',
    detail: 'Nothing was changed, because the change makes {tests} fail.',
    cause:
      'Rule tests run before each rule change. The change makes at least one passing test fail. `errors[]` names up to 100 of these tests, with the expected and the new decision. A test that already fails does not block changes. `policy/tests` changes or deletes tests. Nothing was changed.',
    cure: 'Correct the change. If you want the new decision, first change or delete the test on the page Tests.',
  },
  windows_preview_off: {
    status: 403,
    title: 'Windows enforcement is turned off',
    detail: '{host}: {reason}',
    cause:
      'The request arms a Windows host, but the setting "Windows enforcement (preview)" (`VENDORA_WINDOWS_ENFORCEMENT`) is off. Nothing was changed.',
    cure: 'Read what the grade before install guarantees, then turn on "Windows enforcement (preview)" in the policy settings.',
  },
  windows_limit_reached: {
    status: 403,
    title: 'Too many armed Windows hosts of an unverified build',
    detail: '{host}: {reason}',
    cause:
      'Five Windows hosts of this build are armed or ordered to arm, and no verification file of the build was imported. Hosts that report no build count for every build. Nothing was changed.',
    cure: 'Free one of these hosts, or verify the build on a real host and import the file (docs/guide/windows-verification.md).',
  },
  verification_invalid: {
    status: 422,
    title: 'The verification file is not valid',
    detail: '{detail}',
    cause:
      'The file was changed or damaged, or is more than 30 days old. Otherwise, it describes a different build than its host reports, or this server does not know the host.',
    cure: 'Run `portcullis-agent verify` on an enrolled Windows host of this build and import the new file.',
  },
  verification_incomplete: {
    status: 422,
    title: 'The verification is incomplete',
    detail: '{detail}',
    cause: 'A step failed, or a step that the program did not perform is not confirmed.',
    cure: 'Report failed steps. Perform the other steps as docs/guide/windows-verification.md describes, then confirm exactly those.',
  },
  payload_too_large: {
    status: 413,
    title: 'The request body is too large',
    detail: 'The request body is larger than {limit} bytes.',
    cause:
      'The limit of a JSON body follows from the schema of the operation and is at most 8 MiB. Other limits are 32 MiB for uploads, 128 MiB for agent packages and 4 MiB for agent reports.',
    cure: 'Split the data into several requests.',
  },
  unsupported_media_type: {
    status: 415,
    title: 'Unsupported media type',
    detail: 'Send {expected}.',
    cause: 'The operation does not accept the Content-Type, charset or Content-Encoding of the body.',
    cure: 'Send `Content-Type: application/json`, or `multipart/form-data` if the operation takes a file. Do not compress JSON bodies.',
  },
  licence_invalid: {
    status: 422,
    title: 'Licence not accepted',
    detail: '{detail}',
    cause: 'The text is not a licence for this product, or it was not signed with a key that this server trusts.',
    cure: 'Enter the full text as it was issued. The public key of the issuer must be in the file that PORTCULLIS_LICENSE_KEYS names, by default licence-keys.pem in the data folder.',
  },
  unprocessable: {
    status: 422,
    title: 'The request cannot be carried out',
    detail: '{detail}',
    cause: 'The request is well-formed, but the current state or a rule prevents it. `detail` gives the reason.',
    cure: 'Follow the instructions in the message.',
  },
  query_too_slow: {
    status: 422,
    title: 'The query takes too long',
    detail: 'Finding these rows takes too long, so the server stopped.',
    cause:
      'The filters or the query match rows that no index finds, or the database is overloaded. A query with OR or NOT, and a part of a text, can read all rows of a list. Nothing was changed.',
    cure: 'Narrow the query: add a filter, such as a period or a host, or leave out OR and NOT. For all rows, create a report or an export.',
  },
  too_many_requests: {
    status: 429,
    title: 'Too many requests',
    detail: 'Too many requests. Try again in {seconds} seconds.',
    cause:
      'There were too many failed sign-ins, an address exceeded its rate limit, or an account has too many previews, exports, live streams or large bodies at once. Or too many agents are being downloaded from one address. `Retry-After` gives the time to wait.',
    cure: 'Wait for the stated time, then try again.',
  },
  too_many_connections: {
    status: 429,
    title: 'Too many connections',
    detail: 'This session, API token, account or agent has too many connections in use.',
    cause:
      'A session or API token has 128 connections, an account 256, or an agent or worker 32, and each of them waits for a response.',
    cure: 'Use fewer connections, and keep them open between requests. Try again after the number of seconds in Retry-After.',
  },
  internal_error: {
    status: 500,
    title: 'Internal error',
    detail:
      'The server could not complete the request. To find the cause, search its log for the trace ID of this response.',
    cause: 'The server has a bug, or one of its subsystems failed.',
    cure: 'Try again. If the problem persists, look up the trace ID in the server log.',
  },
  unavailable: {
    status: 503,
    title: 'Temporarily unavailable',
    detail: 'The server cannot do this now. Try again shortly.',
    cause:
      'The database is unavailable, or the server is starting, stopping or overloaded. `Retry-After` gives the time to wait.',
    cure: 'Nothing was changed. Wait a few seconds and try again.',
  },
  ...providerErrors,
  destination_refused: {
    status: 422,
    title: 'Destination not allowed',
    detail: '{host} resolves to an address that this server does not connect to.',
    cause:
      'The server never connects to link-local, metadata, multicast or broadcast addresses. It connects to loopback addresses, including `localhost`, only if PORTCULLIS_OUTBOUND_ALLOW contains the address.',
    cure: 'Enter the correct name or address. For a service on this machine, add its address to PORTCULLIS_OUTBOUND_ALLOW and restart the server.',
  },
  enrolment_refused: {
    status: 403,
    title: 'Enrolment refused',
    detail: '{detail}',
    cause: 'The enrolment token is unknown, expired, revoked or used up, or the proof of the agent key is not valid.',
    cure: 'Create a new token in the console (Hosts, Add a host).',
  },
  agent_session_expired: {
    status: 401,
    title: 'The agent session has ended',
    detail: 'The session token is missing, malformed or expired.',
    cause: 'Session tokens are short-lived. They also become invalid when the server key changes.',
    cure: 'No action needed. The agent opens a new session.',
  },
  agent_session_superseded: {
    status: 409,
    title: 'A newer session of this agent exists',
    detail: 'This agent was started again and has opened a newer session.',
    cause: 'The agent was restarted, or its key was copied to another host.',
    cure: 'After a restart, no action is needed. If the key was copied, the server raises an alert.',
  },
  agent_revoked: {
    status: 403,
    title: 'The agent was removed',
    detail: 'This agent was removed from the server.',
    cause:
      'An operator deleted the agent, which revoked its key. `revocation` contains the signed statement. It is absent if a release that did not sign revocations deleted the agent.',
    cure: 'To manage the host again, enrol it with a new token.',
  },
  agent_unknown: {
    status: 403,
    title: 'Unknown agent',
    detail: 'The server does not know this agent, or the proof of its key is not valid.',
    cause: 'The agent ID or signature is not valid, or the data of the server was reset.',
    cure: 'Enrol the host again with a new token.',
  },
  session_proof_old: {
    status: 409,
    title: 'The session proof of the agent is not current',
    detail:
      'The clock of the host differs from the clock of the server by more than five minutes, or the request is a replay.',
    cause:
      'A session request counts for five minutes. The clock of the host is wrong, or an attacker sent a recorded request again. An agent of this release signs the `nonce` of this answer and still connects. An older agent on a host that had a newer one cannot.',
    cure: 'Correct the clock of the host. If an older agent was installed over a newer one, install the newer one again, or enrol the host again.',
  },
  release_key_not_over_http: {
    status: 403,
    title: 'A release key cannot be set over HTTP',
    detail:
      'The `trust` parameter is no longer accepted. The release key is part of the agent build and is configured on the server.',
    cause: 'Anyone who can publish packages could otherwise choose the key that hosts trust.',
    cure: 'Set PORTCULLIS_RELEASE_KEY_FILE to the path of the public key file, or put the file in the checkout as release-key.pub, and restart the server. Then publish without `trust`.',
  },
  package_key_unknown: {
    status: 409,
    title: 'This server has no release key',
    detail: 'This server has no release key, so it accepts no packages. This package is signed with {fingerprint}.',
    cause: 'No public release key was configured when the server started.',
    cure: 'Run `portcullis release-key new` on the build machine. Set PORTCULLIS_RELEASE_KEY_FILE to the path of the public key file, or put the file in the checkout as release-key.pub, and restart the server.',
  },
  package_key_refused: {
    status: 403,
    title: 'Signed with another release key',
    detail:
      'The package is signed with {fingerprint}. The release key of this server is {pinned}, configured in {where}.',
    cause: 'Agents install only builds that are signed with their built-in release key or its signed successor.',
    cure: 'Sign the build with the release key. If the key was rotated, put the new public key file where the key is configured and restart the server. If nobody in your organisation signed the package, find out who did.',
  },
  package_signature_wrong: {
    status: 422,
    title: 'Invalid signature',
    detail: 'The signature of the package does not match its version, architecture, digest and size.',
    cause: 'The package header was changed after signing.',
    cure: 'Sign the executable again.',
  },
  package_damaged: {
    status: 422,
    title: 'The package is damaged',
    detail: '{detail}',
    cause: 'The executable in the package differs from the one that was signed.',
    cure: 'Transfer the package again, or sign the executable again.',
  },
  package_not_newer: {
    status: 409,
    title: 'A newer package is already published',
    detail: 'Version {version} for {architecture} is older than the published version {newest}.',
    cause: 'Agents never install an older version.',
    cure: 'Give the build a higher version. If the version of the newer package is wrong, withdraw that package first.',
  },
  package_version_taken: {
    status: 409,
    title: 'The version belongs to another build',
    detail: 'Version {version} for {architecture} was already published with different content.',
    cause: 'A version always identifies the same build, even after that build was withdrawn.',
    cure: 'Give the build another version.',
  },
  knowledge_key_unknown: {
    status: 409,
    title: 'No knowledge key is trusted yet',
    detail:
      'No knowledge key is trusted yet. The file is signed with {fingerprint}. To trust this key, send the file with trust={fingerprint}.',
    cause:
      'The first knowledge file pins the key that signed it. The request does not confirm the fingerprint of that key.',
    cure: 'Compare the fingerprint with the one that `portcullis knowledge keys` printed when it created the key. If they are equal, send it as `trust`.',
  },
  knowledge_key_refused: {
    status: 403,
    title: 'Signed with another key',
    detail: 'The file is signed with {fingerprint}, which is not the trusted key.',
    cause: 'The server accepts only knowledge files that are signed with the pinned key.',
    cure: 'Sign the file with the trusted key. If nobody in your organisation signed it, find out who did.',
  },
  knowledge_signature_wrong: {
    status: 422,
    title: 'Invalid signature',
    detail: 'The signature does not match the content of the file.',
    cause: 'The file was changed or truncated after signing.',
    cure: 'Transfer the file again, or sign it again.',
  },
  knowledge_invalid: {
    status: 422,
    title: 'The knowledge file is not valid',
    detail: '{detail}',
    cause:
      'A field does not match its documented type, or a pattern is invalid or too expensive to evaluate. `errors[]` names each one. Nothing was stored.',
    cure: 'Correct the named fields and raise the version. Then sign the file and import it again.',
  },
  agent_report_invalid: {
    status: 400,
    title: 'Invalid agent report',
    detail: '{detail}',
    cause: 'A check-in does not follow the agent protocol. Nothing was stored.',
    cure: 'Update the agent. It drops the report and sends its full inventory next.',
  },
})

/** The `code` of a problem. */
export type ErrorCode = keyof typeof errorTable
